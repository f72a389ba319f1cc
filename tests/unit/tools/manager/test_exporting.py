"""A running cluster as files, which plan as unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock import manager
from penstock.kernel.errors import ConfigError
from penstock.manager import Connector, Connectors, Format, SecretForm
from penstock.testing.waiting import eventually
from penstock.tools.manager.exporting import write_directory, write_text
from tests.unit.tools.manager.served import VAULT_CLASS, Served
from tests.unit.worker.herder.harness import SINK, SOURCE

ODD = {
    "query": "SELECT a\nFROM 't'\n  WHERE b = \"é\" -- #\n",
    "empty": "",
    "blank": "  x ",
    "null": "null",
    "flag": "true",
    "number": "010",
    "colon": "a: b",
    "ref": "${env:A}",
    "hash": "#1",
    "tabs": "a\tb\n\tc\n",
    "trailing": "a \nb",
    "bell": "\x07\n\x07",
}


@pytest.fixture
def full(worker: Served) -> Served:
    vault = {"connector.class": VAULT_CLASS, "connection.password": "hunter2", "url": "u"}
    wanted = Connectors(
        [
            Connector("lines", {**SOURCE, **ODD}),
            Connector("paused", SINK, "paused"),
            Connector("vault", vault),
        ]
    )
    manager.plan(worker.client, wanted).apply(worker.client)
    worker.client.create("../a b", SOURCE)
    eventually(lambda: manager.plan(worker.client, wanted).pending == [])
    return worker


@pytest.mark.parametrize("form", Format)
def test_files_of_a_cluster_plan_as_unchanged(full: Served, tmp_path: Path, form: Format) -> None:
    found = manager.export(full.client)
    assert found.secrets == [("vault", "connection.password")]
    files = write_directory(found, tmp_path / "all", form)
    assert sorted(file.name for file in files) == [
        f"-a-b.{form}", f"lines.{form}", f"paused.{form}", f"vault.{form}"
    ]  # fmt: skip
    assert "hunter2" not in "".join(file.read_text() for file in files)
    one = tmp_path / f"one.{form}"
    one.write_text(write_text(found, form), encoding="utf-8")
    for path in (tmp_path / "all", one):
        wanted = manager.load(path)
        assert len(wanted) == 4
        plan = manager.plan(full.client, wanted, prune=True)
        assert plan.pending == []
    assert wanted["paused"].state == "paused"
    assert wanted["lines"].state is None
    assert {key: wanted["lines"].config[key] for key in ODD} == ODD


@pytest.mark.parametrize("form", [SecretForm.HIDDEN, SecretForm.ENV])
def test_passwords_in_addresses_are_secrets(
    worker: Served, tmp_path: Path, form: SecretForm
) -> None:
    url = "jdbc:mysql://u:geheim@h/db?password=geheim"
    config = {**SOURCE, "where": url, "plain": "jdbc:mysql://h:3306/db?user=u"}
    worker.client.create("a", config)
    found = manager.export(worker.client, secrets=form)
    assert found.secrets == [("a", "where")]
    assert found.documents["a"]["config"]["plain"] == config["plain"]
    text = write_text(found, Format.YAML)
    assert "geheim" not in text
    file = tmp_path / "a.yaml"
    file.write_text(text)
    plan = manager.plan(worker.client, manager.load(file))
    assert len(plan.pending) == (1 if form is SecretForm.ENV else 0)
    assert "geheim" not in str(plan.to_json())


def test_patterns_and_secrets(full: Served) -> None:
    found = manager.export(full.client, ["v*", "lin*"], SecretForm.ENV)
    assert list(found.documents) == ["lines", "vault"]
    config = found.documents["vault"]["config"]
    assert config["connection.password"] == "${env:VAULT_CONNECTION_PASSWORD}"
    assert next(iter(config)) == "connector.class"
    # Penstock does not tell, so clear is not to be had from it.
    clear = manager.export(full.client, ["vault"], SecretForm.CLEAR)
    assert clear.documents["vault"]["config"]["connection.password"] == "[hidden]"
    assert clear.secrets == [("vault", "connection.password")]


def test_files_are_not_replaced_unasked(full: Served, tmp_path: Path) -> None:
    found = manager.export(full.client)
    write_directory(found, tmp_path, Format.YAML)
    with pytest.raises(ConfigError, match="and 3 more exist already; --force replaces them"):
        write_directory(found, tmp_path, Format.YAML)
    assert len(write_directory(found, tmp_path, Format.YAML, replace=True)) == 4


def test_names_that_would_be_the_same_file(tmp_path: Path) -> None:
    names = ["a/b", "a b", "A-B", "_x", ".x", "///"]
    found = manager.Export({name: {"name": name, "config": SOURCE} for name in names})
    files = write_directory(found, tmp_path, Format.JSON)
    assert len({file.name.lower() for file in files}) == len(names)
    assert sorted(manager.load(tmp_path)) == sorted(names)
