"""Commands that run the embedded Kafka."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from penstock.cli.output import complain, say
from penstock.kernel.errors import SetupError
from penstock.machine.embedded_kafka import EmbeddedKafka
from penstock.machine.free_ports import is_free
from penstock.machine.signals import EndRequest

_WATCH_SECONDS = 1.0


def local_worker_properties(bootstrap_servers: str, port: int) -> dict[str, str]:
    """For one worker and one broker; the names are those of Connect's sample file."""
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
        # Both start at the same time: check often whether the broker answers.
        "admin.reconnect.backoff.max.ms": "50",
    }


def run_up(data_dir: Path, port: int, kafka_port: int, extra: Mapping[str, str]) -> int:
    """Run Kafka as a child and the worker in this process; Kafka ends after the worker."""
    if port == kafka_port:
        raise SetupError(
            f"port {port} can't be used for both the REST API and Kafka; choose others with"
            " --port and --kafka-port"
        )
    if not is_free(port):
        raise SetupError(
            f"port {port} is taken; end the program that uses it, or choose another with --port"
        )
    kafka = EmbeddedKafka(data_dir, port=kafka_port)
    with ExitStack() as stack:
        stack.callback(kafka.stop)
        kafka.begin()
        say(f"Kafka     {kafka.bootstrap_servers}   data and log in {kafka.data_dir}")
        say(f"REST API  http://127.0.0.1:{port}   Ctrl-C ends both")
        from penstock.worker.bootstrap import run_distributed

        properties = {**local_worker_properties(kafka.bootstrap_servers, port), **extra}
        return run_distributed(properties, await_broker=lambda: _attend(kafka))


def _attend(kafka: EmbeddedKafka) -> None:
    """Wait for Kafka to start, then for its end, which ends the worker too unless we stopped it."""
    try:
        kafka.wait()
    except SetupError:
        if kafka.stopped:
            return
        raise
    while kafka.running:
        time.sleep(_WATCH_SECONDS)
    if not kafka.stopped:
        raise SetupError(_ended(kafka))


def _ended(kafka: EmbeddedKafka) -> str:
    return f"Kafka ended by itself; its log is {kafka.log}"


def run_kafka(data_dir: Path, port: int, heap_mb: int, extra: Mapping[str, str]) -> int:
    """Kafka until a signal comes; 1 if Kafka ended by itself."""
    end = EndRequest()
    with EmbeddedKafka(data_dir, port=port, heap_mb=heap_mb, properties=extra) as kafka:
        say(f"Kafka  {kafka.bootstrap_servers}   data and log in {kafka.data_dir}   Ctrl-C ends it")
        while not end.wait(_WATCH_SECONDS):
            if not kafka.running:
                complain(_ended(kafka))
                return 1
    return 0
