"""Detects regular expressions that may take practically forever to match.

Java's and Python's engines try one way to read a text after the other. `(a+)+b` has more ways for
`aaaa…` than can be tried, and nothing stops an engine: such an expression is refused before.

The expression becomes an automaton (automaton.py), which says whether it can run away. Syntax that
is not parsed counts as any character, so a rare expression may be refused without need.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from penstock.kernel.java.automaton import ANY, OTHER, Graph, Piece, TooLargeError

#: Repetitions up to so many are expanded; more count as endless.
_WRITTEN_OUT: Final = 10

_WORD: Final = frozenset(ord(c) for c in map(chr, range(OTHER)) if c.isalnum() or c == "_")
_DIGIT: Final = frozenset(map(ord, "0123456789"))
_SPACE: Final = frozenset(map(ord, " \t\n\x0b\f\r"))
_CLASSES: Final = {"w": _WORD, "d": _DIGIT, "s": _SPACE}
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_NOTHING: Final = "bBAGzZE"  # escapes for a position, not for a character

_GROUP: Final = re.compile(
    r"\(\?(?:(?P<look><?[=!])|(?P<only>[a-zA-Z]*(?:-[a-zA-Z]*)?)\)|(?:<\w+>|>|[a-zA-Z-]*:))"
)
_COUNT: Final = re.compile(r"\{(\d+)(,(\d*))?\}")
_LONG_ESCAPE: Final = re.compile(
    r"\\(?:[pPxN]\{[^}]*\}|[pP].|k<\w+>|x..|u....|c.|0[0-7]{1,3})", re.DOTALL
)


@lru_cache(maxsize=1000)
def runaway_error(pattern: str) -> str | None:
    """Why an expression in Java's or Python's syntax must not be run; None if it may be."""
    try:
        reader = _Reader(pattern)
        return next(filter(None, map(Graph.error, (reader.graph(), *reader.looks))), None)
    except (TooLargeError, RecursionError):
        return "it is too long"


class _Reader:
    """Turns an expression of valid structure into an automaton."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._graph = Graph()
        self._any_case = re.search(r"\(\?[a-zA-Z]*i", text) is not None
        self.looks: list[Graph] = []

    def graph(self) -> Graph:
        return self._ended(self._graph)

    def _ended(self, graph: Graph) -> Graph:
        """Read up to the end of the expression or group into this automaton."""
        outer, self._graph = self._graph, graph
        # A state before all others: choices at the beginning count as well.
        start = graph.state(frozenset(), self._at)
        graph.last = graph.join(start, self._alternatives()).last
        self._graph = outer
        return graph

    def _alternatives(self) -> Piece:
        pieces = [self._sequence()]
        while self._next() == "|":
            self._at += 1
            pieces.append(self._sequence())
        return Piece(
            frozenset().union(*(piece.first for piece in pieces)),
            frozenset().union(*(piece.last for piece in pieces)),
            any(piece.nullable for piece in pieces),
        )

    def _sequence(self) -> Piece:
        whole = Piece()
        while self._next() not in ("", "|", ")"):
            whole = self._graph.join(whole, self._repeated())
        return whole

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _repeated(self) -> Piece:
        begin = self._at
        piece = self._atom()
        if (counts := self._count()) is None:
            return piece
        piece = self._times(piece, begin, *counts)
        while counts := self._count():  # Java allows a repetition of a repetition.
            self._graph.loop(piece)
            piece = Piece(piece.first, piece.last, piece.nullable or counts[0] == 0)
        return piece

    def _times(self, piece: Piece, begin: int, least: int, most: int | None) -> Piece:
        """The piece read from `begin` on, repeated `least` to `most` times."""
        if most is None or most > _WRITTEN_OUT:
            # An empty repetition counts too, so it matters which ones are empty.
            (self._graph.confuse if least > 1 and piece.nullable else self._graph.loop)(piece)
        else:
            after = self._at
            before = piece
            for number in range(1, most):
                self._at = begin
                copy = self._atom()
                # Only after the one before it, so that a text is not counted in several ways.
                before = self._graph.join(before, copy)
                last = before.last | piece.last if number >= least else before.last
                piece = Piece(piece.first | before.first, last, piece.nullable)
            self._at = after
        return Piece(piece.first, piece.last, piece.nullable or least == 0)

    def _count(self) -> tuple[int, int | None] | None:
        counts: tuple[int, int | None] | None
        if counted := _COUNT.match(self._text, self._at):
            self._at = counted.end()
            least = int(counted[1])
            counts = least, (int(counted[3]) if counted[3] else None) if counted[2] else least
        else:
            counts = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(self._next())
            self._at += counts is not None
        if counts is not None and self._next() in ("?", "+"):
            self._at += 1  # lazy or possessive
        return counts

    def _atom(self) -> Piece:
        char, place = self._next(), self._at
        if char == "(":
            return self._group()
        if char == "[":
            return self._graph.state(self._class(), place)
        if char == "\\":
            return self._escape()
        self._at += 1
        if char in "^$":
            return Piece()
        return self._graph.state(ANY if char == "." else self._of(char), place)

    def _group(self) -> Piece:
        found = _GROUP.match(self._text, self._at)
        self._at = found.end() if found else self._at + 1
        if found and found["only"] is not None:
            return Piece()
        if found and found["look"]:
            self.looks.append(self._ended(Graph()))
            piece = Piece()
        else:
            piece = self._alternatives()
        self._at += 1  # the bracket that closes it
        return piece

    def _escape(self) -> Piece:
        place = self._at
        if self._text.startswith("\\Q", place):
            return self._quoted()
        chars = self._escaped()
        if chars is not None:
            return self._graph.state(chars, place)
        if self._text[place + 1 : place + 2] in _NOTHING:
            return Piece()
        # A reference to a group: any text.
        again = self._graph.state(ANY, place)
        self._graph.loop(again)
        return Piece(again.first, again.last)

    def _escaped(self) -> frozenset[int] | None:
        """The characters of an escape; None if it is a position or a reference to a group."""
        long = _LONG_ESCAPE.match(self._text, self._at)
        char = self._text[self._at + 1 : self._at + 2]
        self._at = long.end() if long else self._at + 2
        if long:
            return None if char == "k" else ANY
        if char.lower() in _CLASSES:
            known = _CLASSES[char.lower()]
            return known if char.islower() else ANY - known
        if char in _CONTROLS:
            return self._of(_CONTROLS[char])
        if char in _NOTHING or char.isdigit():
            return None
        return ANY if char.isalpha() else self._of(char)

    def _quoted(self) -> Piece:
        end = self._text.find("\\E", self._at + 2)
        end = len(self._text) if end < 0 else end
        whole = Piece()
        for place in range(self._at + 2, end):
            piece = self._graph.state(self._of(self._text[place]), place)
            whole = self._graph.join(whole, piece)
        self._at = end + 2
        return whole

    def _class(self) -> frozenset[int]:
        self._at += 1
        negated = self._next() == "^"
        self._at += negated
        chars, simple, begin = set[int](), True, self._at
        while self._next() and (self._next() != "]" or self._at == begin):
            if self._next() == "[" or self._text.startswith("&&", self._at):
                simple = False
            if self._next() == "[":
                self._class()
            else:
                chars |= self._range()
        self._at += 1
        if not simple:
            return ANY
        return ANY - (chars - {OTHER}) if negated else frozenset(chars)

    def _range(self) -> frozenset[int]:
        low = self._one_of_class()
        if self._next() != "-" or self._text[self._at + 1 : self._at + 2] in ("]", "", "["):
            return low
        self._at += 1
        high = self._one_of_class()
        if not low or not high:
            return ANY
        return self._of(*map(chr, range(min(low), min(max(high), OTHER) + 1)))

    def _one_of_class(self) -> frozenset[int]:
        if self._next() == "\\":
            return self._escaped() or ANY
        self._at += 1
        return self._of(self._text[self._at - 1])

    def _of(self, *chars: str) -> frozenset[int]:
        cases = {case for c in chars for case in ((c.lower(), c.upper()) if self._any_case else c)}
        return frozenset(min(ord(each[0]), OTHER) for each in cases)
