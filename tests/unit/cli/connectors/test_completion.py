"""What the shell completes, asked as the shell asks."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from penstock.ports import free_port
from tests.unit.cli.connectors.conftest import Cluster
from tests.unit.cli.run import penstock

# The name by which the shell knows the program decides the variable that it looks at.
PENSTOCK = "import sys; sys.argv[0] = 'penstock'; from penstock.cli.main import main; main()"


def completed(line: str, **variables: str) -> list[str]:
    """The candidates for the last word of a line, from the script of bash."""
    words = line.split(" ")
    done = subprocess.run(
        [sys.executable, "-c", PENSTOCK],
        env={
            **os.environ,
            "_PENSTOCK_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
            **variables,
        },
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.fixture
def named(cluster: Cluster) -> Cluster:
    penstock("context", "set", "here", "--connect", cluster.url)
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
    assert time.monotonic() - begun < 10
    Path(os.environ["PENSTOCK_CONFIG"]).write_text("no toml")
    assert completed("penstock pause j") == []
    assert completed("penstock context use n") == []
