"""Whoever installs Penstock gets every library that it imports."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Come with others that need them: Starlette, Typer, Uvicorn and PySpark.
WITH_OTHERS = {"anyio", "click", "h11", "py4j"}


def imported() -> Iterator[str]:
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (each.name for each in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_library_is_among_the_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {canonical(re.split(r"[<>=\[ ]", each)[0]) for each in project["dependencies"]}
    distributions = packages_distributions()
    packages = {name.split(".")[0] for name in imported()}
    libraries = packages - set(sys.stdlib_module_names) - {"penstock"} - WITH_OTHERS
    assert len(libraries) > 10
    undeclared = {
        library
        for library in libraries
        if not {canonical(each) for each in distributions.get(library, ())} & declared
    }
    assert undeclared == set()
