"""The tree of errors in the docstring of `penstock.kernel.errors` is the tree of the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from penstock.kernel import errors

SOURCE = Path(errors.__file__).parents[1]
ROOT = "PenstockError"
#: Two spaces for each step down, the name, what is done about it, and the room if it is another.
LINE = r"^((?:  )*)(\w+Error)(?: .*?)?(?: \(([\w/]+)\))?$"


def drawn() -> dict[str, tuple[str, str]]:
    """Parent and room of each error in the docstring."""
    above: list[str] = []
    found: dict[str, tuple[str, str]] = {}
    lines = re.findall(
        r"^((?:  )*)(\w+Error)(?: .*?)?(?: \(([\w/]+)\))?$", errors.__doc__ or "", re.MULTILINE
    )
    for indent, name, room in lines:
        depth = len(indent) // 2
        del above[depth:]
        found[name] = (above[-1] if above else "Exception", room or "kernel/errors.py")
        above.append(name)
    return found


def written() -> dict[str, tuple[str, Path]]:
    """Base and file of each class whose name ends in Error."""
    return {
        node.name: (ast.unparse(node.bases[0]), file.relative_to(SOURCE))
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.bases and node.name.endswith("Error")
    }


def test_the_tree_is_drawn_as_it_is() -> None:
    classes = written()

    def is_ours(name: str) -> bool:
        return name == ROOT or (name in classes and is_ours(classes[name][0]))

    bases = {name: base for name, (base, _) in classes.items() if is_ours(name)}
    assert {name: parent for name, (parent, _) in drawn().items()} == bases


def test_each_error_is_in_the_room_that_the_tree_names() -> None:
    files = {name: file for name, (_, file) in written().items()}
    wrong = {
        name: str(files[name])
        for name, (_, room) in drawn().items()
        if not files[name].is_relative_to(room)
    }
    assert wrong == {}
