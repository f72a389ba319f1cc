"""Commands that bring their own Kafka."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from penstock.cli.output import complain, say
from penstock.errors import SetupError
from penstock.kafka.embedded import EmbeddedKafka
from penstock.ports import is_free

_WATCH_SECONDS = 1.0


def local_worker_properties(bootstrap_servers: str, port: int) -> dict[str, str]:
    """A worker alone with a broker alone; the names are those of Connect's sample file."""
    return {
        "bootstrap.servers": bootstrap_servers,
        "group.id": "connect-cluster",
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "config.storage.topic": "connect-configs",
        "config.storage.replication.factor": "1",
        "offset.storage.topic": "connect-offsets",
        "offset.storage.replication.factor": "1",
        "status.storage.topic": "connect-status",
        "status.storage.replication.factor": "1",
        "listeners": f"http://127.0.0.1:{port}",
        # Both start at the same time: look often whether the broker is there.
        "admin.reconnect.backoff.max.ms": "50",
    }


def run_up(data_dir: Path, port: int, kafka_port: int, extra: Mapping[str, str]) -> int:
    """Kafka as a child, the worker in this process, both at once; Kafka ends after the worker."""
    if port == kafka_port:
        raise SetupError(
            f"port {port} can't be that of the REST API and of Kafka: choose others with --port"
            " and --kafka-port"
        )
    if not is_free(port):
        raise SetupError(f"port {port} is taken; end what uses it or choose another with --port")
    kafka = EmbeddedKafka(data_dir, port=kafka_port)
    with ExitStack() as stack:
        stack.callback(kafka.stop)
        kafka.begin()
        say(f"Kafka     {kafka.bootstrap_servers}   data and log in {kafka.data_dir}")
        say(f"REST API  http://127.0.0.1:{port}   Ctrl-C ends both")
        from penstock.bootstrap import run_distributed

        properties = {**local_worker_properties(kafka.bootstrap_servers, port), **extra}
        return run_distributed(properties, await_broker=lambda: _attend(kafka))


def _attend(kafka: EmbeddedKafka) -> None:
    """Wait for Kafka, then for its end, which is the end of the worker too."""
    kafka.wait()
    while kafka.running:
        time.sleep(_WATCH_SECONDS)
    raise SetupError(_ended(kafka))


def _ended(kafka: EmbeddedKafka) -> str:
    return f"Kafka ended by itself; its log is {kafka.log}"


def run_kafka(data_dir: Path, port: int, heap_mb: int, extra: Mapping[str, str]) -> int:
    """Kafka until a signal comes; 1 if Kafka ended by itself."""
    stop = threading.Event()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with EmbeddedKafka(data_dir, port=port, heap_mb=heap_mb, properties=extra) as kafka:
        say(f"Kafka  {kafka.bootstrap_servers}   data and log in {kafka.data_dir}   Ctrl-C ends it")
        while not stop.wait(_WATCH_SECONDS):
            if not kafka.running:
                complain(_ended(kafka))
                return 1
    return 0
