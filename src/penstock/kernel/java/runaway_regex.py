"""Detects regular expressions that may take practically forever to match.

Java's and Python's engines try one way to read a text after the other. `(a+)+b` has more ways for
`aaaa…` than can be tried, and nothing stops an engine: such an expression is refused before.

The expression becomes an automaton whose states are its characters (Glushkov's construction). It
is exponential if two paths lead from a state back to it over the same text, and slow if too many
loops in a row take the same characters. Syntax that is not parsed counts as any character, so
a rare expression may be refused without need.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Final, TypeVar

#: Loops in a row over the same characters: a name of 249 can be read in 160 million ways.
MOST_LOOPS: Final = 4
#: Repetitions up to so many are expanded; more count as endless.
_WRITTEN_OUT: Final = 10
_MOST_STATES: Final = 2000
_MOST_IN_LOOP: Final = 200

_OTHER: Final = 128  # stands for every character that is not ASCII
_ANY: Final = frozenset(range(_OTHER + 1))
_WORD: Final = frozenset(ord(c) for c in map(chr, range(_OTHER)) if c.isalnum() or c == "_")
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

Node = TypeVar("Node", bound=Hashable)


@lru_cache(maxsize=1000)
def runaway_error(pattern: str) -> str | None:
    """Why an expression in Java's or Python's syntax must not be run; None if it may be."""
    try:
        reader = _Reader(pattern)
        return next(filter(None, map(_Graph.error, (reader.graph(), *reader.looks))), None)
    except (_TooLargeError, RecursionError):
        return "it is too long"


class _TooLargeError(Exception):
    pass


@dataclass(frozen=True, slots=True)
class _Piece:
    """States in which a part of an expression may begin and end, and whether it may be empty."""

    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    nullable: bool = True


@dataclass(slots=True)
class _Graph:
    """The automaton.

    Attributes:
        chars: the characters of each state.
        places: its index in the expression.
        follow: the states that may come after it.
        twice: steps that the expression allows in more than one way.
        last: the states in which a text may end.
    """

    chars: list[frozenset[int]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    follow: list[set[int]] = field(default_factory=list)
    twice: set[tuple[int, int]] = field(default_factory=set)
    last: frozenset[int] = frozenset()

    def state(self, chars: frozenset[int], place: int) -> _Piece:
        if len(self.chars) >= _MOST_STATES:
            raise _TooLargeError
        self.chars.append(chars)
        self.places.append(place)
        self.follow.append(set())
        only = frozenset({len(self.chars) - 1})
        return _Piece(only, only, nullable=False)

    def join(self, before: _Piece, after: _Piece) -> _Piece:
        self._connect(before.last, after.first)
        return _Piece(
            before.first | after.first if before.nullable else before.first,
            before.last | after.last if after.nullable else after.last,
            before.nullable and after.nullable,
        )

    def loop(self, body: _Piece) -> None:
        self._connect(body.last, body.first)

    def confuse(self, body: _Piece) -> None:
        """Note that the body may match in more ways than its states show."""
        self.loop(body)
        self.loop(body)

    def _connect(self, sources: Iterable[int], targets: Iterable[int]) -> None:
        for source, target in product(sources, targets):
            if target in self.follow[source]:
                self.twice.add((source, target))
            self.follow[source].add(target)

    def error(self) -> str | None:
        loops = [
            loop
            for loop in _components(range(len(self.chars)), lambda state: self.follow[state])
            if len(loop) > 1 or loop[0] in self.follow[loop[0]]
        ]
        for loop in loops:
            if self._is_ambiguous(frozenset(loop)):
                place = min(self.places[state] for state in loop)
                return (
                    f"the repetition near index {place} can match the same text in too many ways;"
                    " let each repetition begin or end with a character that nothing else matches"
                )
        if self._most_in_a_row(loops) > MOST_LOOPS:
            return (
                f"more than {MOST_LOOPS} unlimited repetitions may match the same characters;"
                " use fewer of them, or narrower classes of characters"
            )
        return None

    def _is_ambiguous(self, loop: frozenset[int]) -> bool:
        if any(source in loop and target in loop for source, target in self.twice):
            return True
        if len(loop) > _MOST_IN_LOOP:
            raise _TooLargeError

        def steps(pair: tuple[int, int]) -> Iterator[tuple[int, int]]:
            for one, other in product(*(self.follow[state] & loop for state in pair)):
                if self.chars[one] & self.chars[other]:
                    yield one, other

        same = [(state, state) for state in loop]
        return any(
            any(one == other for one, other in group) and any(one != other for one, other in group)
            for group in _components(same, steps)
        )

    def _most_in_a_row(self, loops: Sequence[list[int]]) -> int:
        """The longest chain of loops that may split the same text in many ways."""
        chars = [frozenset[int]().union(*(self.chars[state] for state in loop)) for loop in loops]
        lengths: list[int] = []
        for number, loop in enumerate(loops):
            # _components() returns the later ones first.
            after = (
                lengths[later]
                for later in range(number)
                if loops[later][0] in self._reachable(loop, chars[number] & chars[later])
            )
            lengths.append(max(after, default=0) + (not self._takes_the_rest(loop)))
        return max(lengths, default=0)

    def _takes_the_rest(self, loop: list[int]) -> bool:
        """Whether it takes all text up to the end, so that no other match is tried."""
        return len(loop) == 1 and loop[0] in self.last and self.chars[loop[0]] == _ANY

    def _reachable(self, states: Iterable[int], chars: frozenset[int]) -> set[int]:
        """The states that can be reached from there with these characters."""
        found, waiting = set[int](), list(states)
        while waiting:
            new = {each for each in self.follow[waiting.pop()] if self.chars[each] & chars} - found
            found |= new
            waiting += new
        return found


class _Reader:
    """Turns an expression of valid structure into an automaton."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._graph = _Graph()
        self._any_case = re.search(r"\(\?[a-zA-Z]*i", text) is not None
        self.looks: list[_Graph] = []

    def graph(self) -> _Graph:
        self._graph.last = self._alternatives().last
        return self._graph

    def _alternatives(self) -> _Piece:
        pieces = [self._sequence()]
        while self._next() == "|":
            self._at += 1
            pieces.append(self._sequence())
        return _Piece(
            frozenset().union(*(piece.first for piece in pieces)),
            frozenset().union(*(piece.last for piece in pieces)),
            any(piece.nullable for piece in pieces),
        )

    def _sequence(self) -> _Piece:
        whole = _Piece()
        while self._next() not in ("", "|", ")"):
            whole = self._graph.join(whole, self._repeated())
        return whole

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _repeated(self) -> _Piece:
        begin = self._at
        piece = self._atom()
        if (counts := self._count()) is None:
            return piece
        piece = self._times(piece, begin, *counts)
        while counts := self._count():  # Java allows a repetition of a repetition.
            self._graph.loop(piece)
            piece = _Piece(piece.first, piece.last, piece.nullable or counts[0] == 0)
        return piece

    def _times(self, piece: _Piece, begin: int, least: int, most: int | None) -> _Piece:
        """The piece read from `begin` on, repeated `least` to `most` times."""
        if most is None or most > _WRITTEN_OUT:
            # An empty repetition counts too, so it matters which ones are empty.
            (self._graph.confuse if least > 1 and piece.nullable else self._graph.loop)(piece)
        else:
            after = self._at
            for number in range(1, most):
                self._at = begin
                copy = self._atom()
                optional = _Piece(copy.first, copy.last, copy.nullable or number >= least)
                piece = self._graph.join(piece, optional)
            self._at = after
        return _Piece(piece.first, piece.last, piece.nullable or least == 0)

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

    def _atom(self) -> _Piece:
        char, place = self._next(), self._at
        if char == "(":
            return self._group()
        if char == "[":
            return self._graph.state(self._class(), place)
        if char == "\\":
            return self._escape()
        self._at += 1
        if char in "^$":
            return _Piece()
        return self._graph.state(_ANY if char == "." else self._of(char), place)

    def _group(self) -> _Piece:
        found = _GROUP.match(self._text, self._at)
        self._at = found.end() if found else self._at + 1
        if found and found["only"] is not None:
            return _Piece()
        if found and found["look"]:
            outer, self._graph = self._graph, _Graph()
            self._alternatives()
            self.looks.append(self._graph)
            self._graph = outer
            piece = _Piece()
        else:
            piece = self._alternatives()
        self._at += 1  # the bracket that closes it
        return piece

    def _escape(self) -> _Piece:
        place = self._at
        if self._text.startswith("\\Q", place):
            return self._quoted()
        chars = self._escaped()
        if chars is not None:
            return self._graph.state(chars, place)
        if self._text[place + 1 : place + 2] in _NOTHING:
            return _Piece()
        # A reference to a group: any text.
        again = self._graph.state(_ANY, place)
        self._graph.loop(again)
        return _Piece(again.first, again.last)

    def _escaped(self) -> frozenset[int] | None:
        """The characters of an escape; None if it is a position or a reference to a group."""
        long = _LONG_ESCAPE.match(self._text, self._at)
        char = self._text[self._at + 1 : self._at + 2]
        self._at = long.end() if long else self._at + 2
        if long:
            return None if char == "k" else _ANY
        if char.lower() in _CLASSES:
            known = _CLASSES[char.lower()]
            return known if char.islower() else _ANY - known
        if char in _CONTROLS:
            return self._of(_CONTROLS[char])
        if char in _NOTHING or char.isdigit():
            return None
        return _ANY if char.isalpha() else self._of(char)

    def _quoted(self) -> _Piece:
        end = self._text.find("\\E", self._at + 2)
        end = len(self._text) if end < 0 else end
        whole = _Piece()
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
            return _ANY
        return _ANY - (chars - {_OTHER}) if negated else frozenset(chars)

    def _range(self) -> frozenset[int]:
        low = self._one_of_class()
        if self._next() != "-" or self._text[self._at + 1 : self._at + 2] in ("]", "", "["):
            return low
        self._at += 1
        high = self._one_of_class()
        if not low or not high:
            return _ANY
        return self._of(*map(chr, range(min(low), min(max(high), _OTHER) + 1)))

    def _one_of_class(self) -> frozenset[int]:
        if self._next() == "\\":
            return self._escaped() or _ANY
        self._at += 1
        return self._of(self._text[self._at - 1])

    def _of(self, *chars: str) -> frozenset[int]:
        cases = {case for c in chars for case in ((c.lower(), c.upper()) if self._any_case else c)}
        return frozenset(min(ord(each[0]), _OTHER) for each in cases)


def _components(
    roots: Iterable[Node], steps: Callable[[Node], Iterable[Node]]
) -> Iterator[list[Node]]:
    """Groups of nodes that reach each other, the later ones first (Tarjan, without recursion)."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    on_stack: set[Node] = set()
    for root in roots:
        work: list[tuple[Node, Iterator[Node]]] = []

        def visit(node: Node, work: list[tuple[Node, Iterator[Node]]] = work) -> None:
            index[node] = low[node] = len(index)
            stack.append(node)
            on_stack.add(node)
            work.append((node, iter(steps(node))))

        if root not in index:
            visit(root)
        while work:
            node, ahead = work[-1]
            for target in ahead:
                if target not in index:
                    visit(target)
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    cut = stack.index(node)
                    on_stack.difference_update(stack[cut:])
                    yield stack[cut:]
                    del stack[cut:]
