"""`penstock plan`, `apply` and `export` as people and scripts see them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from penstock.cli.main import app
from penstock.machine.free_ports import free_port
from tests.unit.cli.run import penstock
from tests.unit.tools.manager.served import VAULT_CLASS, Served, served

Run = Callable[..., Result]

FILE = """\
defaults: {connector.class: FileStreamSource, file: /in}
connectors:
  lines: {topic: one, query: "SELECT 1\\nFROM a\\nWHERE b"}
  idle: {state: paused, config: {topic: two}}
"""


@pytest.fixture
def worker() -> Iterator[Served]:
    with served() as found:
        yield found


@pytest.fixture
def run(worker: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("PENSTOCK_CONFIG", str(tmp_path / "none.toml"))
    monkeypatch.setenv("COLUMNS", "200")

    def called(*arguments: str | Path, status: int = 0) -> Result:
        given = [*map(str, arguments), "--connect", worker.url]
        found = CliRunner().invoke(app, given, catch_exceptions=False)
        assert found.exit_code == status, found.output
        return found

    return called


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "c.yaml"
    path.write_text(FILE)
    return path


def test_a_plan_for_people(run: Run, file: Path, worker: Served) -> None:
    shown = run("plan", file, "--details").stdout
    assert f"+ lines  create, FileStreamSource  ({file}:3)\n" in shown
    assert f"+ idle  create, FileStreamSource, to be paused  ({file}:4)\n" in shown
    assert "    + topic: one\n" in shown
    assert shown.endswith("Plan: 2 to create, 0 unchanged.\n")
    assert "topic: one" not in run("plan", file).stdout
    run("apply", file)
    worker.client.create("other", {"connector.class": "FileStreamSource", "topic": "t"})
    text = FILE.replace("FROM a", "FROM c").replace("topic: one", "tasks.max: ''")
    file.write_text(text.replace("state: paused, ", "") + "  other: {topic: t, file: null}\n")
    shown = run("plan", file).stdout
    assert shown.splitlines() == [
        f"~ lines  update  ({file}:3)",
        "    ~ query:",
        "        @@ -1,3 +1,3 @@",
        "         SELECT 1",
        "        -FROM a",
        "        +FROM c",
        "         WHERE b",
        '    + tasks.max: ""',
        "    - topic: one",
        "= other  unchanged; not managed: --adopt takes it over",
        "Plan: 1 to update, 2 unchanged.",
    ]
    file.write_text("connectors: []")
    shown = run("plan", file, "--prune").stdout
    assert shown.splitlines() == [
        "- idle  delete",
        "- lines  delete",
        "Plan: 2 to delete, 0 unchanged.",
    ]


def test_plans_for_scripts(run: Run, file: Path) -> None:
    run("plan", file, "--exit-code", status=2)
    found = json.loads(run("plan", file, "-o", "json", "--exit-code", status=2).stdout)
    assert found["summary"]["create"] == 2
    assert found["changes"][0]["file"] == f"{file}:3"
    assert yaml.safe_load(run("plan", file, "-o", "yaml", "--only", "i*").stdout)["changes"] == [
        found["changes"][1]
    ]
    run("apply", file, "--only", "lines")
    run("plan", file, "--only", "lines", "--exit-code")


def test_wrong_files_end_with_1_and_all_that_is_wrong(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("name: a\n")
    (tmp_path / "b.json").write_text("{")
    found = run("plan", tmp_path, "--exit-code", status=1)
    assert f"{tmp_path}/a.yaml:1: a: connector.class: is missing" in found.stderr
    assert f"{tmp_path}/b.json:1: not valid JSON" in found.stderr
    assert "penstock: 2 problems; nothing was changed" in found.stderr
    assert "can't be read" in run("apply", tmp_path / "none.yaml", status=1).stderr


def test_a_cluster_that_is_away_ends_with_1(file: Path) -> None:
    found = CliRunner().invoke(
        app, ["plan", str(file), "--connect", f"http://127.0.0.1:{free_port()}"]
    )
    assert found.exit_code == 1
    assert "no Connect worker answers" in found.stderr


def test_applying(run: Run, file: Path, worker: Served) -> None:
    assert "Everything is valid; nothing was changed." in run("apply", file, "--dry-run").stdout
    assert worker.client.connectors() == []
    found = run("apply", file, "--wait", "--timeout", "10")
    assert {"created lines", "created idle", "Applied: 2 done."} <= set(found.stdout.splitlines())
    assert found.stdout.endswith("2 of 2 are in the state they should have.\n")
    assert "Nothing to change: 2 connectors are as wanted." in run("apply", file).stdout
    file.write_text(FILE.replace("state: paused", "state: stopped").replace("two", "three"))
    assert "updated idle and stopped" in run("apply", file).stdout
    file.write_text("connectors: []")
    refused = run("apply", file, "--prune", status=1)
    assert "Delete them? There is no terminal to ask on; give --yes" in refused.stderr
    assert worker.client.connectors() == ["idle", "lines"]
    assert "deleted lines" in run("apply", file, "--prune", "--yes").stdout


def test_a_time_to_wait_needs_a_wait(file: Path, worker: Served) -> None:
    done = penstock("apply", str(file), "--timeout", "10", "--connect", worker.url)
    assert done.status == 2
    assert "--timeout is the time to wait; it needs --wait" in done.words
    assert worker.client.connectors() == []


@pytest.mark.parametrize("command", ["plan", "apply"])
def test_names_that_mean_nothing_end_with_1(
    run: Run, file: Path, worker: Served, command: str
) -> None:
    found = run(command, file, "--only", "lines", "--only", "jdbc_*", "--only", "x", status=1)
    told = "--only jdbc_* or x: no connector of the files has this name"
    assert found.stderr == f"penstock: {told}\n"
    assert worker.client.connectors() == []
    file.write_text("connectors: []")
    found = run(command, file, "--only", "x", "--prune", status=1)
    assert "no connector of the files, or of the project default, has this name" in found.stderr


def test_a_change_that_fails_ends_with_1(run: Run, file: Path, worker: Served) -> None:
    run("apply", file)
    file.write_text(FILE.replace("idle", "new"))
    worker.bench.configs.put_connector = _refused  # type: ignore[method-assign]
    found = run("apply", file, "--prune", "--yes", status=1)
    assert "failed to create new: " in found.stderr
    assert "not tried, because others failed: idle" in found.stderr
    assert "Applied: 1 failed, 1 not tried." in found.stdout


def _refused(*given: object, **named: object) -> None:
    raise RuntimeError("the disk is full")


def test_waiting_tells_what_failed(run: Run, file: Path, worker: Served) -> None:
    trace = "x.ConnectError: no such file, see http://u:geheim@h\n" + "\tat x.Y\n" * 30
    worker.bench.worker.failing["lines"] = trace
    found = run("apply", file, "--wait", "--timeout", "4", status=1)
    assert found.stderr.splitlines() == [
        "lines: the connector has failed",
        "    x.ConnectError: no such file, see http://u:[hidden]@h",
        "        at x.Y",
        "        at x.Y",
        "    … 28 more lines: penstock describe lines --trace",
    ]
    assert "1 of 2 are in the state they should have." in found.stdout


def test_projects(run: Run, file: Path) -> None:
    run("apply", file, "--project", "one")
    found = run("plan", file, "--project", "two", status=1)
    assert "lines: is managed by the project one, not by two" in found.stderr
    shown = run("apply", file, "--project", "two", "--adopt").stdout
    assert "~ lines  update, taken over from one" in shown
    file.write_text("connectors: []")
    assert "Nothing to change" in run("plan", file, "--project", "one", "--prune").stdout


def test_secrets_appear_nowhere(run: Run, worker: Served, tmp_path: Path) -> None:
    file = tmp_path / "v.json"
    config = {"connector.class": VAULT_CLASS, "url": "u", "connection.password": "hunter2"}
    file.write_text(json.dumps({"name": "v", "config": config}))
    shown = run("plan", file, "--details").output + run("apply", file).output
    assert "+ connection.password: [hidden]" in shown
    file.write_text(file.read_text().replace("hunter2", "hunter3"))
    shown += run("plan", file).output + run("plan", file, "-o", "json").output
    assert "~ connection.password: [hidden] -> [hidden]" in shown
    exported = run("export", "--format", "json")
    assert json.loads(exported.stdout)[0]["config"]["connection.password"] == "[hidden]"
    assert "Secrets are not in the files; [hidden] stands for them" in exported.stderr
    assert "    v: connection.password\n" in exported.stderr
    assert "hunter" not in shown + exported.output


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--file", "x", "--output-dir", "y"], "give --output-dir or --file, not both"),
        (["--force"], "--force replaces files: give --output-dir or --file"),
    ],
)
def test_options_that_an_export_can_not_have_end_with_2(options: list[str], told: str) -> None:
    done = penstock("export", *options)
    assert done.status == 2
    assert told in done.words


def test_exporting(run: Run, file: Path, tmp_path: Path) -> None:
    run("apply", file)
    target = tmp_path / "out" / "all.yaml"
    target.parent.mkdir()
    assert f"2 connectors are in {target}." in run("export", "--file", target).stdout
    assert "2 connectors are as wanted" in run("plan", target).stdout
    assert "exists already" in run("export", "--file", target, status=1).stderr
    assert (
        f"1 connector is in {target}." in run("export", "lin*", "--file", target, "--force").stdout
    )
    assert list(yaml.safe_load(target.read_text())["connectors"][0]) == ["name", "config"]
    found = run("export", "lines", "none", "x*", status=1)
    assert "no connector is named none or x*; nothing was written" in found.stderr
    assert "--output-dir names the directory" in found.stderr
    assert found.stdout == ""
    assert "can't be written" in run("export", "--file", tmp_path / "no" / "x", status=1).stderr
