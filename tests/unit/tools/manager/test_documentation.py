"""The files and programs in the guide work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock import manager
from penstock.kernel.config.properties import load_properties
from penstock.kernel.config.providers import resolver
from penstock.plugins import BUILT_IN, Plugins
from penstock.worker.herder.validation import Validation
from tests.unit.tools.manager.served import Served
from tests.unit.worker.herder.harness import SETTINGS

GUIDE = Path(__file__).parents[4] / "docs" / "manager.md"
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


def test_the_files_of_the_guide_are_valid_on_a_worker_with_its_lines(tmp_path: Path) -> None:
    lines, file = tmp_path / "worker.properties", tmp_path / "example.yaml"
    lines.write_text(blocks("properties")[0])
    file.write_text(blocks("yaml")[0])
    providers = resolver(load_properties(lines), {"SHOP_PASSWORD": "hunter2"})
    validation = Validation(Plugins(BUILT_IN), SETTINGS, providers)
    for each in manager.load(file).values():
        config = {**each.config, "name": each.name}
        assert validation.validate(config).errors_by_key() == {}
        assert providers.resolve(config)["connection.password"] == "hunter2"


def test_the_program_of_the_guide(
    worker: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "connectors").mkdir()
    (tmp_path / "connectors" / "lines.json").write_text(blocks("json")[0])
    monkeypatch.chdir(tmp_path)
    program = blocks("python")[1].replace("http://localhost:8083", worker.url)
    exec(compile(program, "manager.md", "exec"), {})
    assert worker.stored("lines")["penstock.managed-by"] == "shop"
