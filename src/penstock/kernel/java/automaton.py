"""Automata of regular expressions, and whether they read a text in too many ways.

The states are the characters of an expression (Glushkov's construction). An automaton is
exponential if two paths lead from a state back to it over the same text, or if many parts in a row
may be left out and take the same characters; it is slow if too many loops in a row take the same
characters.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Final, TypeVar

#: Loops in a row over the same characters: a name of 249 can be read in 160 million ways.
MOST_LOOPS: Final = 4
#: Choices in a row that lead to the same place over the same text: each doubles the ways at least.
MOST_CHOICES: Final = 6
_MOST_STATES: Final = 2000
_MOST_IN_LOOP: Final = 200
_MOST_PAIRS: Final = 500_000

OTHER: Final = 128  # stands for every character that is not ASCII
ANY: Final = frozenset(range(OTHER + 1))

Node = TypeVar("Node", bound=Hashable)
Pair = tuple[int, int]


class TooLargeError(Exception):
    """The automaton is too large to be judged."""


@dataclass(frozen=True, slots=True)
class Piece:
    """States in which a part of an expression may begin and end, and whether it may be empty."""

    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    nullable: bool = True


@dataclass(slots=True)
class Graph:
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

    def state(self, chars: frozenset[int], place: int) -> Piece:
        if len(self.chars) >= _MOST_STATES:
            raise TooLargeError
        self.chars.append(chars)
        self.places.append(place)
        self.follow.append(set())
        only = frozenset({len(self.chars) - 1})
        return Piece(only, only, nullable=False)

    def join(self, before: Piece, after: Piece) -> Piece:
        self._connect(before.last, after.first)
        return Piece(
            before.first | after.first if before.nullable else before.first,
            before.last | after.last if after.nullable else after.last,
            before.nullable and after.nullable,
        )

    def loop(self, body: Piece) -> None:
        self._connect(body.last, body.first)

    def confuse(self, body: Piece) -> None:
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
        if self._has_many_choices(frozenset(state for loop in loops for state in loop)):
            return (
                "too many optional parts in a row may match the same characters;"
                " use fewer of them, or narrower classes of characters"
            )
        return None

    def _is_ambiguous(self, loop: frozenset[int]) -> bool:
        if any(source in loop and target in loop for source, target in self.twice):
            return True
        if len(loop) > _MOST_IN_LOOP:
            raise TooLargeError

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

    def _has_many_choices(self, looping: frozenset[int]) -> bool:
        try:
            return self._most_choices(looping) > MOST_CHOICES
        except TooLargeError:
            return True

    def _most_choices(self, looping: frozenset[int]) -> int:
        """The longest chain of choices outside of loops that meet again over the same text.

        Raises:
            TooLargeError: there are too many pairs of ways to follow.
        """
        most: dict[int, int] = {}
        budget = [_MOST_PAIRS]
        for component in _components(range(len(self.chars)), lambda state: self.follow[state]):
            found = 0
            for state in component:
                found = max([found, *(most.get(later, 0) for later in self.follow[state])])
                if state not in looping:
                    meeting = self._meeting(self.follow[state] - looping, budget)
                    found = max([found, *(1 + most[later] for later in meeting)])
            most.update(dict.fromkeys(component, found))
        return max(most.values(), default=0)

    def _meeting(self, states: set[int], budget: list[int]) -> set[int]:
        """Where two paths meet that begin with different ones of these states, over one text."""
        waiting = [pair for pair in combinations(sorted(states), 2) if self._share(pair)]
        seen, meeting = set(waiting), set[int]()
        while waiting:
            one, other = waiting.pop()
            for step in product(self.follow[one], self.follow[other]):
                budget[0] -= 1
                if budget[0] < 0:
                    raise TooLargeError
                pair = (min(step), max(step))
                if pair[0] == pair[1]:
                    meeting.add(pair[0])
                elif pair not in seen and self._share(pair):
                    seen.add(pair)
                    waiting.append(pair)
        return meeting

    def _share(self, pair: Pair) -> bool:
        return bool(self.chars[pair[0]] & self.chars[pair[1]])

    def _takes_the_rest(self, loop: list[int]) -> bool:
        """Whether it takes all text up to the end, so that no other match is tried."""
        return len(loop) == 1 and loop[0] in self.last and self.chars[loop[0]] == ANY

    def _reachable(self, states: Iterable[int], chars: frozenset[int]) -> set[int]:
        """The states that can be reached from there with these characters."""
        found, waiting = set[int](), list(states)
        while waiting:
            new = {each for each in self.follow[waiting.pop()] if self.chars[each] & chars} - found
            found |= new
            waiting += new
        return found


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
