"""Real servers for the whole run, started when the first test asks for them."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from penstock.kafka.embedded import EmbeddedKafka
from penstock.testing.databases import DatabaseServer, FreshDatabase, MariaDb, PostgreSql
from penstock.testing.oracle import JavaConnect, distributed_properties
from penstock.testing.registry import SchemaRegistry
from penstock.testing.worker import QUICK_JAVA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The same examples each time, and none that fails because the machine is busy.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")

_LEVELS = ("unit", "spark", "kafka", "cluster")
_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The folder is the marker: `pytest -m unit` needs no decoration. Quick levels go first."""
    for item in items:
        if _level(item) in _LEVELS:
            item.add_marker(_level(item))
    items.sort(key=lambda item: (*_LEVELS, _level(item)).index(_level(item)))


def _level(item: pytest.Item) -> str:
    return item.path.relative_to(_HERE).parts[0]


@pytest.fixture
def unique(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Names no other test uses: `unique("orders")` gives `orders-test-name-1a2b3c4d`."""
    test = re.sub(r"[^A-Za-z0-9]+", "-", request.node.name).strip("-").lower()[:40]
    return lambda name: f"{name}-{test}-{uuid.uuid4().hex[:8]}"


@pytest.fixture(scope="session")
def kafka_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedKafka]:
    """The run's own broker. Do not stop it: a fault test starts an EmbeddedKafka for itself."""
    with EmbeddedKafka(tmp_path_factory.mktemp("kafka")) as node:
        yield node


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest) -> str:
    """The bootstrap servers of a real Kafka: PENSTOCK_TEST_KAFKA, else one started for the run."""
    if address := os.environ.get("PENSTOCK_TEST_KAFKA"):
        return address
    node: EmbeddedKafka = request.getfixturevalue("kafka_node")
    return node.bootstrap_servers


@pytest.fixture(scope="session")
def mariadb_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    """The run's own MariaDB. Do not stop it: a fault test starts one for itself."""
    with MariaDb(tmp_path_factory.mktemp("mariadb")) as server:
        yield server


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgreSql]:
    """The run's own PostgreSQL. Do not stop it: a fault test starts one for itself."""
    with PostgreSql(tmp_path_factory.mktemp("postgresql")) as server:
        yield server


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
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SchemaRegistry]:
    """The run's own Schema Registry. Do not stop it: a fault test starts one for itself."""
    with SchemaRegistry(tmp_path_factory.mktemp("registry")) as found:
        yield found


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One local Spark session with the Kafka and Avro modules."""
    from penstock.plan.session import SparkEngine

    engine = SparkEngine({"spark.master": "local[2]", "spark.driver.extraJavaOptions": QUICK_JAVA})
    yield engine.session()
    engine.close()


@pytest.fixture(scope="session")
def oracle_connect(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaConnect]:
    """A distributed worker of the real Kafka Connect on the run's broker."""
    properties = distributed_properties(kafka, f"oracle-{uuid.uuid4().hex[:8]}")
    with JavaConnect(tmp_path_factory.mktemp("oracle"), properties) as connect:
        yield connect
