"""Connector files, alone or in directories: JSON, YAML, properties and Python."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from penstock.kernel.config.properties import numbered_properties
from penstock.kernel.errors import ConfigError
from penstock.tools.manager.connector import Connector, Connectors, Problem, ProblemsError
from penstock.tools.manager.file_shapes import Form
from penstock.tools.manager.nodes import Entry, Node, Scalar, SyntaxProblemError, Table


def load(paths: str | Path | Iterable[str | Path]) -> Connectors:
    """The connectors in files and, recursively, in directories.

    In a directory, files of other kinds and those that begin with a dot or `_` are skipped.

    Raises:
        ProblemsError: with all problems of all files.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    problems: list[Problem] = []
    found: list[Connector] = []
    for file in connector_files(given, problems):
        found += _read(file, _READERS[file.suffix], problems)
    return _checked(found, problems)


def connectors(values: Any) -> Connectors:
    """Connectors from Python values, in any form that a Python connector file may have.

    Raises:
        ProblemsError: with all problems; the place is that of the call.
    """
    from penstock.tools.manager.python_file import value_node

    caller = sys._getframe(1)  # noqa: SLF001 - the place that errors name
    line = caller.f_lineno
    listed = values if isinstance(values, Mapping | Connector) else list(values)
    problems: list[Problem] = []
    file = Path(caller.f_code.co_filename)
    found = _read(file, lambda _: [value_node(listed, line)], problems)
    return _checked(found, problems)


def _checked(found: Sequence[Connector], problems: list[Problem]) -> Connectors:
    problems += _without_class(found)
    try:
        checked = Connectors(found)
    except ProblemsError as error:
        problems += error.problems
    if problems:
        raise ProblemsError(problems)
    return checked


def connector_files(paths: Iterable[str | Path], problems: list[Problem]) -> list[Path]:
    """The files to read, each once; adds a problem for each that can't be read."""
    found: dict[Path, Path] = {}
    for path in map(Path, paths):
        before = len(problems)
        files = _connector_files_in(path, problems) if path.is_dir() else [path]
        if not files and len(problems) == before:
            kinds = ", ".join(_READERS)
            problems.append(Problem(f"the directory has no connector files ({kinds})", path))
        for file in files:
            if file.suffix in _READERS:
                found.setdefault(file.resolve(), file)
            else:
                problems.append(Problem(_why_not(file), file))
    return list(found.values())


def _why_not(file: Path) -> str:
    if not file.exists():
        return "there is no such file or directory"
    return f"a connector file ends in one of {', '.join(_READERS)}"


def watched_files(paths: Iterable[str | Path]) -> list[Path]:
    """All files that the connectors of these paths may depend on, sorted."""
    found: set[Path] = set()
    for path in map(Path, paths):
        if path.is_dir():
            found.update(_walk(path, (".",), lambda *_: None, set()))
        else:
            found.add(path)
            found.update(path.parent.glob("*.py") if path.suffix == ".py" else ())
    return sorted(found)


def _connector_files_in(directory: Path, problems: list[Problem]) -> list[Path]:
    def failed(folder: Path, error: OSError) -> None:
        # If it were skipped silently, --prune would delete its connectors.
        problems.append(Problem(f"can't be read: {error.strerror}", folder))

    return list(_walk(directory, (".", "_"), failed, set()))


def _walk(
    directory: Path,
    passed_over: tuple[str, ...],
    failed: Callable[[Path, OSError], None],
    seen: set[Path],
) -> Iterator[Path]:
    """Files first, then directories, also linked ones, but each only once."""
    if directory.resolve() in seen:
        return
    seen.add(directory.resolve())
    try:
        found = [each for each in directory.iterdir() if not each.name.startswith(passed_over)]
    except OSError as error:
        failed(directory, error)
        return
    folders = sorted(each for each in found if each.is_dir())
    yield from sorted({each for each in found if each.suffix in _READERS}.difference(folders))
    for folder in folders:
        yield from _walk(folder, passed_over, failed, seen)


def _read(
    file: Path, reader: Callable[[Path], list[Node]], problems: list[Problem]
) -> list[Connector]:
    form = Form(file)
    try:
        found = form.connectors(reader(file))
    except SyntaxProblemError as error:
        problems.append(Problem(str(error), file, error.line))
        return []
    problems += form.problems
    return found


def _without_class(connectors: Iterable[Connector]) -> list[Problem]:
    return [
        each.problem("is missing; it names the connector's plugin", "connector.class")
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
    from penstock.tools.manager.json_nodes import read_json

    return [read_json(_text_of(file))]


def _yaml(file: Path) -> list[Node]:
    from penstock.tools.manager.yaml_nodes import read_yaml

    return read_yaml(_text_of(file))


def _python(file: Path) -> list[Node]:
    from penstock.tools.manager.python_file import read_python

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
