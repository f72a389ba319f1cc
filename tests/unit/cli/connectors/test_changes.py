"""create, patch and validate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock.client import Client, ServerError
from penstock.kernel.errors import ConflictError
from tests.unit.cli.connectors.conftest import Cluster
from tests.unit.cli.run import penstock
from tests.unit.tools.client.server import serving
from tests.unit.worker.herder.harness import SOURCE, VAULT

SECRET = {"connector.class": VAULT.name, "url": "http://vault", "connection.password": "hunter2"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lines.json"
    path.write_text(json.dumps({"name": "lines", "config": SOURCE}))
    return path


def test_from_files_of_both_kinds(cluster: Cluster, file: Path, tmp_path: Path) -> None:
    other = tmp_path / "more.properties"
    other.write_text("name=more\n" + "".join(f"{key}={value}\n" for key, value in SOURCE.items()))
    told = cluster.ok("create", str(file), str(other), "--wait")
    assert told == "lines: created, running\nmore: created, running\n2 created\n"
    assert cluster.client.connectors() == ["lines", "more"]


def test_from_yaml(cluster: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "many.yaml"
    path.write_text(
        "defaults: {connector.class: FileStreamSource, topic: lines}\n"
        "connectors:\n  a: {file: /data/a}\n  b: {file: /data/b}\n"
    )
    cluster.ok("create", str(path))
    assert cluster.client.config("b")["file"] == "/data/b"


def test_from_standard_input_and_from_the_command_line(cluster: Cluster, file: Path) -> None:
    assert cluster.ok("create", "-", stdin=file.read_text()) == "lines: created\n"
    settings = [f"{key}={value}" for key, value in SOURCE.items()]
    cluster.ok("create", "other", *settings, "transforms=", "a=b=c")
    found = cluster.client.config("other")
    assert found == {**SOURCE, "name": "other", "transforms": "", "a": "b=c"}


def test_a_directory_of_its_name_is_not_read(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines/run.py").write_text("raise SystemExit('run')")
    monkeypatch.chdir(tmp_path)
    settings = [f"{key}={value}" for key, value in SOURCE.items()]
    assert cluster.ok("create", "lines", *settings) == "lines: created\n"
    assert cluster.client.config("lines")["file"] == SOURCE["file"]


@pytest.mark.parametrize("state", ["running", "paused", "stopped"])
def test_first_states(cluster: Cluster, file: Path, state: str) -> None:
    assert (
        cluster.ok("create", str(file), "--state", state, "--wait") == f"lines: created, {state}\n"
    )
    assert cluster.states("lines")[0] == state.upper()


def test_a_state_in_the_file(cluster: Cluster, file: Path) -> None:
    body = {"name": "lines", "config": SOURCE, "initial_state": "PAUSED"}
    file.write_text(json.dumps(body))
    assert "paused" in cluster.ok("create", str(file), "--wait")
    file.write_text(json.dumps({**body, "initial_state": "odd"}))
    done = cluster.run("create", str(file))
    assert done.status == 2
    assert "lines.json" in done.err
    assert "odd" in done.err


def test_one_that_is_there_is_replaced_only_if_that_is_said(cluster: Cluster, file: Path) -> None:
    cluster.ok("create", str(file))
    done = cluster.run("create", str(file))
    assert done.status == 1
    assert "lines: Connector lines already exists (--replace replaces its config)" in done.words
    file.write_text(json.dumps({"name": "lines", "config": {**SOURCE, "topic": "other"}}))
    told = cluster.ok("create", str(file), "--replace", "--state", "paused", "--wait")
    assert told == "lines: replaced, paused\n"
    assert cluster.client.config("lines")["topic"] == "other"
    # Without a state it keeps the one it has.
    file.write_text(json.dumps({"name": "lines", "config": SOURCE}))
    assert cluster.ok("create", str(file), "--replace", "--wait") == "lines: replaced, paused\n"
    cluster.ok("delete", "lines")
    assert cluster.ok("create", str(file), "--replace") == "lines: created\n"


@pytest.mark.parametrize("by", ["file", "stdin"])
def test_an_initial_state_is_for_one_that_is_new(cluster: Cluster, file: Path, by: str) -> None:
    body = json.dumps({"name": "lines", "config": SOURCE, "initial_state": "STOPPED"})
    file.write_text(body)
    arguments, stdin = ([str(file)], "") if by == "file" else (["-"], body)
    told = cluster.ok("create", *arguments, "--replace", "--wait", stdin=stdin)
    assert told == "lines: created, stopped\n"
    cluster.ok("resume", "lines")
    told = cluster.ok("create", *arguments, "--replace", "--wait", stdin=stdin)
    assert told == "lines: replaced, running\n"


def test_a_state_in_a_file_is_for_one_that_is_there_too(cluster: Cluster, file: Path) -> None:
    cluster.ok("create", str(file))
    file.write_text(json.dumps({"name": "lines", "config": SOURCE, "state": "paused"}))
    assert "replaced, paused" in cluster.ok("create", str(file), "--replace", "--wait")


def test_a_wait_tells_what_failed(cluster: Cluster, file: Path) -> None:
    trace = "java.io.IOException: no such disk at ftp://u:geheim@h"
    cluster.bench.worker.failing["lines-0"] = trace
    done = cluster.run("create", str(file), "--wait")
    assert done.status == 1
    assert "created, but task 0 has failed: java.io.IOException: no such disk at ftp:" in done.words
    assert "geheim" not in done.words


def test_a_wait_tells_what_is_waited_for(cluster: Cluster, file: Path) -> None:
    cluster.bench.worker.waiting["lines-0"] = "waiting: there is no topic lines"
    told = cluster.ok("create", str(file), "--wait")
    assert told == "lines: created, running, waiting: there is no topic lines\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.json"], "none.json"),
        (["x", "key"], "x"),
        (["x", "key=1", "other"], "x needs KEY=VALUE, got 'other'"),
        (["x", "=1"], "x needs KEY=VALUE"),
    ],
)
def test_wrong_arguments(cluster: Cluster, arguments: list[str], words: str) -> None:
    done = cluster.run("create", *arguments)
    assert done.status == 2
    assert words in done.words
    assert "Traceback" not in done.err


def test_a_config_that_is_refused(cluster: Cluster, file: Path) -> None:
    cluster.bench.validation.errors = ("file is missing",)
    done = cluster.run("create", str(file))
    assert done.status == 1
    assert "lines: Connector configuration is invalid" in done.words
    assert "file is missing" in done.words


def test_keys_are_set_and_removed(cluster: Cluster) -> None:
    cluster.create("jdbc_a", "jdbc_b", extra="1")
    told = cluster.ok("patch", "jdbc_*", "topic=other", "extra-", "a=")
    assert "jdbc_a: topic set, extra removed, a set" in told
    for name in ("jdbc_a", "jdbc_b"):
        found = cluster.client.config(name)
        assert (found["topic"], found["a"], "extra" in found) == ("other", "", False)


def test_a_key_that_is_not_there_is_not_removed(cluster: Cluster) -> None:
    cluster.create("a")
    told = "a: there is no key tpic in its config; did you mean topic?"
    before = len(cluster.bench.worker.calls)
    done = cluster.run("patch", "a", "tpic-")
    assert (done.status, done.out) == (1, "")
    assert told in done.words
    assert len(cluster.bench.worker.calls) == before
    done = cluster.run("patch", "a", "other-")
    assert done.words.endswith("a: there is no key other in its config")
    done = cluster.run("patch", "a", "tpic-", "file=/x")
    assert (done.status, done.out) == (0, "a: file set\n")
    assert told in done.words


@pytest.mark.parametrize("arguments", [["a"], ["a=1"], ["a", "b"], ["a", "-"], ["a", "b=1", "c"]])
def test_a_patch_needs_names_and_changes(cluster: Cluster, arguments: list[str]) -> None:
    done = cluster.run("patch", "--", *arguments)
    assert done.status == 2
    assert "KEY=VALUE" in done.words


def old_server(config: dict[str, str], refusal: int) -> list[tuple[int, Any]]:
    refused = {"error_code": refusal, "message": f"HTTP {refusal}"}
    info = {"name": "a", "config": config, "tasks": [], "type": "source"}
    return [(200, ["a"]), (200, config), (refusal, refused), (200, config), (200, info)]


@pytest.mark.parametrize("refusal", [404, 405])
def test_a_server_without_patch_gets_the_whole(refusal: int) -> None:
    with serving(*old_server({"x": "1", "y": "2"}, refusal)) as server:
        done = penstock("patch", "a", "x=3", "y-", "--connect", server.url)
        assert done.status == 0, done
        assert server.requests == [
            "GET /connectors",
            "GET /connectors/a/config",
            "PATCH /connectors/a/config",
            "GET /connectors/a/config",
            "PUT /connectors/a/config",
        ]
        assert server.asked[-1].body == {"x": "3"}


@pytest.mark.parametrize("mask", ["[hidden]", "********"])
def test_what_a_server_hides_is_not_written_back(mask: str) -> None:
    with serving(*old_server({"x": "1", "db.password": mask}, 405)) as server:
        done = penstock("patch", "a", "x=3", "--connect", server.url)
        assert done.status == 1
        assert "hides db.password" in done.words
        assert len(server.asked) == 4
    with serving(*old_server({"x": "1", "db.password": mask}, 405)) as server:
        assert penstock("patch", "a", "db.password=new", "--connect", server.url).status == 0
        assert server.asked[-1].body == {"x": "1", "db.password": "new"}


def test_another_refusal_is_told(cluster: Cluster) -> None:
    with serving((200, ["a"]), (500, {"error_code": 500, "message": "broken"})) as server:
        done = penstock("patch", "a", "x=3", "--connect", server.url)
        assert done.status == 1
        assert "a: broken" in done.words
    assert issubclass(ServerError, Exception)


def test_files_are_checked(cluster: Cluster, file: Path) -> None:
    assert cluster.ok("validate", str(file)) == f"{file}:1: lines: valid\n"
    cluster.bench.validation.errors = ("Missing required configuration",)
    done = cluster.run("validate", str(file))
    assert done.status == 1
    assert "lines: any: Missing required configuration" in done.words
    assert cluster.client.connectors() == []
    row = cluster.json("validate", str(file))[0]
    assert (row["connector"], row["key"]) == ("lines", "any")
    assert row["errors"] == ["Missing required configuration"]
    assert "Missing required configuration" in cluster.run("validate", str(file), "--all").out


def test_a_check_tells_no_passwords(cluster: Cluster, file: Path) -> None:
    config = {**SOURCE, "where": "jdbc:x://u:geheim@h?password=geheim", "my.token": "geheim"}
    file.write_text(json.dumps({"name": "lines", "config": config}))
    cluster.bench.validation.errors = ("no route to jdbc:x://u:geheim@h?password=geheim",)
    for arguments in ([], ["--all"], ["-o", "json"], ["--all", "-o", "yaml"]):
        done = cluster.run("validate", str(file), *arguments)
        assert "no route to jdbc:x://u:[hidden]@h" in done.words
        assert "geheim" not in done.words


def test_a_file_without_a_class(cluster: Cluster, file: Path) -> None:
    file.write_text('{"name": "lines", "topic": "x"}')
    done = cluster.run("validate", str(file))
    assert done.status == 2
    assert "connector.class" in done.err


OFFSETS = {"offsets": [{"partition": {"filename": "/data/in"}, "offset": {"position": 7}}]}


@pytest.fixture
def offsets(tmp_path: Path) -> Path:
    path = tmp_path / "offsets.json"
    path.write_text(json.dumps(OFFSETS))
    return path


@pytest.mark.parametrize("state", ["running", "stopped"])
def test_first_offsets(cluster: Cluster, file: Path, offsets: Path, state: str) -> None:
    told = cluster.ok("create", str(file), "--offsets", str(offsets), "--state", state, "--wait")
    assert told == f"lines: created with offsets, {state}\n"
    assert cluster.client.offsets("lines").to_json() == OFFSETS


def test_if_offsets_are_refused_there_is_no_connector(
    cluster: Cluster, file: Path, offsets: Path
) -> None:
    wrong = {"offsets": [{"partition": {"filename": "/data/in"}, "offset": {"position": "x"}}]}
    offsets.write_text(json.dumps(wrong))
    done = cluster.run("create", str(file), "--offsets", str(offsets))
    assert done.status == 1
    assert "position" in done.words
    assert cluster.client.connectors() == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "offsets.json: "),
        ('{"offsets": 5}', "offsets must be a JSON array"),
        ("{}", "has no offsets"),
    ],
)
def test_files_that_hold_no_offsets(
    cluster: Cluster, file: Path, offsets: Path, text: str, told: str
) -> None:
    offsets.write_text(text)
    done = cluster.run("create", str(file), "--offsets", str(offsets))
    assert done.status == 2
    assert told in done.words
    assert cluster.client.connectors() == []


def test_first_offsets_are_for_one_new_connector(
    cluster: Cluster, file: Path, offsets: Path
) -> None:
    done = cluster.run("create", str(file), "--replace", "--offsets", str(offsets))
    assert done.status == 2
    assert "exactly one new connector" in done.words


def test_a_rebalance_is_not_taken_for_a_connector_of_that_name(
    monkeypatch: pytest.MonkeyPatch, cluster: Cluster, file: Path
) -> None:
    def busy(*_: object) -> None:
        raise ConflictError("Cannot complete request because of a conflicting operation")

    monkeypatch.setattr(Client, "create", busy)
    done = cluster.run("create", str(file))
    assert done.status == 1
    assert "conflicting operation" in done.words
    assert "--replace" not in done.words


def test_ctrl_c_before_the_first_offsets_are_set_leaves_no_connector(
    monkeypatch: pytest.MonkeyPatch, cluster: Cluster, file: Path, offsets: Path
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Client, "alter_offsets", interrupted)
    assert cluster.run("create", str(file), "--offsets", str(offsets)).status != 0
    assert cluster.client.connectors() == []


def test_a_copy_of_another_connector(cluster: Cluster) -> None:
    config = {**SECRET, "penstock.managed-by": "shop", "topic": "t"}
    cluster.client.create("old", config)
    told = cluster.ok("create", "new", "--like", "old", "topic=u", "odd-", "--wait")
    assert told == "new: created like old, running\n"
    stored = cluster.bench.configs.connectors["new"].config
    assert stored == {**SECRET, "name": "new", "topic": "u"}
    refused = cluster.run("create", "other", "--like", "old", "url=http://mine")
    assert refused.status == 1
    assert "url has changed; send the value itself" in refused.words
    assert cluster.run("create", "new", "--like", "none").status == 1
    done = cluster.run("create", "new", "--like", "old", "--replace")
    assert "leave out --replace, --strict and --offsets" in done.words


def test_a_copy_on_a_server_that_does_not_copy() -> None:
    """Kafka Connect shows configs in clear, so they are read and sent back."""
    refused = (404, {"error_code": 404, "message": "HTTP 404 Not Found"})
    shown = {"name": "old", "x": "1", "db.password": "hunter2", "penstock.managed-by": "shop"}
    created = (201, {"name": "new", "config": {}, "tasks": [], "type": "sink"})
    with serving(refused, (200, shown), created) as server:
        done = penstock("create", "new", "--like", "old", "x=2", "--connect", server.url)
    assert done.out == "new: created like old\n"
    assert server.requests[1:] == ["GET /connectors/old/config", "POST /connectors"]
    config = {"name": "new", "x": "2", "db.password": "hunter2"}
    assert server.asked[-1].body == {"name": "new", "config": config}
    with serving(refused, (200, {**shown, "db.password": "[hidden]"})) as server:
        done = penstock("create", "new", "--like", "old", "--connect", server.url)
    assert done.status == 1
    assert "the server hides db.password: give the values anew" in done.words
