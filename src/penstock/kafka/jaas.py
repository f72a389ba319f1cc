"""Parses `sasl.jaas.config`, a Java login module as text, for clients that are not Java."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from penstock.kernel.errors import ConfigError

_KEY: Final = "sasl.jaas.config"
_TOKEN: Final = re.compile(
    r"""\s*(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'"""
    r"""|(?P<sign>[=;])|(?P<word>[^\s=;"']+))""",
    re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\([0-3][0-7]{2}|[0-7]{1,2}|.)", re.DOTALL)
_CONTROL: Final = {
    "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v",
}  # fmt: skip
_FLAGS: Final = frozenset({"required", "requisite", "sufficient", "optional"})


@dataclass(frozen=True, slots=True)
class LoginModule:
    """One login module: its class name and its options, which hold secrets."""

    name: str
    options: Mapping[str, str] = field(repr=False)

    @property
    def kind(self) -> str:
        """The class name without its package."""
        return self.name.rpartition(".")[2]


def parse_jaas(text: str) -> LoginModule:
    """The one login module of a `sasl.jaas.config`. No error contains the text itself."""
    tokens = _tokens(text)
    if len(tokens) < 3 or tokens[1].lower() not in _FLAGS:
        raise _wrong("it must start with a login module class and 'required'")
    if tokens[-1] != ";":
        raise _wrong("it must end with a semicolon")
    return LoginModule(tokens[0], _options(tokens[2:-1]))


def _options(tokens: list[str]) -> dict[str, str]:
    if ";" in tokens:
        raise _wrong("only one login module may be given")
    if len(tokens) % 3 or any(sign != "=" for sign in tokens[1::3]):
        raise _wrong('options must have the form name="value"')
    return dict(zip(tokens[0::3], tokens[2::3], strict=True))


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise _wrong("a quote is not closed")
        tokens.append(_token(match))
        position = match.end()
    return tokens


def _token(match: re.Match[str]) -> str:
    for group in ("double", "single"):
        quoted = match.group(group)
        if quoted is not None:
            return _ESCAPE.sub(_unescape, quoted)
    return match.group("sign") or match.group("word")


def _unescape(match: re.Match[str]) -> str:
    escaped = match.group(1)
    if escaped.isdigit() and escaped < "8":
        return chr(int(escaped, 8))
    return _CONTROL.get(escaped, escaped)


def _wrong(rule: str) -> ConfigError:
    message = f"Invalid value [hidden] for configuration {_KEY}: {rule}"
    return ConfigError(message, {_KEY: (message,)})
