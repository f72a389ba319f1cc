"""A real Apache Kafka, one KRaft node, as a child process: for a laptop, a demo and tests."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from penstock.kernel.errors import SetupError
from penstock.machine.broker_probe import describe
from penstock.machine.class_archive import ClassArchive
from penstock.machine.files import ProcessLock, replace_file
from penstock.machine.free_ports import free_port, is_free
from penstock.machine.jars import classpath, pyspark_jars
from penstock.machine.java_home import find_java
from penstock.machine.process import STOP_SECONDS, Child, Server

_HOST = "127.0.0.1"
_START_SECONDS = 60.0
_PROBE_SECONDS = 2.0
_LOG_BYTES = 10_000_000
_NODE_ID = "1"

# The feature levels of a new node, as `StorageTool format` of the Kafka in jars.toml writes them.
# tests/kafka/machine/test_embedded_format.py compares it with the tool's.
_BOOTSTRAP = Path(__file__).with_name("bootstrap.checkpoint")

# With these the tool would write other files, or elsewhere.
_FORMATTING_KEYS = {"node.id", "log.dirs", "metadata.log.dir", "unstable.feature.versions.enable"}

# Libraries of the broker that pyspark ships.
_SHARED_JARS = (
    *("jackson-annotations-", "jackson-core-", "jackson-databind-", "jackson-dataformat-yaml-"),
    *("log4j-api-", "log4j-core-", "log4j-slf4j2-impl-", "slf4j-api-"),
    *("lz4-java-", "snappy-java-", "zstd-jni-", "scala-library-"),
)

LAPTOP_JAVA_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""For a fast start and little memory; omit them (java_options=()) to measure throughput."""


def random_id(make: Callable[[], uuid.UUID] = uuid.uuid4) -> str:
    """A random id in Kafka's form; never begins with a dash, which its tools take for an option."""
    while True:
        text = base64.urlsafe_b64encode(make().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


class EmbeddedKafka(Server):
    """One Kafka node with its data in `data_dir`, which stays after its end.

    The first start formats the storage. When this process dies, for whatever reason, the node dies
    too. Not for use from several threads at once.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        port: int | None = None,
        controller_port: int | None = None,
        heap_mb: int = 256,
        java_options: Sequence[str] = LAPTOP_JAVA_OPTIONS,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        self.data_dir = data_dir.absolute()
        self.port = port or free_port()
        self._controller_port = controller_port or free_port()
        self._heap_mb = heap_mb
        self._java_options = tuple(java_options)
        self._extra = dict(properties or {})
        self._lock = ProcessLock(self.data_dir / "penstock.lock")

    @property
    def bootstrap_servers(self) -> str:
        return f"{_HOST}:{self.port}"

    @property
    def pid(self) -> int:
        """The process id of the running node."""
        return self.child.pid

    @property
    def log(self) -> Path:
        """The node's log file."""
        return self.data_dir / "kafka.log"

    def start(self) -> None:
        """Start the node; it serves requests when this returns.

        Raises:
            SetupError: a port is in use, or the node did not start; the text has its log's end.
        """
        self.begin()
        self.wait()

    def begin(self) -> None:
        """Start the node's process; call wait() before using the node.

        Raises:
            SetupError: a port is in use, another node uses this data, or this one can't be
                started with these properties.
        """
        if self.running:
            return
        try:
            self.data_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SetupError(
                f"can't create the data directory {self.data_dir}: {error.strerror}; choose another"
            ) from error
        # Before anything is written: two nodes on the same files would destroy them.
        self._lock.acquire(f"the data directory {self.data_dir}", "choose another directory")
        try:
            self._check_ports()
            self._write_files()
            self._turn_log()
            if not self._meta.exists():
                self._format()
            self._child = Child("Kafka", self._command(), log=self.log)
        except BaseException:
            self._lock.release()
            raise

    def wait(self) -> None:
        """Return once the node serves requests; end it if it does not start.

        Raises:
            SetupError: it did not start; the text has its log's end.
        """
        self.await_child(self._serves, _START_SECONDS, "it served a request")

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Let the node shut down cleanly, then unlock its data."""
        super().stop(seconds)
        self._lock.release()

    def restart(self) -> None:
        """Stop, and start with the same data and ports."""
        self.stop()
        self.start()

    # ----------------------------------------------------------------------------- details

    @property
    def _logs(self) -> Path:
        return self.data_dir / "data"

    @property
    def _meta(self) -> Path:
        return self._logs / "meta.properties"

    @property
    def _server_properties(self) -> Path:
        return self.data_dir / "server.properties"

    @property
    def _log4j(self) -> Path:
        return self.data_dir / "log4j2.properties"

    def _check_ports(self) -> None:
        for port in (self.port, self._controller_port):
            if not is_free(port, _HOST):
                raise SetupError(
                    f"port {port} on {_HOST} is in use, so Kafka can't listen there; "
                    "end the process that uses it, or choose another port"
                )

    def _write_files(self) -> None:
        properties = {**_properties(self.port, self._controller_port, self._logs), **self._extra}
        self._server_properties.write_text(_written(properties))
        self._log4j.write_text(_LOG4J)

    def _turn_log(self) -> None:
        if self.log.exists() and self.log.stat().st_size > _LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))

    def _format(self) -> None:
        """Write the files of Kafka's StorageTool; a JVM for this would double the start time.

        The node regards the directory as formatted if it has meta.properties, so that is last.
        """
        if refused := sorted(_FORMATTING_KEYS & self._extra.keys()):
            raise SetupError(
                f"the embedded Kafka sets {', '.join(refused)} itself; remove them from its "
                f"properties (storage: {self._logs})"
            )
        self._logs.mkdir(exist_ok=True)
        replace_file(self._logs / _BOOTSTRAP.name, _BOOTSTRAP.read_bytes())
        identity = {
            "version": "1",
            "cluster.id": random_id(),
            "node.id": _NODE_ID,
            "directory.id": random_id(),
        }
        replace_file(self._meta, _written(identity).encode())

    def _command(self) -> list[str]:
        archive = broker_archive()
        java_options = (
            *(f"-Xms{min(96, self._heap_mb)}m", f"-Xmx{self._heap_mb}m", *self._java_options),
            *(f"-Dlog4j2.configurationFile={self._log4j}", "-Djava.awt.headless=true"),
            *archive.options,
        )
        program = ("-cp", archive.classpath, "kafka.Kafka", str(self._server_properties))
        return [str(archive.java.java), *java_options, *program]

    def _serves(self) -> bool:
        try:
            view = describe(_HOST, self.port, _PROBE_SECONDS)
        except OSError:
            return False
        ours = any(broker.port == self.port for broker in view.brokers)
        return ours and view.controller_id >= 0 and view.cluster_id == self._cluster_id()

    def _cluster_id(self) -> str:
        lines = (line.partition("=") for line in self._meta.read_text().splitlines())
        return next(value for name, _, value in lines if name == "cluster.id")


def broker_archive() -> ClassArchive:
    """The broker's Java and class path, with the archive of its classes if there is one."""
    shared = (path for path in pyspark_jars().glob("*.jar") if path.name.startswith(_SHARED_JARS))
    return ClassArchive.of("broker", find_java(), [*classpath("broker"), *sorted(shared)])


def _written(properties: Mapping[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in properties.items())


def _properties(port: int, controller_port: int, logs: Path) -> dict[str, str]:
    """For a single node: internal topics have one replica, groups form without a delay."""
    return {
        "process.roles": "broker,controller",
        "node.id": _NODE_ID,
        "controller.quorum.voters": f"{_NODE_ID}@{_HOST}:{controller_port}",
        "listeners": f"PLAINTEXT://{_HOST}:{port},CONTROLLER://{_HOST}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{_HOST}:{port}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(logs),
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "5",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "5",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        # After a kill, the controller refuses the node until its old session has expired.
        "broker.session.timeout.ms": "4000",
        "broker.heartbeat.interval.ms": "1000",
        "num.network.threads": "2",
        "num.io.threads": "2",
        "log.cleaner.dedupe.buffer.size": "8388608",
    }


_LOG4J = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %-5p %c{1} %m%n%ex
rootLogger.level = info
rootLogger.appenderRef.out.ref = out
logger.config.name = org.apache.kafka.common.config
logger.config.level = warn
logger.server-config.name = kafka.server.KafkaConfig
logger.server-config.level = warn
"""
