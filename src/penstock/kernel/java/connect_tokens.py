"""The tokens of Connect's text form of values: delimiters, and the texts between them."""

from __future__ import annotations

from typing import Final

#: What Java's String.trim() removes.
JAVA_SPACE: Final = "".join(map(chr, range(33)))
_DELIMITERS: Final = frozenset(':,{}[]"')


class Tokens:
    """Reads a text token by token; a delimiter after a backslash is part of its token."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._at = 0
        self._ahead: str | None = None

    def has_next(self) -> bool:
        return self._ahead is not None or self._at < len(self.text)

    def mark(self) -> int:
        """The position of the next token, for rewind()."""
        return self._at - len(self._ahead or "")

    def rewind(self, position: int) -> None:
        self._at = position
        self._ahead = None

    def next(self) -> str:
        token, self._ahead = self._ahead, None
        return self._consume() if token is None else token

    def next_many(self, count: int) -> str | None:
        """The text of several tokens; None, and nothing is read, if there are fewer."""
        start = self.mark()
        for _ in range(count):
            if not self.has_next():
                self.rewind(start)
                return None
            self.next()
        return self.text[start : self._at]

    def take(self, expected: str) -> bool:
        """Take the next token if it is this one; ignore white space around it."""
        if self._ahead is None:
            if not self.has_next():
                return False
            self._ahead = self._consume()
        while not self._ahead.strip(JAVA_SPACE) and self._at < len(self.text):
            self._ahead = self._consume()
        if self._ahead.strip(JAVA_SPACE) != expected:
            return False
        self._ahead = None
        return True

    def _consume(self) -> str:
        start, escaped = self._at, False
        while self._at < len(self.text):
            character = self.text[self._at]
            if character in _DELIMITERS and not escaped:
                self._at += start == self._at
                break
            escaped = character == "\\" and not escaped
            self._at += 1
        return self.text[start : self._at]
