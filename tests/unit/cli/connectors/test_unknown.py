"""Mistyped keys and classes that a worker does not have, in the words of the commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.connectors.conftest import Cluster
from tests.unit.worker.herder.harness import SOURCE, running, validating_bench
from tests.unit.worker.rest.served import Served

MISTYPED = {**SOURCE, "task.max": "2"}
TOLD = "unknown key task.max; did you mean tasks.max?"


@pytest.fixture
def checking(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Cluster]:
    """A worker that checks configs with what the plugins declare."""
    monkeypatch.setenv("PENSTOCK_CONFIG", str(tmp_path / "config.toml"))
    with running(validating_bench()) as bench:
        served = Served(bench)
        found = Cluster(served)
        yield found
        found.client.close()
        served.close()


def written(tmp_path: Path, config: dict[str, str]) -> str:
    path = tmp_path / "lines.json"
    path.write_text(json.dumps({"name": "lines", "config": config}, indent=1))
    return str(path)


def test_a_mistyped_key_is_told_by_every_command(checking: Cluster, tmp_path: Path) -> None:
    file = written(tmp_path, MISTYPED)
    line = 1 + Path(file).read_text().splitlines().index('  "task.max": "2"')
    checked = checking.run("validate", file)
    assert checked.status == 0
    assert f"{file}:{line}: lines: {TOLD}\n" in checked.err
    planned = checking.run("plan", file)
    assert planned.status == 0
    assert f"    {file}:{line}: lines: {TOLD}\n" in planned.out
    created = checking.run("create", file)
    assert (created.status, created.out) == (0, "lines: created\n")
    assert f"lines: {TOLD}\n" in created.err
    checking.bench.runs("lines")
    assert checking.client.status("lines").connector.notes == (TOLD,)
    assert f"note     {TOLD}\n" in checking.ok("describe", "lines")


def test_strict_refuses_it(checking: Cluster, tmp_path: Path) -> None:
    file = written(tmp_path, MISTYPED)
    for command in (["validate"], ["create"], ["plan"], ["apply", "--dry-run"]):
        done = checking.run(*command, file, "--strict")
        assert done.status == 1, command
        assert TOLD in done.out + done.err
    assert checking.client.connectors() == []


def test_patch_tells_the_keys_that_it_sets(checking: Cluster) -> None:
    checking.create("lines", **{"topic.prefx": "known before"})
    done = checking.run("patch", "lines", "task.max=2", "batch.size=7")
    assert (done.status, done.out) == (0, "lines: task.max set, batch.size set\n")
    assert f"lines: {TOLD}\n" in done.err
    assert "topic.prefx" not in done.err
    assert checking.run("patch", "lines", "task.max-").err == ""


def test_a_strict_patch_refuses_them(checking: Cluster) -> None:
    checking.create("lines")
    done = checking.run("patch", "lines", "task.max=2", "--strict")
    assert done.status == 1
    assert TOLD in done.err
    assert "task.max" not in checking.client.config("lines")


def test_connectors_that_stay_as_they_are_are_told_too(checking: Cluster, tmp_path: Path) -> None:
    file = written(tmp_path, MISTYPED)
    checking.run("apply", file)
    checking.bench.runs("lines")
    planned = checking.run("plan", file)
    assert planned.status == 0
    assert f"= lines  unchanged\n    {file}:1: lines: {TOLD}\n" in planned.out
    assert "Nothing to change: 1 connector is as wanted.\n" in planned.out
    assert TOLD in checking.run("apply", file).err
    for command in (["plan"], ["apply"], ["apply", "--dry-run"]):
        done = checking.run(*command, file, "--strict")
        assert done.status == 1, command
        assert TOLD in done.out + done.err


def test_for_scripts(checking: Cluster, tmp_path: Path) -> None:
    file = written(tmp_path, MISTYPED)
    (row,) = checking.json("validate", file)
    assert (row["key"], row["errors"], row["note"]) == ("task.max", [], TOLD)
    assert checking.json("plan", file)["changes"][0]["unknown_keys"] == [TOLD]
    assert checking.json("create", file) == [
        {"name": "lines", "result": "created", "notes": [TOLD]}
    ]


def test_the_log_tells_it(checking: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    checking.client.create("lines", MISTYPED)
    assert f"Connector lines: {TOLD}" in caplog.messages


def test_a_config_without_mistakes_has_no_notes(checking: Cluster) -> None:
    checking.create("lines", **{"transforms": "", "producer.override.linger.ms": "5"})
    assert "notes" not in checking.client.status("lines").connector.to_json()


def test_a_class_that_is_not_there(checking: Cluster, tmp_path: Path) -> None:
    file = written(tmp_path, {**SOURCE, "connector.class": "com.acme.FileStreamSurce"})
    told = (
        "there is no connector class com.acme.FileStreamSurce on this worker; did you mean"
        " org.apache.kafka.connect.file.FileStreamSourceConnector?"
    )
    for command in ("validate", "create", "plan"):
        done = checking.run(command, file)
        assert done.status == 1
        assert told in done.out + done.err
        assert "plugin.path" in done.out + done.err
        assert "PluginDesc" not in done.out + done.err
    assert "Plan: 1 with errors, 0 unchanged.\n" in done.out
    assert (
        checking.json("plan", file)["summary"] | {"create": 0, "error": 1}
        == (checking.json("plan", file)["summary"])
    )


@pytest.mark.parametrize(
    ("key", "mistyped", "meant"),
    [
        (
            "value.converter",
            "com.acme.JsonConvertor",
            "org.apache.kafka.connect.json.JsonConverter",
        ),
        (
            "transforms.t.type",
            "org.apache.kafka.connect.transforms.InsertFeild$Value",
            "org.apache.kafka.connect.transforms.InsertField$Value",
        ),
        (
            "predicates.p.type",
            "org.apache.kafka.connect.transforms.predicates.TopicNameMatch",
            "org.apache.kafka.connect.transforms.predicates.TopicNameMatches",
        ),
    ],
)
def test_classes_of_converters_and_transforms_that_are_not_there(
    checking: Cluster,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    key: str,
    mistyped: str,
    meant: str,
) -> None:
    aliases = {key.split(".")[0]: key.split(".")[1]} if key.endswith(".type") else {}
    file = written(tmp_path, {**SOURCE, **aliases, key: mistyped})
    told = f"Class {mistyped} could not be found. Did you mean {meant}?"
    for command in ("validate", "create", "plan"):
        done = checking.run(command, file)
        assert done.status == 1
        said = done.out + done.err
        assert told in said, command
        assert said.count("could not be found") == 1, command
    strict = checking.run(
        "create",
        written(tmp_path, {**SOURCE, **aliases, key: mistyped, "task.max": "2"}),
        "--strict",
    )
    assert TOLD in strict.err
    assert told in strict.err
    assert any(text.startswith("Connector lines: Inv") and told in text for text in caplog.messages)


def test_a_patch_with_a_mistyped_class_is_reported_once(checking: Cluster) -> None:
    checking.create("lines")
    done = checking.run("patch", "lines", "value.converter=com.acme.JsonConvertor")
    assert done.status == 1
    assert done.err.count("Class com.acme.JsonConvertor could not be found. Did you mean") == 1
    assert done.err.count("could not be found") == 1


def test_the_log_has_no_list_of_classes(
    checking: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    checking.run("validate", "lines", "connector.class=none")
    assert any("there is no connector class none" in text for text in caplog.messages)
    assert "PluginDesc" not in caplog.text
