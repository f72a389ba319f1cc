"""Real servers for the whole run, started when the first test asks for them."""

from __future__ import annotations

import itertools
import re
import signal
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import settings

from penstock.machine.process import Server
from penstock.testing.databases import DatabaseServer, FreshDatabase, MariaDb, PostgreSql
from penstock.testing.oracle import JavaConnect
from penstock.testing.registry import SchemaRegistry
from penstock.testing.waiting import patient
from penstock.testing.worker import QUICK_SPARK
from tests.secured_broker import Secured, secured_broker
from tests.shared.costs import LEVELS, level_of
from tests.shared.run import Helper, Owner
from tests.shared.servers import bootstrap_servers
from tests.shared.sizes import THIN, Size

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The same examples each time, and none that fails because the machine is busy.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")

_RUN: Final = pytest.StashKey[Helper | Owner]()
#: Tests that use one of these run one after another, in one process.
_ONE_AT_A_TIME: Final = ("spark", "lone_worker", "mortal_worker", "oracle_connect", "secured")
#: A proof takes as long as it takes.
_PROOF_FACTOR: Final = 10


@pytest.hookimpl(trylast=True)  # after pytest has a place for temporary files
def pytest_configure(config: pytest.Config) -> None:
    # A shell lets background jobs ignore it, and so would every child that a test interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run = Helper(config) if hasattr(config, "workerinput") else Owner(config)
    config.stash[_RUN] = run
    config.pluginmanager.register(run)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The folder is the marker: `pytest -m unit` needs no decoration."""
    limit = patient(float(config.getini("timeout")))
    for item in items:
        level = level_of(item.nodeid)
        item.add_marker(level)
        item.add_marker(pytest.mark.timeout(limit * (_PROOF_FACTOR if level == "proofs" else 1)))
        if group := _group(item):
            item.add_marker(pytest.mark.xdist_group(group))
    together = hasattr(config, "workerinput")
    items.sort(key=_length if together else lambda item: LEVELS.index(level_of(item.nodeid)))
    # What wants a server as it is after its start comes before those who use it.
    items.sort(key=lambda item: item.get_closest_marker("fresh") is None)


def _group(item: pytest.Item) -> str | None:
    """Whom a test has to be in one process with; None if it may run anywhere."""
    assert isinstance(item, pytest.Function)
    if level_of(item.nodeid) == "spark":
        return "spark"
    for fixture in _ONE_AT_A_TIME:
        if fixture in item.fixturenames:
            return fixture
    used = item._fixtureinfo.name2fixturedefs.values()
    alone = level_of(item.nodeid) == "cluster" and all(
        each.scope in ("function", "session") for found in used for each in found
    )
    return None if alone else item.nodeid.partition("::")[0]


def _length(item: pytest.Item) -> int:
    """Among several processes what takes longest comes first: nobody waits for it in the end."""
    assert isinstance(item, pytest.Function)
    if _group(item) in _ONE_AT_A_TIME:
        return 0
    level = level_of(item.nodeid)
    if level == "cluster":
        return 1 if "worker" not in item.fixturenames else 2
    return 3 if level == "kafka" else 4


@pytest.fixture(scope="session")
def size() -> Size:
    """How large this test is; tests/proofs has another."""
    return THIN


@pytest.fixture
def token() -> str:
    """A word that no other test has; the names of this one end with it."""
    return uuid.uuid4().hex[:8]


@pytest.fixture
def unique(request: pytest.FixtureRequest, token: str) -> Callable[[str], str]:
    """Names no other test uses: `unique("orders")` gives `orders-test-name-1-1a2b3c4d`."""
    test = re.sub(r"[^A-Za-z0-9]+", "-", request.node.name).strip("-").lower()[:40]
    number = itertools.count(1)
    return lambda name: f"{name}-{test}-{next(number)}-{token}"


@pytest.fixture(scope="session")
def server(pytestconfig: pytest.Config) -> Callable[[str], Server]:
    """The servers of the run by name; whoever stops one would stop it for all tests."""
    return pytestconfig.stash[_RUN].server


@pytest.fixture(scope="session")
def kafka(server: Callable[[str], Server]) -> str:
    """The bootstrap servers of a real Kafka: PENSTOCK_TEST_KAFKA, else one started for the run."""
    return bootstrap_servers(server)


@pytest.fixture(scope="session")
def mariadb_server(server: Callable[[str], Server]) -> MariaDb:
    """The run's own MariaDB."""
    found = server("mariadb")
    assert isinstance(found, MariaDb)
    return found


@pytest.fixture(scope="session")
def postgresql_server(server: Callable[[str], Server]) -> PostgreSql:
    """The run's own PostgreSQL."""
    found = server("postgresql")
    assert isinstance(found, PostgreSql)
    return found


@pytest.fixture
def mariadb(mariadb_server: MariaDb) -> FreshDatabase:
    """A database of MariaDB for one test."""
    return _fresh(mariadb_server)


@pytest.fixture
def postgresql(postgresql_server: PostgreSql) -> FreshDatabase:
    """A database of PostgreSQL for one test."""
    return _fresh(postgresql_server)


def _fresh(server: DatabaseServer) -> FreshDatabase:
    name = f"t{uuid.uuid4().hex[:10]}"
    server.create_database(name)
    return FreshDatabase(server, name)


@pytest.fixture(scope="session")
def registry(server: Callable[[str], Server]) -> SchemaRegistry:
    """The run's own Schema Registry."""
    found = server("registry")
    assert isinstance(found, SchemaRegistry)
    return found


@pytest.fixture(scope="session")
def oracle_connect(server: Callable[[str], Server]) -> JavaConnect:
    """A distributed worker of the real Kafka Connect. Tests leave no connectors behind."""
    found = server("oracle")
    assert isinstance(found, JavaConnect)
    return found


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A broker that insists on a login."""
    with secured_broker(tmp_path_factory.mktemp("secured")) as found:
        yield found


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One local Spark session with the Kafka and Avro modules."""
    from penstock.worker.engine.session import SparkEngine

    engine = SparkEngine(QUICK_SPARK)
    yield engine.session()
    engine.close()
