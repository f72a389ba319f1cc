from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import penstock
from penstock.cli.command_table import SECTIONS, Entry
from penstock.cli.main import app
from penstock.cli.output import complain
from penstock.testing.waiting import patient


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environ = {key: value for key, value in os.environ.items() if not key.startswith("CONNECT_")}
    return subprocess.run(
        [sys.executable, "-m", "penstock", *arguments],
        env={**environ, "NO_COLOR": "1", "COLUMNS": "100", **variables},
        capture_output=True,
        text=True,
        timeout=patient(),
        check=False,
    )


COMMANDS = [entry for entries in SECTIONS.values() for entry in entries]


def test_version() -> None:
    assert run("--version").stdout == f"penstock {penstock.__version__}\n"


def test_help_has_every_command_by_section_and_examples() -> None:
    text = run("--help").stdout
    places = [text.index(f"\n{title}:\n") for title in SECTIONS]
    assert places == sorted(places)
    for entry in COMMANDS:
        assert f"\n  {entry.name} " in text
    assert "penstock distributed worker.properties" in text
    assert "curl localhost:8083/connectors" in text


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_every_command_has_help(entry: Entry) -> None:
    done = CliRunner().invoke(app, [entry.name, "--help"])
    assert done.exit_code == 0
    assert f"Usage: penstock {entry.name} " in done.output
    assert len(entry.help) <= 75


def test_no_command_is_named_twice() -> None:
    assert len({entry.name for entry in COMMANDS}) == len(COMMANDS)


@pytest.mark.parametrize("entry", [each for each in COMMANDS if each.group], ids=lambda e: e.name)
def test_every_command_of_a_group_has_help(entry: Entry) -> None:
    for name in entry.load().commands:
        done = CliRunner().invoke(app, [entry.name, name, "--help"])
        assert done.exit_code == 0
        assert f"Usage: penstock {entry.name} {name} " in done.output


def test_a_command_that_is_spelt_wrongly_is_guessed() -> None:
    done = CliRunner().invoke(app, ["distribute"])
    assert done.exit_code == 2
    assert "Did you mean 'distributed'" in done.output


def test_commands_load_what_is_heavy_only_when_they_run() -> None:
    code = (
        "import sys, penstock.cli.main\n"
        "import penstock.cli.command_table as registry\n"
        "for section in registry.SECTIONS.values():\n"
        "    for entry in section: entry.load()\n"
        "heavy = {'pyspark', 'starlette', 'kafka', 'pyarrow', 'httpx', 'yaml'} & {*sys.modules}\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=patient(), check=False
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_distributed_without_file_and_variables_says_what_it_needs() -> None:
    result = run("distributed")
    assert result.returncode == 2
    assert "CONNECT_BOOTSTRAP_SERVERS" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_missing_worker_file_is_named(tmp_path: Path) -> None:
    result = run("standalone", str(tmp_path / "none.properties"))
    assert result.returncode == 2
    assert "none.properties" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_property_without_a_value_is_refused(tmp_path: Path) -> None:
    result = run("kafka", "--data-dir", str(tmp_path), "-p", "num.partitions")
    assert result.returncode == 2
    assert "KEY=VALUE" in result.stderr


def test_plugins_are_listed_and_broken_ones_told(tmp_path: Path) -> None:
    folder = tmp_path / "plugins"
    folder.mkdir()
    example = Path(__file__).parents[3] / "examples" / "plugins" / "insert_uuid.py"
    (folder / "insert_uuid.py").write_text(example.read_text())
    properties = tmp_path / "worker.properties"
    properties.write_text(f"plugin.path={folder}\n")
    result = run("plugins", str(properties))
    assert result.returncode == 0
    assert "transformation    1.0      insert_uuid.RecordInsertUuidKey\n" in result.stdout
    assert "com.github.cjmatta.kafka.connect.smt.InsertUuid$Value\n" in result.stdout
    assert "_InsertUuid" not in result.stdout
    (folder / "sick.py").write_text("1 / 0")
    result = run("plugins", str(properties))
    assert result.returncode == 1
    assert f"Plugin sick ({folder / 'sick.py'}) can't be loaded: ZeroDivisionError" in result.stderr
    assert "insert_uuid.RecordInsertUuidKey" in result.stdout


def test_errors_have_no_passwords(capsys: pytest.CaptureFixture[str]) -> None:
    complain("nobody answers at https://ann:geheim@connect")
    assert "https://ann:[hidden]@connect" in capsys.readouterr().err
