"""YAML with line numbers: anchors, merge keys, several documents; values as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import yaml

from penstock.tools.manager.nodes import Entry, Items, Node, Scalar, SyntaxProblemError, Table

_NULLS: Final = ("", "~", "null", "Null", "NULL")
_BOOLEANS: Final = {
    word: word.lower() for word in ("true", "True", "TRUE", "false", "False", "FALSE")
}
_MERGE: Final = "<<"
_DEEPEST: Final = 50
_TEXT: Final = "tag:yaml.org,2002:str"
_KNOWN: Final = (_TEXT, "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map")


class _Loader(yaml.SafeLoader):
    """Guesses no types: `no`, `1_000` and `12:30` are texts."""

    yaml_implicit_resolvers: dict[str, list[object]] = {}  # noqa: RUF012 - PyYAML's own form


def read_yaml(text: str) -> list[Node]:
    """The documents in a text; empty ones are left out.

    Raises:
        SyntaxProblemError: it is not YAML.
    """
    try:
        return [
            _Reader().node(document)
            for document in yaml.compose_all(text, _Loader)
            if document is not None and not _is_null(document)
        ]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = ", ".join(part for part in (error.context, error.problem) if part)
        at = "" if mark is None else f" (column {mark.column + 1})"
        line = None if mark is None else mark.line + 1
        raise SyntaxProblemError(f"not valid YAML: {message}{at}", line) from error
    except yaml.YAMLError as error:
        message = " ".join(str(error).split())
        raise SyntaxProblemError(f"not valid YAML: {message}", None) from error


class _Reader:
    """Converts PyYAML's nodes; one with many aliases is converted once."""

    def __init__(self) -> None:
        self._made: dict[yaml.Node, Node] = {}

    def node(self, node: yaml.Node, depth: int = 0) -> Node:
        if node not in self._made:
            self._made[node] = self._make(node, depth)
        return self._made[node]

    def _make(self, node: yaml.Node, depth: int) -> Node:
        line = node.start_mark.line + 1
        if depth > _DEEPEST:
            raise SyntaxProblemError("values are nested too deeply, or contain themselves", line)
        if node.tag not in _KNOWN and node.tag != "?":
            raise SyntaxProblemError(f"the tag {node.tag} is not supported", line)
        if isinstance(node, yaml.MappingNode):
            return self._table(node, depth)
        if isinstance(node, yaml.SequenceNode):
            return Items(line, [self.node(item, depth + 1) for item in node.value])
        return Scalar(line, _text(node) if isinstance(node, yaml.ScalarNode) else None)

    def _table(self, node: yaml.MappingNode, depth: int) -> Table:
        own: list[Entry] = []
        inherited: list[Entry] = []
        for key, value in node.value:
            if _is_merge(key):
                inherited += self._merged(value, depth)
            else:
                line = key.start_mark.line + 1
                own.append(Entry(line, _key(key), self.node(value, depth + 1)))
        return Table(node.start_mark.line + 1, own, list(_first_of_each(inherited)))

    def _merged(self, value: yaml.Node, depth: int) -> Iterator[Entry]:
        parts = value.value if isinstance(value, yaml.SequenceNode) else [value]
        for part in parts:
            found = self.node(part, depth + 1)
            if not isinstance(found, Table):
                line = part.start_mark.line + 1
                raise SyntaxProblemError("<< needs a mapping, or a list of mappings", line)
            yield from found


def _text(node: yaml.ScalarNode) -> str | None:
    text = str(node.value)
    if node.style is not None:
        return text
    return None if text in _NULLS else _BOOLEANS.get(text, text)


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and _text(node) is None


def _key(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise SyntaxProblemError("a key must be a text", node.start_mark.line + 1)
    return str(node.value)


def _is_merge(key: yaml.Node) -> bool:
    return isinstance(key, yaml.ScalarNode) and key.value == _MERGE and key.style is None


def _first_of_each(entries: list[Entry]) -> Iterator[Entry]:
    """If several merged mappings have a key, the first one wins."""
    seen: set[str] = set()
    for entry in entries:
        if entry.key not in seen:
            yield entry
        seen.add(entry.key)
