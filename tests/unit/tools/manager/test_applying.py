"""Plans carried out through the real REST API; only the worker's Spark side is scripted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock import manager
from penstock.client import Client
from penstock.kernel.errors import NotFoundError
from penstock.machine.free_ports import free_port
from penstock.manager import (
    MARKER,
    Action,
    Connector,
    Connectors,
    Origin,
    Outcome,
    Plan,
    ProblemsError,
    Result,
    Wanted,
)
from penstock.testing.waiting import eventually
from penstock.tools.manager.applying import _Maker
from penstock.tools.manager.arrivals import targets
from tests.unit.tools.manager.served import VAULT_CLASS, Served
from tests.unit.worker.herder.harness import SINK, SOURCE

VAULT = {"connector.class": VAULT_CLASS, "url": "u", "connection.password": "hunter2"}


def planned(worker: Served, *connectors: Connector, **options: Any) -> Plan:
    return manager.plan(worker.client, Connectors(connectors), **options)


def results(report: manager.Report) -> dict[str, str]:
    return {each.change.name: str(each.result) for each in report.outcomes}


def test_the_class_that_a_connector_has_says_what_is_a_secret(
    worker: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plugin_config(client: Client, plugin: str) -> list[dict[str, str]]:
        return [{"name": "odd", "type": "PASSWORD" if plugin == VAULT_CLASS else "STRING"}]

    monkeypatch.setattr(Client, "plugin_config", plugin_config)
    worker.client.create("v", {**VAULT, "odd": "geheim"})
    plan = planned(worker, Connector("v", {**SOURCE, "odd": "geheimer"}))
    assert "odd" in str(plan.to_json())
    assert "geheim" not in str(plan.to_json())


def test_a_whole_life(worker: Served) -> None:
    first = (Connector("in", SOURCE), Connector("out", SINK, "paused"))
    plan = planned(worker, *first)
    seen: list[Outcome] = []
    report = plan.apply(worker.client, on_each=seen.append)
    assert report.ok
    assert results(report) == {"in": "done", "out": "done"}
    assert seen == report.outcomes
    assert worker.stored("in") == {**SOURCE, "name": "in", MARKER: "default"}
    assert (worker.target("in"), worker.target("out")) == ("STARTED", "PAUSED")
    eventually(lambda: planned(worker, *first).pending == [])

    changed = (Connector("in", {**SOURCE, "topic": "new"}, "stopped"), Connector("out", SINK))
    plan = planned(worker, *changed)
    assert [(each.name, each.action) for each in plan.pending] == [("in", Action.UPDATE)]
    assert plan.apply(worker.client).ok
    assert worker.stored("in")["topic"] == "new"
    assert worker.target("in") == "STOPPED"
    eventually(lambda: planned(worker, *changed).pending == [])

    plan = planned(worker, Connector("in", {**SOURCE, "topic": "new"}, "running"), prune=True)
    assert [(each.name, each.action) for each in plan.pending] == [
        ("in", Action.RESUME),
        ("out", Action.DELETE),
    ]
    assert plan.apply(worker.client).ok
    assert worker.client.connectors() == ["in"]
    assert worker.target("in") == "STARTED"


def test_a_plan_of_nothing_asks_the_server_for_nothing(worker: Served) -> None:
    plan = planned(worker)
    worker.client.close()
    assert plan.apply(worker.client).outcomes == []


def test_nothing_is_changed_if_anything_is_not_valid(worker: Served) -> None:
    origin = Origin(Path("f.yaml"), 3, {"any": 9})
    plan = planned(worker, Connector("a", SOURCE), Connector("b", SINK, origin=origin))
    worker.bench.validation.errors = ("is wrong", "is late")
    with pytest.raises(ProblemsError) as found:
        plan.apply(worker.client)
    assert [str(each) for each in found.value.problems] == [
        "a: any: is wrong", "a: any: is late",
        "f.yaml:9: b: any: is wrong", "f.yaml:9: b: any: is late",
    ]  # fmt: skip
    assert worker.client.connectors() == []


def test_a_class_that_is_not_installed_is_told_with_its_place(worker: Served) -> None:
    origin = Origin(Path("f.yaml"), 3, {"connector.class": 5})
    plan = planned(worker, Connector("a", {"connector.class": ""}, origin=origin))
    with pytest.raises(ProblemsError, match=r"f\.yaml:5: a: connector\.class: "):
        manager.validate(plan, worker.client)


def test_a_failure_does_not_stop_others_but_deletes(worker: Served) -> None:
    planned(worker, Connector("old", SOURCE)).apply(worker.client)
    plan = planned(worker, Connector("a", SOURCE), Connector("b", SINK), prune=True)
    worker.client.create("a", SOURCE)
    report = plan.apply(worker.client)
    assert results(report) == {"a": "failed", "b": "done", "old": "not tried"}
    assert report.of(Result.FAILED)[0].error == "Connector a already exists"
    assert not report.ok
    assert worker.client.connectors() == ["a", "b", "old"]


def test_fail_fast_tries_nothing_more(worker: Served) -> None:
    plan = planned(worker, Connector("a", SOURCE), Connector("b", SINK), Connector("c", SINK))
    worker.client.create("a", SOURCE)
    report = plan.apply(worker.client, fail_fast=True, parallel=1)
    assert results(report) == {"a": "failed", "b": "not tried", "c": "not tried"}


def test_a_change_by_somebody_else_since_the_plan_is_not_undone(worker: Served) -> None:
    planned(worker, Connector("a", SOURCE), Connector("b", SOURCE)).apply(worker.client)
    plan = planned(worker, Connector("a", {**SOURCE, "topic": "mine"}), prune=True)
    for name in ("a", "b"):
        worker.client.patch_config(name, {"topic": "theirs"})
    report = plan.apply(worker.client)
    assert results(report) == {"a": "failed", "b": "not tried"}
    assert "somebody changed it after the plan was made" in report.outcomes[0].error
    assert worker.stored("a")["topic"] == "theirs"
    only_delete = Plan("default", [each for each in plan.pending if each.name == "b"])
    assert results(only_delete.apply(worker.client)) == {"b": "failed"}
    assert worker.client.connectors() == ["a", "b"]


def test_what_is_deleted_already_is_no_failure(worker: Served) -> None:
    planned(worker, Connector("a", SOURCE)).apply(worker.client)
    plan = planned(worker, prune=True)
    worker.client.delete("a")
    assert plan.apply(worker.client).ok


def test_a_server_that_went_away_is_not_asked_again(worker: Served) -> None:
    names = [f"c{number}" for number in range(5)]
    plan = planned(worker, *(Connector(name, SOURCE) for name in names))
    with Client(f"http://127.0.0.1:{free_port()}") as nobody:
        away = _Maker(nobody, starts_in_state=True, fail_fast=False)
        outcomes = [away.make(change).result for change in plan.pending]
    assert outcomes == [Result.FAILED, *[Result.NOT_TRIED] * 4]


def test_an_old_server_gets_the_state_after_the_creation(worker: Served) -> None:
    plan = planned(worker, Connector("p", SOURCE, "paused"), Connector("r", SOURCE, "running"))
    old = _Maker(worker.client, starts_in_state=False, fail_fast=False)
    assert all(old.make(change).result is Result.DONE for change in plan.pending)
    assert (worker.target("p"), worker.target("r")) == ("PAUSED", "STARTED")


# ------------------------------------------------------------------------------------ secrets


def test_a_password_is_compared_by_the_server_and_shown_by_nobody(worker: Served) -> None:
    vault = Connector("v", VAULT)
    assert planned(worker, vault).apply(worker.client).ok
    assert worker.client.config("v")["connection.password"] == "[hidden]"
    assert planned(worker, vault).pending == []
    other = replace(vault, config={**VAULT, "connection.password": "hunter3"})
    plan = planned(worker, other)
    [change] = plan.pending
    assert change.keys == (manager.KeyChange("connection.password", "[hidden]", "[hidden]"),)
    assert plan.apply(worker.client).ok
    assert worker.stored("v")["connection.password"] == "hunter3"
    assert planned(worker, other).pending == []


def test_hidden_keeps_the_stored_password(worker: Served) -> None:
    planned(worker, Connector("v", VAULT)).apply(worker.client)
    kept = Connector("v", {**VAULT, "connection.password": "[hidden]", "topic": "new"})
    plan = planned(worker, kept)
    assert [key.key for change in plan.pending for key in change.keys] == ["topic"]
    assert plan.apply(worker.client).ok
    assert worker.stored("v")["connection.password"] == "hunter2"
    assert worker.stored("v")["topic"] == "new"


def test_a_password_in_an_address_is_compared_too(worker: Served) -> None:
    url = "jdbc:x://me:hunter2@db/shop"
    vault = Connector("v", {**VAULT, "url": url})
    assert planned(worker, vault).apply(worker.client).ok
    assert worker.client.config("v")["url"] == "jdbc:x://me:[hidden]@db/shop"
    assert planned(worker, vault).pending == []
    for other in (url.replace("hunter2", "hunter3"), url.replace("db", "db2")):
        plan = planned(worker, replace(vault, config={**vault.config, "url": other}))
        assert [key.key for change in plan.pending for key in change.keys] == ["url"]
        assert "hunter" not in str(plan.to_json())


def test_which_secrets_are_the_stored_ones(worker: Served) -> None:
    worker.client.create("v", VAULT)
    asked = {
        "v": {"connection.password": "hunter2", "url": "other", "none": "x"},
        "nobody": {"connection.password": "hunter2"},
    }
    found = worker.client.same_secrets(asked)
    assert found == {"v": {"connection.password": True}, "nobody": {}}
    found = worker.client.same_secrets({"v": {"connection.password": "hunter3"}})
    assert found == {"v": {"connection.password": False}}


def test_secrets_can_not_be_guessed(worker: Served) -> None:
    worker.client.create("v", VAULT)

    def ask(value: str) -> bool | None:
        found = worker.client.same_secrets({"v": {"connection.password": value}})
        return found["v"].get("connection.password")

    assert [ask(f"guess {number}") for number in range(5)] == [False] * 5
    assert [ask("guess 5"), ask("hunter2")] == [None, None]
    # Who plans the same file again and again is not guessing.
    assert [ask("guess 4") for _ in range(20)] == [False] * 20
    plan = planned(worker, Connector("v", {**VAULT, "connection.password": "guess 6"}))
    assert [each.note for each in plan.changes] == [
        "not managed: --adopt takes it over; hidden by the server and not compared: "
        "connection.password"
    ]


# ----------------------------------------------------------------------------- states, waiting


def test_a_connector_that_has_no_status_yet_is_there(
    worker: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.client.create("a", SOURCE)
    monkeypatch.setattr(worker.client, "expanded", dict)
    assert [each.action for each in planned(worker, Connector("a", SOURCE)).changes] == [
        Action.UNCHANGED
    ]
    listed = worker.client.connectors
    monkeypatch.setattr(worker.client, "connectors", lambda: [*listed(), "gone"])
    with pytest.raises(NotFoundError):
        worker.client.connector("gone")
    assert list(manager.read_cluster(worker.client).connectors) == ["a"]


def test_waiting_for_states(worker: Served) -> None:
    plan = planned(worker, Connector("in", SOURCE), Connector("out", SINK, "paused"))
    report = plan.apply(worker.client)
    wanted = targets(report)
    assert wanted == {"in": Wanted.RUNNING, "out": Wanted.PAUSED}
    seen: list[str] = []
    found = manager.wait(worker.client, wanted, 10, on_each=seen.append)
    assert sorted(found.arrived) == sorted(seen) == ["in", "out"]
    assert found.failures == []


def test_waiting_ends_with_the_trace_of_what_failed(worker: Served) -> None:
    worker.bench.worker.failing["in-0"] = "no such file"

    def known() -> list[str]:
        return ["in"] if worker.bench.statuses.connector("in") else []

    planned(worker, Connector("in", SOURCE)).apply(worker.client)
    eventually(lambda: any("FAILED" in worker.bench.states(name)[1] for name in known()))
    found = manager.wait(worker.client, {"in": Wanted.RUNNING, "never": Wanted.PAUSED}, 2)
    assert found.arrived == []
    assert [(each.name, each.message) for each in found.failures] == [
        ("in", "task 0 has failed"),
        ("never", "not within 2 s: it has no status yet"),
    ]
    assert "no such file" in found.failures[0].trace
