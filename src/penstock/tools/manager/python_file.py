"""Connector files in Python: a module with `connectors`, a function or a value."""

from __future__ import annotations

import ast
import contextlib
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from penstock.tools.manager.connector import Connector
from penstock.tools.manager.nodes import Entry, Items, Node, Scalar, SyntaxProblemError, Table

_NAMES: Final = ("connectors", "CONNECTORS")
# A mapping with one of these is a connector or a document; any other maps names to connectors.
_OWN_KEYS: Final = frozenset({"name", "config", "connector.class", "connectors", "defaults"})
_importing = threading.Lock()


def read_python(file: Path, text: str) -> list[Node]:
    """The documents of a module.

    Raises:
        SyntaxProblemError: it can't be compiled, raises an error, or returns something else.
    """
    try:
        tree = ast.parse(text, str(file))
        code = compile(tree, str(file), "exec")
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        message = getattr(error, "msg", None) or str(error)
        raise SyntaxProblemError(f"not valid Python: {message}", line) from error
    line = _line_of_connectors(tree)
    module = ModuleType(f"_connectors_{file.stem}")
    module.__file__ = str(file)
    with _importing, _importable(file.parent):
        # Dataclasses look their module up; it is removed with the others of its folder.
        sys.modules[module.__name__] = module
        _run(file, lambda: exec(code, module.__dict__))  # noqa: S102 - the user's own module
        given = _given(file, module)
    return [value_node(given, line)]


def _given(file: Path, module: ModuleType) -> Any:
    name = next((each for each in _NAMES if hasattr(module, each)), None)
    if name is None:
        raise SyntaxProblemError(
            "the module has no connectors: define a function connectors(), or a value of that "
            "name; a module that others import begins with _",
            1,
        )
    found = getattr(module, name)
    return _run(file, lambda: _unrolled(found() if callable(found) else found))


def _unrolled(found: Any) -> Any:
    """Run a generator here, where its errors are caught."""
    return found if isinstance(found, Mapping | Connector | str) else _listed(found)


def _listed(found: Any) -> Any:
    return list(found) if isinstance(found, Iterable) else found


def _run(file: Path, work: Callable[[], Any]) -> Any:
    try:
        # Standard output belongs to the command: a module's prints must not get into its JSON.
        with contextlib.redirect_stdout(sys.stderr):
            return work()
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        raise SyntaxProblemError(message, _failing_line(file, error)) from error
    except SystemExit as error:
        raise SyntaxProblemError(f"the module ends the program ({error.code})", 1) from error


def _failing_line(file: Path, error: Exception) -> int | None:
    """The innermost line of the module itself."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == str(file)), None)


def _line_of_connectors(tree: ast.Module) -> int:
    """The line that defines `connectors`."""
    for statement in tree.body:
        if _names_of(statement) & set(_NAMES):
            return statement.lineno
    return 1


def _names_of(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef):
        return {statement.name}
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}


@contextlib.contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let the file import modules of its folder, and unload them afterwards.

    So two folders may each have a module of the same name, and a changed one is read again.
    """
    folder = folder.resolve()
    known, writes = set(sys.modules), sys.dont_write_bytecode
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes
        sys.path.remove(str(folder))
        for name in set(sys.modules) - known:
            if _is_in(folder, sys.modules[name]):
                del sys.modules[name]
        sys.path_importer_cache.pop(str(folder), None)


def _is_in(folder: Path, module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve().is_relative_to(folder)


# ----------------------------------------------------------------------------- values as nodes


def value_node(value: Any, line: int) -> Node:
    """Connectors as Python values, in any of the forms of a document.

    Raises:
        SyntaxProblemError: a value is not a text, number, boolean, list or mapping.
    """
    if isinstance(value, Mapping) and not _OWN_KEYS.intersection(value):
        return Table(line, [Entry(line, "connectors", _node(value, line))])
    return _node(value, line)


def _node(value: Any, line: int) -> Node:
    if isinstance(value, Connector):
        return _envelope(value, line)
    if isinstance(value, Mapping):
        return Table(line, [_entry(key, each, line) for key, each in value.items()])
    if isinstance(value, list | tuple):
        return Items(line, [_node(each, line) for each in value])
    return Scalar(line, _text(value, line))


def _entry(key: Any, value: Any, line: int) -> Entry:
    if not isinstance(key, str):
        raise SyntaxProblemError(f"the key {key!r} is not a text", line)
    return Entry(line, key, _node(value, line))


def _envelope(connector: Connector, line: int) -> Table:
    parts = {"name": connector.name, "config": connector.config}
    if connector.state is not None:
        parts["initial_state" if connector.initial_only else "state"] = str(connector.state)
    return Table(line, [_entry(key, value, line) for key, value in parts.items()])


def _text(value: Any, line: int) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    text = f"{value!r:.60} is a {type(value).__name__}; expected a text, number, boolean or list"
    raise SyntaxProblemError(text, line)
