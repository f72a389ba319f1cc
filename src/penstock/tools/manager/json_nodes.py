"""JSON with line numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from penstock.kernel.wire.json import comment_hint
from penstock.tools.manager.nodes import Entry, Items, Node, Scalar, SyntaxProblemError, Table

# Only used on valid JSON, so it need not be strict.
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def read_json(text: str) -> Node:
    """The document in a text.

    Raises:
        SyntaxProblemError: it is not JSON.
    """
    try:
        json.loads(text, parse_constant=_refuse)
        return _Reader(_tokens(text)).node()
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg} (column {error.colno}){comment_hint(error)}"
        raise SyntaxProblemError(message, error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise SyntaxProblemError(f"not valid JSON: {error}", None) from error


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON value")


@dataclass(frozen=True, slots=True)
class _Token:
    line: int
    text: str


def _tokens(text: str) -> Iterator[_Token]:
    line, end = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", end, match.start())
        end = match.start()
        yield _Token(line, match.group())


class _Reader:
    """Reads the tokens of a valid document."""

    def __init__(self, tokens: Iterator[_Token]) -> None:
        self._tokens = tokens

    def node(self) -> Node:
        return self._node(next(self._tokens))

    def _node(self, token: _Token) -> Node:
        if token.text == "{":
            return Table(token.line, list(self._entries()))
        if token.text == "[":
            return Items(token.line, list(self._items()))
        return Scalar(token.line, _text(token.text))

    def _entries(self) -> Iterator[Entry]:
        token = next(self._tokens)
        while token.text != "}":
            if token.text != ",":
                next(self._tokens)  # the colon
                yield Entry(token.line, json.loads(token.text), self.node())
            token = next(self._tokens)

    def _items(self) -> Iterator[Node]:
        token = next(self._tokens)
        while token.text != "]":
            if token.text != ",":
                yield self._node(token)
            token = next(self._tokens)


def _text(token: str) -> str | None:
    """Numbers and booleans stay as they are written."""
    if token == "null":  # noqa: S105 - a token of JSON
        return None
    return str(json.loads(token)) if token.startswith('"') else token
