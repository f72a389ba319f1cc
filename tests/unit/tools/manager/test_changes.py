"""Plans: a pure function of what is wanted and what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.manager import (
    MARKER,
    Action,
    Change,
    Cluster,
    Connector,
    Connectors,
    KeyChange,
    Origin,
    Plan,
    ProblemsError,
    Running,
    Wanted,
    compare,
)
from penstock.tools.manager.secrets import SecretKeys

SOURCE = {"connector.class": "X", "topic": "t"}
SINK = {"connector.class": "Y", "topics": "t"}
MINE = {MARKER: "default"}


def wanted(*connectors: Connector) -> Connectors:
    return Connectors(connectors)


def cluster(*running: Running) -> Cluster:
    return Cluster({each.name: each for each in running})


def one(plan: Plan) -> Change:
    [change] = plan.changes
    return change


def test_what_is_not_there_is_created() -> None:
    change = one(compare(wanted(Connector("a", SOURCE, "paused")), cluster(), project="shop"))
    assert change.action is Action.CREATE
    assert change.config == {**SOURCE, MARKER: "shop"}
    assert change.state is Wanted.PAUSED
    assert change.keys == (KeyChange("connector.class", None, "X"), KeyChange("topic", None, "t"))


def test_a_printed_plan_tells_no_passwords() -> None:
    new, old = ({**SOURCE, "connection.password": word} for word in ("tr0ub4dor", "hunter2"))
    secret = SecretKeys({"X": frozenset({"connection.password"})})
    there = Cluster({"a": Running("a", old, "RUNNING")}, secret)
    plan = compare(wanted(Connector("a", new)), there)
    assert one(plan).config["connection.password"] == "tr0ub4dor"
    assert "tr0ub4dor" not in repr(plan.pending)
    assert "hunter2" not in repr(plan.pending)
    assert "tr0ub4dor" not in repr(dict(wanted(Connector("a", new))))


def test_each_key_that_differs_is_shown() -> None:
    old = {**SOURCE, **MINE, "name": "a", "gone": "1", "same": "x"}
    new = {**SOURCE, "topic": "u", "added": "2", "same": "x"}
    change = one(compare(wanted(Connector("a", new)), cluster(Running("a", old, "RUNNING"))))
    assert change.action is Action.UPDATE
    assert change.config == {**new, **MINE}
    assert change.keys == (
        KeyChange("added", None, "2"),
        KeyChange("gone", "1", None),
        KeyChange("topic", "t", "u"),
    )


@pytest.mark.parametrize("marker", [{}, MINE])
def test_the_marker_and_the_name_are_no_difference(marker: dict[str, str]) -> None:
    running = Running("a", {**SOURCE, **marker, "name": "a"}, "RUNNING")
    plan = compare(wanted(Connector("a", SOURCE)), cluster(running), prune=True)
    assert one(plan).action is Action.UNCHANGED
    assert plan.pending == []
    assert one(plan).note == ("" if marker else "not managed: --adopt takes it over")


def test_what_another_project_manages_is_refused_and_can_be_adopted() -> None:
    origin = Origin(Path("a.yaml"), 3)
    files = wanted(Connector("a", {**SOURCE, "topic": "u"}, origin=origin))
    there = cluster(Running("a", {**SOURCE, MARKER: "theirs"}, "RUNNING"))
    with pytest.raises(ProblemsError, match=r"a\.yaml:3: a: is managed by the project theirs, not"):
        compare(files, there, project="ours")
    change = one(compare(files, there, project="ours", adopt=True))
    assert (change.action, change.adopts) == (Action.UPDATE, True)
    assert change.config[MARKER] == "ours"


def test_adopting_what_is_the_same_only_marks_it() -> None:
    there = cluster(Running("a", SOURCE, "RUNNING"))
    change = one(compare(wanted(Connector("a", SOURCE)), there, adopt=True))
    assert (change.action, change.keys, change.adopts) == (Action.UPDATE, (), True)
    mine = cluster(Running("a", {**SOURCE, **MINE}, "RUNNING"))
    change = one(compare(wanted(Connector("a", SOURCE)), mine, adopt=True))
    assert change.action is Action.UNCHANGED


def test_only_what_the_project_manages_is_pruned() -> None:
    there = cluster(
        Running("mine", {**SOURCE, **MINE}),
        Running("kept", {**SOURCE, **MINE}),
        Running("nobody's", SOURCE),
        Running("theirs", {**SOURCE, MARKER: "theirs"}),
    )
    files = wanted(Connector("kept", SOURCE))
    assert [each.name for each in compare(files, there).pending] == []
    pruned = compare(files, there, prune=True).pending
    assert [(each.name, each.action) for each in pruned] == [("mine", Action.DELETE)]
    assert compare(files, there, prune=True, only=["k*"]).pending == []
    # One that is wanted is never pruned, even if it is not looked at.
    assert [each.name for each in compare(files, there, prune=True, only=["m*"]).changes] == [
        "mine"
    ]


@pytest.mark.parametrize(
    ("want", "state", "tasks", "action"),
    [
        (None, "PAUSED", (), Action.UNCHANGED),
        ("running", "PAUSED", (), Action.RESUME),
        ("running", "STOPPED", (), Action.RESUME),
        ("running", "RUNNING", (), Action.UNCHANGED),
        ("running", "FAILED", (), Action.UNCHANGED),
        ("running", "UNASSIGNED", (), Action.UNCHANGED),
        ("paused", "RUNNING", (), Action.PAUSE),
        ("paused", "PAUSED", (), Action.UNCHANGED),
        ("paused", "UNASSIGNED", (), Action.PAUSE),
        ("paused", "FAILED", ("RUNNING", "PAUSED"), Action.PAUSE),
        ("paused", "FAILED", ("PAUSED", "PAUSED"), Action.UNCHANGED),
        ("stopped", "PAUSED", (), Action.STOP),
        ("stopped", "STOPPED", (), Action.UNCHANGED),
    ],
)
def test_states(want: str | None, state: str, tasks: tuple[str, ...], action: Action) -> None:
    there = cluster(Running("a", {**SOURCE, **MINE}, state, tasks))
    assert one(compare(wanted(Connector("a", SOURCE, want)), there)).action is action


def test_an_initial_state_is_not_restored() -> None:
    files = wanted(Connector("a", SOURCE, "paused", initial_only=True))
    assert one(compare(files, cluster())).state is Wanted.PAUSED
    there = cluster(Running("a", {**SOURCE, **MINE}, "RUNNING"))
    assert one(compare(files, there)).action is Action.UNCHANGED


def test_what_nobody_manages_is_taken_over_with_a_note() -> None:
    there = cluster(Running("a", {**SOURCE, "topic": "u"}, "RUNNING"))
    change = one(compare(wanted(Connector("a", SOURCE)), there))
    assert change.note == "no project manages it yet: this change takes it over"
    assert change.config[MARKER] == "default"


def test_steps_are_in_a_safe_order() -> None:
    files = wanted(
        Connector("new-sink", SINK),
        Connector("new-source", SOURCE),
        Connector("changed-sink", {**SINK, "x": "1"}),
        Connector("quiet", SOURCE, "stopped"),
        Connector("awake", SINK, "running"),
        Connector("same", SINK),
    )
    there = cluster(
        Running("changed-sink", {**SINK, **MINE}),
        Running("quiet", {**SOURCE, **MINE}, "RUNNING"),
        Running("awake", {**SINK, **MINE}, "PAUSED"),
        Running("same", {**SINK, **MINE}),
        Running("old-sink", {**SINK, **MINE}),
        Running("old-source", {**SOURCE, **MINE}),
    )
    steps = compare(files, there, prune=True).steps
    assert [[change.name for change in step] for step in steps] == [
        ["quiet"], ["new-source"], ["new-sink", "changed-sink"], ["awake"], ["old-source"],
        ["old-sink"],
    ]  # fmt: skip


# ------------------------------------------------------------------------------------ secrets


def test_secrets_are_not_shown() -> None:
    old = {**SOURCE, **MINE, "connection.password": "one", "odd": "two", "a.secret": "${env:X}"}
    new = {**SOURCE, "connection.password": "three", "odd": "four", "a.secret": "five"}
    new |= {"connection.url": "jdbc:mysql://u:six@host/db?user=u&password=seven&a=b"}
    found = Cluster({"a": Running("a", old)}, SecretKeys({"X": {"odd"}}))
    change = one(compare(wanted(Connector("a", new)), found))
    assert change.keys == (
        KeyChange("a.secret", "${env:X}", "[hidden]"),
        KeyChange("connection.password", "[hidden]", "[hidden]"),
        KeyChange(
            "connection.url", None, "jdbc:mysql://u:[hidden]@host/db?user=u&password=[hidden]&a=b"
        ),
        KeyChange("odd", "[hidden]", "[hidden]"),
    )
    assert not any(word in str(change.to_json()) for word in ("two", "three", "four", "five"))


def test_the_classes_before_and_after_say_what_is_a_secret() -> None:
    """A key that only one of the two declares as a password is one in both."""
    keys = SecretKeys({"X": {"old.odd"}, "Z": {"new.odd"}})
    old = {**SOURCE, **MINE, "old.odd": "one", "new.odd": "two"}
    new = {"connector.class": "Z", "topic": "t", "old.odd": "three", "new.odd": "four"}
    found = Cluster({"a": Running("a", old)}, keys)
    change = one(compare(wanted(Connector("a", new)), found))
    assert change.keys[1:] == (
        KeyChange("new.odd", "[hidden]", "[hidden]"),
        KeyChange("old.odd", "[hidden]", "[hidden]"),
    )


@pytest.mark.parametrize(
    "key",
    [
        "connection.password",
        "sasl.jaas.config",
        "client_secret",
        "auth.token",
        "api-key",
        "aws.secret.access.key",
        "gcs.credentials.json",
        "ssl.keystore.key",
        "basic.auth.user.info",
    ],
)
def test_what_sounds_secret_is_one_whatever_a_plugin_declares(key: str) -> None:
    assert SecretKeys({"X": set()}).shown(key, "x", SOURCE) == "[hidden]"


def test_what_is_said_of_a_secret_does_not_have_it() -> None:
    keys = SecretKeys({"X": {"odd"}})
    config = {**SOURCE, "odd": "geheim", "my.token": "${env:X}"}
    assert keys.redacted("odd", "geheim is too short", config) == "[hidden] is too short"
    assert keys.redacted("topic", "t is not at http://u:geheim@h", config) == (
        "t is not at http://u:[hidden]@h"
    )
    assert keys.redacted("my.token", "${env:X} is not set", config) == "${env:X} is not set"


@pytest.mark.parametrize(
    "key",
    ["token.path", "sasl.oauthbearer.token.endpoint.url", "credentials.provider.class",
     "analyzer.tokenizer", "key.converter", "delegation.token.expiry.time.ms"],
)  # fmt: skip
def test_what_is_about_a_secret_is_none_unless_a_plugin_says_so(key: str) -> None:
    assert SecretKeys().shown(key, "x", SOURCE) == "x"
    assert SecretKeys({"X": {key}}).shown(key, "x", SOURCE) == "[hidden]"


@pytest.mark.parametrize(
    ("compared", "action", "note"),
    [
        ({("a", "p"): True}, Action.UNCHANGED, ""),
        ({("a", "p"): False}, Action.UPDATE, ""),
        ({}, Action.UNCHANGED, "hidden by the server and not compared: p"),
    ],
)
def test_secrets_that_the_server_hides(
    compared: dict[tuple[str, str], bool], action: Action, note: str
) -> None:
    running = Running("a", {**SOURCE, **MINE, "p": "[hidden]"}, "RUNNING")
    found = Cluster({"a": running}, compared=compared)
    change = one(compare(wanted(Connector("a", {**SOURCE, "p": "clear"})), found))
    assert (change.action, change.note) == (action, note)
    assert "clear" not in str(change.to_json())
    # What is sent has the value of the file.
    assert change.config["p"] == "clear"


def test_hidden_in_a_file_keeps_what_the_cluster_has() -> None:
    files = wanted(Connector("a", {**SOURCE, "p": "[hidden]", "topic": "u"}))
    change = one(compare(files, cluster(Running("a", {**SOURCE, **MINE, "p": "clear"}))))
    assert [key.key for key in change.keys] == ["topic"]
    assert change.config["p"] == "clear"
    with pytest.raises(ProblemsError, match=r"a: p: .hidden. keeps the cluster's value"):
        compare(files, cluster())
    with pytest.raises(ProblemsError, match="the cluster has none"):
        compare(files, cluster(Running("a", SOURCE)))


def test_a_plan_as_json() -> None:
    files = wanted(Connector("a", SOURCE, "paused", Origin(Path("f.yaml"), 7)))
    assert compare(files, cluster()).to_json() == {
        "project": "default",
        "summary": {
            "create": 1, "update": 0, "pause": 0, "resume": 0, "stop": 0, "delete": 0,
            "unchanged": 0, "error": 0,
        },
        "changes": [
            {
                "name": "a",
                "action": "create",
                "file": "f.yaml:7",
                "keys": {
                    "connector.class": {"old": None, "new": "X"},
                    "topic": {"old": None, "new": "t"},
                },
                "state": "paused",
            }
        ],
    }  # fmt: skip
