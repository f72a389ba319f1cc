"""A new node's storage, written by us, against what Kafka's own StorageTool writes."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from penstock.machine.broker_probe import describe
from penstock.machine.embedded_kafka import EmbeddedKafka, broker_archive, random_id
from penstock.machine.java_home import find_java
from penstock.testing.oracle import run_tool

FEATURES = "org.apache.kafka.tools.FeatureCommand"


def format_with_the_tool(logs: Path) -> None:
    """Kafka's way, for a node like the embedded one."""
    properties = logs.parent / "tool.properties"
    properties.write_text(
        "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:1\n"
        "listeners=PLAINTEXT://127.0.0.1:2,CONTROLLER://127.0.0.1:1\n"
        f"controller.listener.names=CONTROLLER\nlog.dirs={logs}\n"
    )
    tool = [str(find_java().java), "-cp", broker_archive().classpath, "kafka.tools.StorageTool"]
    arguments = ["format", "-t", random_id(), "-c", str(properties)]
    subprocess.run([*tool, *arguments], check=True, capture_output=True, timeout=60)


def batches(checkpoint: bytes) -> list[bytes]:
    """Its record batches without what is never the same: their checksums and times."""
    found = []
    while checkpoint:
        (size,) = struct.unpack_from(">i", checkpoint, 8)
        batch, checkpoint = checkpoint[: 12 + size], checkpoint[12 + size :]
        found.append(batch[:17] + batch[21:27] + batch[43:])
    return found


def meta(logs: Path) -> dict[str, str]:
    lines = (logs / "meta.properties").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


def features(node: EmbeddedKafka) -> list[str]:
    """What the node has finalized; the epoch only counts the changes so far."""
    answer = run_tool(FEATURES, ["--bootstrap-server", node.bootstrap_servers, "describe"])
    assert answer.returncode == 0, answer.stderr
    lines = [line.partition("\tEpoch:")[0] for line in answer.stdout.splitlines()]
    assert any("metadata.version" in line for line in lines)
    return lines


@pytest.fixture(scope="module")
def by_the_tool(tmp_path_factory: pytest.TempPathFactory) -> EmbeddedKafka:
    """A node, not started, whose storage was formatted by the tool."""
    node = EmbeddedKafka(tmp_path_factory.mktemp("tool"))
    format_with_the_tool(node.data_dir / "data")
    return node


def test_a_new_node_has_the_files_of_the_tool_and_its_features(
    tmp_path: Path, by_the_tool: EmbeddedKafka
) -> None:
    with EmbeddedKafka(tmp_path / "ours") as ours:
        found = features(ours)
    logs, expected = ours.data_dir / "data", by_the_tool.data_dir / "data"
    checkpoint = "bootstrap.checkpoint"
    assert batches((logs / checkpoint).read_bytes()) == batches(
        (expected / checkpoint).read_bytes()
    ), f"src/penstock/kafka/{checkpoint} is of another Kafka: put the tool's file in its place"
    assert _without_ids(meta(logs)) == _without_ids(meta(expected))
    with by_the_tool:
        assert features(by_the_tool) == found
        view = describe("127.0.0.1", by_the_tool.port, 5)
        assert view.cluster_id == meta(expected)["cluster.id"]


def _without_ids(properties: dict[str, str]) -> dict[str, str]:
    return properties | dict.fromkeys(("cluster.id", "directory.id"), "")
