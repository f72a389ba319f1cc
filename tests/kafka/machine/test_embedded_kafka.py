from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock.kernel.errors import SetupError
from penstock.machine.broker_probe import describe
from penstock.machine.embedded_kafka import EmbeddedKafka
from penstock.testing.oracle import CONSOLE_CONSUMER, CONSOLE_PRODUCER, TOPICS, run_tool
from penstock.testing.waiting import patient


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedKafka]:
    """A broker of this module's own, because these tests kill it."""
    data = tmp_path_factory.mktemp("node")
    with EmbeddedKafka(data, properties={"num.partitions": "3"}) as kafka:
        yield kafka


def produce(node: EmbeddedKafka, topic: str, text: str) -> None:
    arguments = ["--bootstrap-server", node.bootstrap_servers, "--topic", topic]
    result = run_tool(CONSOLE_PRODUCER, arguments, stdin=text)
    assert result.returncode == 0, result.stderr


def consume(node: EmbeddedKafka, topic: str, count: int) -> str:
    arguments = ["--bootstrap-server", node.bootstrap_servers, "--topic", topic]
    limits = ["--from-beginning", "--max-messages", str(count), "--timeout-ms", "30000"]
    return run_tool(CONSOLE_CONSUMER, [*arguments, *limits]).stdout


def test_records_survive_a_kill_and_a_restart(
    node: EmbeddedKafka, unique: Callable[[str], str]
) -> None:
    topic = unique("kept")
    before = describe("127.0.0.1", node.port, 5)
    produce(node, topic, "one\n")
    node.kill()
    assert not node.running
    node.start()
    assert describe("127.0.0.1", node.port, 5) == before
    node.restart()
    assert consume(node, topic, 1) == "one\n"


def test_extra_properties_reach_the_broker(
    node: EmbeddedKafka, unique: Callable[[str], str]
) -> None:
    topic = unique("three")
    produce(node, topic, "one\n")
    arguments = ["--bootstrap-server", node.bootstrap_servers, "--describe", "--topic", topic]
    assert "PartitionCount: 3" in run_tool(TOPICS, arguments).stdout


def test_a_taken_port_is_an_error_that_names_it(tmp_path: Path, node: EmbeddedKafka) -> None:
    with pytest.raises(SetupError, match=f"port {node.port} on 127.0.0.1 is in use"):
        EmbeddedKafka(tmp_path, port=node.port).start()


def test_a_broker_that_can_not_start_shows_why(tmp_path: Path) -> None:
    broken = EmbeddedKafka(tmp_path, properties={"num.partitions": "many"})
    with pytest.raises(SetupError, match=r"num\.partitions"):
        broken.start()
    assert not broken.running


def test_a_node_that_has_begun_is_waited_for_where_it_is_needed(tmp_path: Path) -> None:
    node = EmbeddedKafka(tmp_path)
    try:
        node.begin()
        first = node.pid
        node.begin()  # it has
        with pytest.raises(OSError, match="refused"):
            describe("127.0.0.1", node.port, 0.2)
        node.wait()
        assert describe("127.0.0.1", node.port, 5).controller_id == 1
        node.start()
        assert node.pid == first
    finally:
        node.stop()


def test_something_else_on_the_port_is_not_taken_for_kafka() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(5)
        with pytest.raises(OSError, match="timed out"):
            describe("127.0.0.1", server.getsockname()[1], 0.2)


def test_the_control_plane_does_not_load_pyspark() -> None:
    code = "import sys, penstock.machine.embedded_kafka; sys.exit('pyspark' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], check=False, timeout=patient()).returncode == 0
    )
