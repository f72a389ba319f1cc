"""`penstock doctor`: tries everything a worker needs, and says how to fix what fails."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from penstock.cli.output import out
from penstock.kafka.clients import Admin
from penstock.kafka.topics import CONFIGS, OFFSETS, STATUSES, check_internal_topic, internal_topic
from penstock.kernel.clock import Deadline
from penstock.kernel.config.providers import resolver
from penstock.kernel.errors import PenstockError, SetupError
from penstock.machine.broker_probe import describe
from penstock.machine.class_archive import ClassArchive
from penstock.machine.embedded_kafka import broker_archive
from penstock.machine.free_ports import is_free
from penstock.machine.jars import classpath, pyspark_jars
from penstock.machine.java_home import find_java
from penstock.plugins import BUILT_IN, Plugins
from penstock.worker.engine.jvm_command import DirectLaunch
from penstock.worker.rest.listeners import bind
from penstock.worker.settings import (
    SECRETS_SHOWN,
    Mode,
    WorkerSettings,
    plugin_paths,
    warnings_of,
    worker_settings,
)
from penstock.worker.settings.spark import DEFAULTS

_PROBE_SECONDS = 5.0
_TOPICS_SECONDS = 15.0
_SPARK_SECONDS = 120
_STANDALONE_KEY = "offset.storage.file.filename"
_MASTER = "spark://"
_ARCHIVE_KEY = "penstock.class.archive"
_SECRETS_KEY = "penstock.secrets.shown"
_DEFAULT_LISTENERS = "http://127.0.0.1:8083"

_SPARK_JOB = """
import json, sys
from penstock.worker.engine.session import SparkEngine
engine = SparkEngine({"spark.master": "local[1]", **json.loads(sys.argv[1])})
session = engine.session()
assert session.range(10).count() == 10
print(session.version)
engine.close()
"""


class Verdict(StrEnum):
    """How a check ended."""

    OK = "ok"
    SKIPPED = "--"
    WARNING = "look"
    WRONG = "WRONG"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    name: str
    verdict: Verdict
    text: str


_STYLES = {
    Verdict.OK: "green",
    Verdict.SKIPPED: "dim",
    Verdict.WARNING: "yellow",
    Verdict.WRONG: "bold red",
}


def examine(properties: Mapping[str, str], *, with_spark: bool) -> int:
    """Run every check and print a line for each; 1 if any of them is wrong."""
    verdicts: Counter[Verdict] = Counter()
    for finding in _findings(properties, with_spark=with_spark):
        verdicts[finding.verdict] += 1
        out.print(f"{finding.verdict:<5}", style=_STYLES[finding.verdict], end="  ")
        out.print(f"{finding.name:<8} {finding.text}", markup=False)
    wrong, look = verdicts[Verdict.WRONG], verdicts[Verdict.WARNING]
    if wrong:
        out.print(f"{wrong} to fix.", markup=False)
    else:
        out.print(f"Nothing to fix, {look} to look at." if look else "All is well.", markup=False)
    return 1 if wrong else 0


def _findings(properties: Mapping[str, str], *, with_spark: bool) -> Iterator[Finding]:
    yield Finding("Python", Verdict.OK, f"{sys.version.split()[0]} at {sys.executable}")
    yield _tried("Java", _java)
    yield _tried("pyspark", lambda: str(pyspark_jars().parent))
    yield _tried("jars", _jars)
    yield _tried("archive", lambda: _archive(properties))
    yield _tried("plugins", lambda: _plugins(properties))
    yield _tried("secrets", lambda: _secrets(properties))
    yield from _worker_findings(properties)
    if with_spark:
        yield _tried("Spark", lambda: _spark(properties))
    else:
        yield Finding("Spark", Verdict.SKIPPED, "not tried (--no-spark)")


def _worker_findings(properties: Mapping[str, str]) -> Iterator[Finding]:
    """The first steps of a start with these properties: read them, listen, look for topics."""
    if not properties:
        yield _tried("port", lambda: _port(properties))
        yield _broker(properties)
        return
    try:
        settings = _settings(properties)
    except PenstockError as error:
        yield Finding("settings", Verdict.WRONG, str(error))
        yield from _warnings(warnings_of(properties, _mode(properties)))
        yield _tried("port", lambda: _port(properties))
        yield _broker(properties)
        return
    yield Finding("settings", Verdict.OK, f"for a {settings.mode} worker")
    yield from _warnings(settings.warnings)
    yield _tried("port", lambda: _listening(settings))
    broker = _broker(properties)
    yield broker
    if broker.verdict is Verdict.OK and settings.mode is Mode.DISTRIBUTED:
        yield _tried("topics", lambda: _topics(settings))


def _warnings(messages: Iterable[str]) -> Iterator[Finding]:
    return (Finding("settings", Verdict.WARNING, each) for each in messages)


def _settings(properties: Mapping[str, str]) -> WorkerSettings:
    resolved = resolver(properties, os.environ).resolve(properties)
    plugins = Plugins.discover(plugin_paths(resolved))
    return worker_settings(resolved, _mode(properties), plugins.class_name)


def _mode(properties: Mapping[str, str]) -> Mode:
    standalone = _STANDALONE_KEY in properties and CONFIGS.topic_key not in properties
    return Mode.STANDALONE if standalone else Mode.DISTRIBUTED


def _listening(settings: WorkerSettings) -> str:
    """Listen as a worker does, for a moment."""
    listeners = bind(settings)
    listeners.close()
    return f"{listeners.advertised_port} is free for the REST API"


def _topics(settings: WorkerSettings) -> str:
    admin = Admin(settings.client_properties("admin"))
    try:
        deadline = Deadline.after(_TOPICS_SECONDS)
        states = {True: "are there", False: "can be made"}
        found: dict[bool, list[str]] = {}
        for kind in (CONFIGS, OFFSETS, STATUSES):
            topic = internal_topic(settings.props, kind)
            there = check_internal_topic(admin, topic, deadline)
            found.setdefault(there, []).append(topic.spec.name)
    finally:
        admin.close()
    return "; ".join(f"{', '.join(names)} {states[there]}" for there, names in found.items())


def _tried(name: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(name, Verdict.OK, check())
    except (PenstockError, OSError) as error:
        return Finding(name, Verdict.WRONG, str(error))


def _java() -> str:
    java = find_java()
    return f"{java.version} at {java.path} (from {java.origin})"


def _jars() -> str:
    paths = classpath("spark", "drivers", "broker")
    return f"{len(paths)} in {paths[0].parent.parent}"


def _archive(properties: Mapping[str, str]) -> str:
    """Whether starts are quick; a slow one is no error."""
    if properties.get(_ARCHIVE_KEY, "true").strip().lower() == "false":
        return f"Java's classes are read from jars: {_ARCHIVE_KEY}=false"
    own = {name: text for name, text in properties.items() if name.startswith("spark.")}
    launch = DirectLaunch.of({**DEFAULTS, **own}, os.environ)
    spark = _archive_state(launch.archive) if launch else "spark-submit uses no archive"
    return f"Spark: {spark}; embedded Kafka: {_archive_state(broker_archive())}"


def _archive_state(archive: ClassArchive) -> str:
    if archive.exists:
        return f"used, {archive.path}"
    if archive.failed:
        return "Java could not make one"
    return "not there yet; a worker makes it in the background, `penstock prepare` at once"


def _plugins(properties: Mapping[str, str]) -> str:
    found = Plugins.discover(plugin_paths(properties))
    if found.broken:
        raise SetupError("; ".join(map(str, found.broken)))
    return f"{len(found.infos()) - len(BUILT_IN)} besides the {len(BUILT_IN)} of Penstock"


def _secrets(properties: Mapping[str, str]) -> str:
    """Who may see the secrets of stored configs."""
    shown = properties.get(_SECRETS_KEY, "never").strip()
    if shown not in SECRETS_SHOWN:
        raise SetupError(f"{_SECRETS_KEY} is {shown}; it can be {', '.join(SECRETS_SHOWN)}")
    if shown == "with-token" and not properties.get("penstock.secrets.token", "").strip():
        raise SetupError(f"{_SECRETS_KEY}=with-token needs penstock.secrets.token")
    return f"{SECRETS_SHOWN[shown]} ({_SECRETS_KEY}={shown})"


def _port(properties: Mapping[str, str]) -> str:
    address = urlsplit(properties.get("listeners", _DEFAULT_LISTENERS).split(",")[0].strip())
    host, port = address.hostname or "0.0.0.0", address.port or 8083  # noqa: S104 - what the user wrote
    if is_free(port, host):
        return f"{port} is free for the REST API"
    if version := _worker_version(port):
        return f"{port} is served by a Connect worker, version {version}"
    raise SetupError(
        f"{port} is in use by another program: end it, or set listeners=http://{host}:PORT"
    )


def _worker_version(port: int) -> str | None:
    import httpx

    try:
        answer = httpx.get(f"http://127.0.0.1:{port}/", timeout=_PROBE_SECONDS).json()
    except (httpx.HTTPError, ValueError):
        return None
    return answer.get("version") if isinstance(answer, dict) else None


def _broker(properties: Mapping[str, str]) -> Finding:
    servers = properties.get("bootstrap.servers")
    if not servers:
        text = "not tried: give the worker's properties file to check its bootstrap.servers"
        return Finding("broker", Verdict.SKIPPED, text)
    if properties.get("security.protocol", "PLAINTEXT").upper() != "PLAINTEXT":
        return _tried("broker", lambda: _secured_broker(properties))
    return _tried("broker", lambda: _answering_broker(servers))


def _secured_broker(properties: Mapping[str, str]) -> str:
    admin = Admin(_settings(properties).client_properties("admin"))
    try:
        count = admin.broker_count(Deadline.after(_TOPICS_SECONDS))
    finally:
        admin.close()
    return f"{properties['bootstrap.servers']} accepts our login, {count} broker(s)"


def _answering_broker(servers: str) -> str:
    failures = []
    for server in servers.split(","):
        host, _, port = server.strip().rpartition(":")
        try:
            view = describe(host.strip("[]"), int(port), _PROBE_SECONDS)
        except (OSError, ValueError) as error:
            failures.append(f"{server.strip()} ({error})")
        else:
            return f"{server.strip()} answers for {len(view.brokers)} broker(s)"
    raise SetupError(
        f"none of bootstrap.servers answers: {', '.join(failures)}. Start Kafka, or run "
        "`penstock kafka`, or correct the address"
    )


def _spark(properties: Mapping[str, str]) -> str:
    own = {name: text for name, text in properties.items() if name.startswith("spark.")}
    _reach_master(own.get("spark.master", ""))
    begun = time.monotonic()
    try:
        result = subprocess.run(
            [sys.executable, "-c", _SPARK_JOB, json.dumps(own)],
            capture_output=True,
            text=True,
            timeout=_SPARK_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(
            f"no job finished within {_SPARK_SECONDS} s; check that the machine is not overloaded"
            f" and that {own.get('spark.master', 'Spark')} has free executors"
        ) from error
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines()
        raise SetupError(f"a small job failed: {lines[-1] if lines else 'no output'}")
    version = result.stdout.strip().splitlines()[-1]
    return f"{version} ran a job, {time.monotonic() - begun:.1f} s with its start"


def _reach_master(master: str) -> None:
    """Raises if no master answers; Spark itself would try for more than a minute."""
    if not master.startswith(_MASTER):
        return
    failures = []
    for server in master.removeprefix(_MASTER).split(","):
        host, _, port = server.rpartition(":")
        try:
            socket.create_connection((host, int(port)), _PROBE_SECONDS).close()
        except (OSError, ValueError) as error:
            failures.append(f"{server} ({error})")
        else:
            return
    raise SetupError(
        f"no Spark master answers for spark.master={master}: {', '.join(failures)}. Start it, or"
        " correct the address"
    )
