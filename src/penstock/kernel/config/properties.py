"""Reads users' files: Java's .properties, and connector files in either form of JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from penstock.kernel.errors import ConfigError

_BLANK: Final = " \t\f"
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_NAME: Final = "name"


@dataclass(frozen=True, slots=True)
class ConnectorFile:
    """A connector from a file; `initial_state` is None if the file has none."""

    name: str
    config: dict[str, str] = field(default_factory=dict)
    initial_state: str | None = None


def load_properties(path: Path) -> dict[str, str]:
    """Read a .properties file in Latin-1, as Java does; other letters are \\uXXXX.

    Raises:
        ConfigError: the file can't be read, or has a broken escape.
    """
    try:
        text = path.read_text(encoding="latin-1")
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error.strerror}") from error
    try:
        return parse_properties(text)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def parse_properties(text: str) -> dict[str, str]:
    """The properties in a text; the last of several equal keys wins."""
    return {key: value for _, key, value in numbered_properties(text)}


def numbered_properties(text: str) -> Iterator[tuple[int, str, str]]:
    """Each property of a text: the number of its line, its key and its value.

    Raises:
        ConfigError: a broken escape.
    """
    for number, line in _logical_lines(text):
        try:
            key, value = _pair(line)
        except ConfigError as error:
            raise ConfigError(f"line {number}: {error}") from error
        yield number, key, value


def load_connector_file(path: Path) -> ConnectorFile:
    """Read a connector's file: properties, a flat JSON object, or the body of a create request.

    Raises:
        ConfigError: the file can't be read, or has no name.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        text = ""
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error.strerror}") from error
    if path.suffix == ".json" or text.lstrip().startswith("{"):
        return _from_json(path, text)
    return _flat(path, load_properties(path))


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    line, first = "", 0
    naturals = _LINE_END.split(text)
    for number, natural in enumerate(naturals, start=1):
        part = natural.lstrip(_BLANK)
        if not line and (not part or part[0] in "#!"):
            continue
        first = number if not line else first
        line += part
        if not _continues(part):
            yield first, line
            line = ""
        elif number == len(naturals):
            yield first, line[:-1]
        else:
            line = line[:-1]
    if line and not _continues(naturals[-1]):
        yield first, line


def _continues(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _pair(line: str) -> tuple[str, str]:
    end = _key_end(line)
    rest = line[end:].lstrip(_BLANK)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANK)
    return _unescape(line[:end]), _unescape(rest)


def _key_end(line: str) -> int:
    at = 0
    while at < len(line) and line[at] not in "=:" + _BLANK:
        at += 2 if line[at] == "\\" else 1
    return min(at, len(line))


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    parts: list[str] = []
    at = 0
    while at < len(text):
        char, at = text[at], at + 1
        if char == "\\" and at < len(text):
            char, at = _escaped(text, at)
        parts.append(char)
    # Two \\u escapes may be the halves of one character beyond the basic plane.
    return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escaped(text: str, at: int) -> tuple[str, int]:
    char = text[at]
    if char != "u":
        return _ESCAPES.get(char, char), at + 1
    digits = text[at + 1 : at + 5]
    if not re.fullmatch(r"[0-9a-fA-F]{4}", digits):
        raise ConfigError(f"Malformed \\uxxxx encoding in {text!r}")
    return chr(int(digits, 16)), at + 5


def parse_connector(text: str, source: Path) -> ConnectorFile:
    """Read a connector from a text; errors name `source`.

    Raises:
        ConfigError: it is neither JSON nor properties, or has no name.
    """
    if text.lstrip().startswith("{"):
        return _from_json(source, text)
    try:
        return _flat(source, parse_properties(text))
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from error


def _from_json(path: Path, text: str) -> ConnectorFile:
    try:
        body = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{path}: not valid JSON: {error}") from error
    if not isinstance(body, dict):
        raise ConfigError(f"{path}: expected a JSON object with a connector's configuration")
    if isinstance(body.get("config"), dict):
        return _from_request(path, body)
    return _flat(path, _texts(path, body))


def _from_request(path: Path, body: dict[str, object]) -> ConnectorFile:
    config = _texts(path, body["config"])
    name = body.get(_NAME)
    if not isinstance(name, str):
        return _flat(path, config, body.get("initial_state"))
    if config.setdefault(_NAME, name) != name:
        raise ConfigError(
            f"Connector name configuration in 'config' doesn't match the one specified in 'name' "
            f"at '{path}'"
        )
    return _flat(path, config, body.get("initial_state"))


def _flat(path: Path, config: dict[str, str], state: object = None) -> ConnectorFile:
    if _NAME not in config:
        raise ConfigError(
            f"Connector configuration at '{path}' is missing the mandatory '{_NAME}' configuration"
        )
    return ConnectorFile(config[_NAME], config, state if isinstance(state, str) else None)


def _texts(path: Path, values: object) -> dict[str, str]:
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: 'config' must be a JSON object")
    return {name: _text(path, name, value) for name, value in values.items() if value is not None}


def _text(path: Path, name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        raise ConfigError(f"{path}: the value of {name} must be a string, a number or a boolean")
    return json.dumps(value)
