"""Converters and transformations describe what is to be done with columns; others run the jobs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import penstock

SOURCE = Path(penstock.__file__).parent
#: What makes Spark run something, or keep it.
ACTIONS = {
    "cache", "checkpoint", "collect", "foreach", "foreachPartition", "isEmpty", "localCheckpoint",
    "persist", "rdd", "save", "saveAsTable", "toArrow", "toLocalIterator", "toPandas",
}  # fmt: skip
#: Asks Spark's optimizer for a constant, which needs no job.
CONSTANTS = SOURCE / "columns" / "constants.py"


def actions_in(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & ACTIONS


@pytest.mark.parametrize("room", ["columns", "converters", "transforms"])
def test_no_job_is_run_here(room: str) -> None:
    found = {
        str(file.relative_to(SOURCE)): actions
        for file in (SOURCE / room).rglob("*.py")
        if file != CONSTANTS and (actions := actions_in(file))
    }
    assert found == {}


def test_an_action_would_be_seen() -> None:
    assert actions_in(CONSTANTS) == {"collect"}
