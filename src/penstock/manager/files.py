"""Connector files, alone or in directories: JSON, YAML, properties and Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from penstock.config.properties import numbered_properties
from penstock.errors import ConfigError
from penstock.manager.connector import Connector, Connectors, Problem, ProblemsError
from penstock.manager.forms import Form
from penstock.manager.nodes import Entry, Node, Scalar, SyntaxProblemError, Table


def load(paths: str | Path | Iterable[str | Path]) -> Connectors:
    """The connectors in files and, recursively, in directories.

    In a directory, files of other kinds and those that begin with a dot or `_` are passed over.

    Raises:
        ProblemsError: with all that is wrong, in all files.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    problems: list[Problem] = []
    found: list[Connector] = []
    for file in connector_files(given, problems):
        found += _read(file, problems)
    problems += _without_class(found)
    try:
        connectors = Connectors(found)
    except ProblemsError as error:
        problems += error.problems
    if problems:
        raise ProblemsError(problems)
    return connectors


def connector_files(paths: Iterable[str | Path], problems: list[Problem]) -> list[Path]:
    """The files to read, each once; what can't be read is added to the problems."""
    found: dict[Path, Path] = {}
    for path in map(Path, paths):
        files = list(_in_directory(path)) if path.is_dir() else [path]
        if not files:
            kinds = ", ".join(_READERS)
            problems.append(Problem(f"the directory has no connector files ({kinds})", path))
        for file in files:
            if file.suffix in _READERS:
                found.setdefault(file.resolve(), file)
            else:
                told = f"a connector file ends in one of {', '.join(_READERS)}"
                problems.append(Problem(told, file))
    return list(found.values())


def _in_directory(directory: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(directory):
        folders[:] = sorted(name for name in folders if not _is_passed_over(name))
        for name in sorted(files):
            if not _is_passed_over(name) and Path(name).suffix in _READERS:
                yield Path(folder) / name


def _is_passed_over(name: str) -> bool:
    return name.startswith((".", "_"))


def _read(file: Path, problems: list[Problem]) -> list[Connector]:
    form = Form(file)
    try:
        documents = _READERS[file.suffix](file)
        found = form.connectors(documents)
    except SyntaxProblemError as error:
        problems.append(Problem(str(error), file, error.line))
        return []
    problems += form.problems
    return found


def _without_class(connectors: Iterable[Connector]) -> list[Problem]:
    return [
        each.problem("is missing; it says what the connector is", "connector.class")
        for each in connectors
        if not each.plugin
    ]


def _text_of(file: Path, encoding: str = "utf-8-sig") -> str:
    try:
        return file.read_text(encoding=encoding)
    except OSError as error:
        raise SyntaxProblemError(f"can't be read: {error.strerror}", None) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise SyntaxProblemError("the file is not UTF-8", line) from error


def _json(file: Path) -> list[Node]:
    from penstock.manager.json_nodes import read_json

    return [read_json(_text_of(file))]


def _yaml(file: Path) -> list[Node]:
    from penstock.manager.yaml_nodes import read_yaml

    return read_yaml(_text_of(file))


def _python(file: Path) -> list[Node]:
    from penstock.manager.python_file import read_python

    return read_python(file, _text_of(file))


def _properties(file: Path) -> list[Node]:
    """Latin-1, as Java reads them."""
    try:
        found = list(numbered_properties(_text_of(file, "latin-1")))
    except ConfigError as error:
        raise SyntaxProblemError(str(error), None) from error
    return [Table(1, [Entry(line, key, Scalar(line, value)) for line, key, value in found])]


_READERS: Final[Mapping[str, Callable[[Path], list[Node]]]] = {
    ".json": _json,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".properties": _properties,
    ".py": _python,
}
