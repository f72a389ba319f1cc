from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli.main import app
from penstock.cli.pairs import pairs
from penstock.cli.target import Target
from penstock.kernel.errors import ConfigError, SetupError
from penstock.tools.broker.broker import client_properties
from tests.unit.cli.run import penstock

CONTEXT = '[contexts.here]\nbootstrap-servers = "of-context:1"\n'


def test_the_servers_are_those_that_are_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, client = tmp_path / "config.toml", tmp_path / "client.properties"
    config.write_text(CONTEXT)
    client.write_text("bootstrap.servers=of-file:1\n")
    monkeypatch.setenv("PENSTOCK_CONFIG", str(config))
    monkeypatch.delenv("PENSTOCK_BOOTSTRAP_SERVERS", raising=False)
    assert Target.of().servers == "localhost:9092"
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", "of-variable:1")
    assert Target.of().servers == "of-variable:1"
    assert Target.of(context="here").servers == "of-context:1"
    assert Target.of(context="here", command_config=client).servers == "of-file:1"
    given = Target.of(context="here", command_config=client, servers="given:1")
    assert given.kafka()["bootstrap.servers"] == "given:1"


def test_the_library_has_no_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PENSTOCK_BOOTSTRAP_SERVERS", raising=False)
    assert client_properties()["bootstrap.servers"] == "localhost:9092"
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", "of-variable:1")
    assert client_properties()["bootstrap.servers"] == "of-variable:1"
    properties = {"bootstrap.servers": "of-properties:1", "acks": "all"}
    assert client_properties(None, properties)["bootstrap.servers"] == "of-properties:1"
    assert client_properties("given:1", properties)["acks"] == "all"
    assert client_properties("given:1", properties)["bootstrap.servers"] == "given:1"


def test_pairs() -> None:
    assert pairs(["a=1", "b=x=y", "c="], "--config") == {"a": "1", "b": "x=y", "c": ""}
    for wrong in ("a", "=1"):
        with pytest.raises(ConfigError, match="--config needs KEY=VALUE"):
            pairs([wrong], "--config")


@pytest.mark.parametrize(
    "arguments",
    [
        ("topics", "create", "t", "-p", "0"),
        ("topics", "alter", "t"),
        ("topics", "delete"),
        ("groups", "reset"),
        ("groups", "delete-offsets", "g"),
        ("consume",),
        ("consume", "t", "-o", "xml"),
        ("consume", "t", "-n", "0"),
        ("produce", "t", "--value-format", "xml"),
        ("produce", "t", "--compression", "rar"),
    ],
)
def test_wrong_arguments_are_told_before_anybody_is_asked(arguments: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert "Usage:" in done.output


@pytest.mark.parametrize(
    ("topics", "told"),
    [
        ((), "give --topic, or --all-topics for all that the group has committed"),
        (("--all-topics", "--topic", "q"), "--topic and --all-topics can't both be given"),
    ],
)
def test_a_reset_needs_one_choice_of_topics(topics: tuple[str, ...], told: str) -> None:
    done = penstock("groups", "reset", "g", "--to-earliest", *topics)
    assert done.status == 2
    assert told in done.words


def test_one_port_is_not_enough_for_both(tmp_path: Path) -> None:
    arguments = ["up", "--data-dir", str(tmp_path), "--port", "35884", "--kafka-port", "35884"]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, SetupError)
    assert "can't be used for both the REST API and Kafka" in str(result.exception)
