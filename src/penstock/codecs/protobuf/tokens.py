"""The words of a .proto file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

from penstock.kernel.errors import DataError

_WORD: Final = re.compile(
    r"""
    (?P<space>   \s+ | //[^\n]* | /\*.*?\*/ )
  | (?P<text>    "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
  | (?P<name>    \.?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)* )
  | (?P<number>  (?:0[xX][0-9A-Fa-f]+ | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?) )
  | (?P<symbol>  [{}\[\]()<>=;,:.+\-/] )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9A-Fa-f]{1,2})|(.))", re.DOTALL)
_CONTROLS: Final = {
    b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """One word, its kind (text, name, number, symbol or end) and the line it stands on."""

    kind: str
    word: str
    line: int


class Tokens:
    """The words of a file, one after another."""

    def __init__(self, text: str) -> None:
        self._tokens = _split(text)
        self._at = 0

    @property
    def next(self) -> Token:
        return self._tokens[self._at]

    def take(self) -> Token:
        token = self.next
        if token.kind == "end":
            self.fail("more")
        self._at += 1
        return token

    def skip(self, *words: str) -> bool:
        """Take the next word if it is one of these; a text is none."""
        if self.next.kind == "text" or self.next.word not in words:
            return False
        self._at += 1
        return True

    def expect(self, word: str) -> None:
        if not self.skip(word):
            self.fail(f"'{word}'")

    def name(self) -> str:
        return self._of("name", "a name")

    def text(self) -> bytes:
        """A text; several in a row are one."""
        if self.next.kind != "text":
            self.fail("a text")
        raw = b""
        while self.next.kind == "text":
            raw += _unescaped(self.take().word[1:-1])
        return raw

    def integer(self) -> int:
        sign = -1 if self.skip("-") else 1
        word = self._of("number", "a number")
        try:
            octal = word.startswith("0") and word.isdecimal()
            return sign * int(word, 8 if octal else 0)
        except ValueError:
            self._at -= 1
            self.fail("a whole number")

    def fail(self, wanted: str) -> NoReturn:
        found = f"'{self.next.word}'" if self.next.kind != "end" else "the end of the file"
        raise DataError(
            f"Protobuf schema, line {self.next.line}: expected {wanted} but found {found}"
        )

    def _of(self, kind: str, wanted: str) -> str:
        if self.next.kind != kind:
            self.fail(wanted)
        return self.take().word


def _split(text: str) -> list[Token]:
    tokens: list[Token] = []
    at, line = 0, 1
    while at < len(text):
        found = _WORD.match(text, at)
        if found is None:
            raise DataError(f"Protobuf schema, line {line}: {text[at]!r} has no meaning here")
        if found.lastgroup != "space":
            tokens.append(Token(str(found.lastgroup), found.group(), line))
        line += found.group().count("\n")
        at = found.end()
    tokens.append(Token("end", "", line))
    return tokens


def _unescaped(text: str) -> bytes:
    def plain(found: re.Match[bytes]) -> bytes:
        octal, hexadecimal, character = found.groups()
        if octal:
            return bytes([int(octal, 8) & 0xFF])
        if hexadecimal:
            return bytes([int(hexadecimal, 16)])
        return _CONTROLS.get(character, bytes(character))

    return _ESCAPE.sub(plain, text.encode())
