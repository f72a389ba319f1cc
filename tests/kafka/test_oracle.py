from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx

from penstock.client import Client
from penstock.testing.oracle import (
    CONSUMER_GROUPS,
    JavaConnect,
    run_tool,
)
from penstock.testing.waiting import patient
from tests.client_cycle import SOURCE, all_commands, whole_cycle
from tests.unit.cli.run import penstock


def test_the_real_connect_serves_its_rest_api(oracle_connect: JavaConnect) -> None:
    assert httpx.get(oracle_connect.url, timeout=patient()).json()["version"] == "4.1.1"
    plugins = httpx.get(f"{oracle_connect.url}/connector-plugins", timeout=patient()).json()
    assert "org.apache.kafka.connect.file.FileStreamSourceConnector" in {
        plugin["class"] for plugin in plugins
    }


def test_our_client_and_commands_on_the_real_connect(
    oracle_connect: JavaConnect, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    with Client(oracle_connect.url) as client:
        whole_cycle(client, unique("cycle"), unique("lines"), tmp_path)
        name = unique("command")
        all_commands(client.url, name, unique("lines"), tmp_path)
        file = tmp_path / "logged.txt"
        client.create(name, {"connector.class": SOURCE, "file": str(file), "topic": "t"}, "STOPPED")
        done = penstock("logs", name, "--connect", client.url)
        assert done.status == 1
        assert "only Penstock's workers do" in done.words
        client.delete(name)


def test_the_real_tools_run(kafka: str) -> None:
    result = run_tool(CONSUMER_GROUPS, ["--bootstrap-server", kafka, "--list"])
    assert result.returncode == 0, result.stderr
