"""ARCHITECTURE.md lists every room, in the order in which they may import each other."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "penstock"
#: Rooms of rooms: all that is in them is listed, not only themselves.
HOUSES = ("", "worker", "tools", "kernel")


def rooms_in(folder: Path) -> set[str]:
    modules = {each.stem for each in folder.glob("*.py") if not each.stem.startswith("__")}
    return modules | {each.parent.name for each in folder.glob("*/__init__.py")}


def listed() -> dict[str, list[str]]:
    """The rooms of each house as the document lists them, from the top down."""
    tree = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("## The tree")[1]
    found: dict[str, list[str]] = {house: [] for house in HOUSES}
    house = ""
    for indent, name in re.findall(r"^    (  )?(\w+) {2,}\S", tree, re.MULTILINE):
        house = house if indent else name
        found.setdefault(house if indent else "", []).append(name)
    return found


def layers() -> dict[str, list[set[str]]]:
    """The rooms of each house as the import contracts have them, a set for each layer."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    return {
        contract["containers"][0].removeprefix("penstock").removeprefix("."): [
            set(re.findall(r"\w+", re.sub(r"\(\w+\)", "", layer))) for layer in contract["layers"]
        ]
        for contract in contracts
        if contract["type"] == "layers"
    }


def test_every_room_is_listed_and_nothing_else() -> None:
    for house, names in listed().items():
        assert set(names) == rooms_in(SOURCE / house), house


def test_the_list_goes_the_way_that_imports_may_go() -> None:
    for house, names in listed().items():
        allowed = layers()[house]
        assert set().union(*allowed) == set(names), house
        depth = {name: number for number, layer in enumerate(allowed) for name in layer}
        assert [depth[name] for name in names] == sorted(depth[name] for name in names), house


def test_every_package_says_what_lives_there_and_what_it_may_import() -> None:
    for file in SOURCE.rglob("__init__.py"):
        said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        assert len(said.splitlines()) > 1, file
        assert "mport" in said, file


def test_modules_are_short() -> None:
    """But for tables of settings, which nobody reads from end to end."""
    tables = {"client_keys.py", "config.py", "worker.py"}
    for file in SOURCE.rglob("*.py"):
        lines = file.read_text(encoding="utf-8").count("\n")
        assert lines <= 400 or (lines <= 700 and file.name in tables), file


def test_functions_take_few_parameters() -> None:
    """But for commands, whose options are parameters, and `key`, whose parameters are a table."""
    long = [
        f"{file.relative_to(SOURCE)}:{found.lineno} {found.name}"
        for file, found in functions()
        if not any("command" in ast.unparse(each) for each in found.decorator_list)
        and (file.parent.name, found.name) not in {("config", "key"), ("cli", "reset")}
        and sum(map(len, (found.args.posonlyargs, found.args.args, found.args.kwonlyargs)))
        > (9 if {"self", "cls"} & {each.arg for each in found.args.args[:1]} else 8)
    ]
    assert long == []


def functions() -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield file, node
