"""The files and programs in the guide work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock import manager
from tests.unit.manager.served import Served

GUIDE = Path(__file__).parents[3] / "docs" / "manager.md"
SUFFIXES = {"json": ".json", "yaml": ".yaml", "python": ".py"}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(), re.DOTALL)


@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("json", ["lines"]),
        ("yaml", ["jdbc_orders", "jdbc_audit"]),
        ("python", ["jdbc_orders", "jdbc_items", "jdbc_payments"]),
    ],
)
def test_files_of_the_guide(tmp_path: Path, language: str, names: list[str]) -> None:
    file = tmp_path / f"example{SUFFIXES[language]}"
    file.write_text(blocks(language)[0])
    assert list(manager.load(file)) == names


def test_the_program_of_the_guide(
    worker: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "connectors").mkdir()
    (tmp_path / "connectors" / "lines.json").write_text(blocks("json")[0])
    monkeypatch.chdir(tmp_path)
    program = blocks("python")[1].replace("http://localhost:8083", worker.url)
    exec(compile(program, "manager.md", "exec"), {})
    assert worker.stored("lines")["penstock.managed-by"] == "shop"
