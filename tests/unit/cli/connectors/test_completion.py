"""What the shell completes, asked as the shell asks."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from penstock.machine.free_ports import free_port
from penstock.testing.waiting import patient
from tests.unit.cli.connectors.conftest import Cluster
from tests.unit.cli.run import penstock

SHELL = """
eval "$(_PENSTOCK_COMPLETE=source_bash penstock)"
COMP_WORDS=({line}) COMP_CWORD={number}
_penstock_completion penstock
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`penstock` on the PATH, as an installation puts it there."""
    script = tmp_path / "bin" / "penstock"
    script.parent.mkdir()
    script.write_text(
        f"#!{sys.executable}\nfrom penstock.cli.main import main\n\nmain()\n", encoding="utf-8"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")


def completed(line: str, **variables: str) -> list[str]:
    """What bash would show for the last word of a line."""
    words = [f"'{word}'" for word in line.split(" ")]
    done = subprocess.run(
        ["bash", "-c", SHELL.format(line=" ".join(words), number=len(words) - 1)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=patient(),
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.fixture
def named(cluster: Cluster, program: None) -> Cluster:
    penstock("context", "set", "here", "--connect", cluster.url, "--use")
    penstock("context", "set", "nowhere", "--connect", f"http://127.0.0.1:{free_port()}")
    penstock("context", "use", "here")
    cluster.create("jdbc_a", "jdbc_b", "files")
    return cluster


def test_commands(named: Cluster) -> None:
    assert completed("penstock re") == ["resume", "restart"]
    assert completed("penstock context us") == ["use"]


def test_connectors(named: Cluster) -> None:
    assert completed("penstock pause jd") == ["jdbc_a", "jdbc_b"]
    assert completed("penstock pause jdbc_a jd") == ["jdbc_b"]
    assert completed("penstock patch fi") == ["files"]
    assert completed("penstock get ") == ["files", "jdbc_a", "jdbc_b"]
    assert completed(f"penstock get --connect {named.url} f", PENSTOCK_CONTEXT="nowhere") == [
        "files"
    ]


def test_contexts(named: Cluster) -> None:
    assert completed("penstock context use no") == ["nowhere"]
    assert completed("penstock get --context h") == ["here"]


def test_nothing_is_said_when_nothing_is_known(named: Cluster) -> None:
    begun = time.monotonic()
    assert completed("penstock pause j", PENSTOCK_CONTEXT="nowhere") == []
    assert completed("penstock pause j", PENSTOCK_CONTEXT="unknown") == []
    assert time.monotonic() - begun < patient(10)
    Path(os.environ["PENSTOCK_CONFIG"]).write_text("no toml")
    assert completed("penstock pause j") == []
    assert completed("penstock context use n") == []
