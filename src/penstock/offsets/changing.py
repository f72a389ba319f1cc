"""One change from its beginning to its end: stop, change, check, start; or all as it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from penstock.errors import NotFoundError, PenstockError
from penstock.offsets.access import Access
from penstock.offsets.halt import (
    Halt,
    Nobody,
    NotSupportedError,
    Recreated,
    Stopped,
    needs_recreate,
    settled,
)
from penstock.offsets.journal import Entry, Journal, state_home
from penstock.offsets.models import ChangeError, Move, Outcome, Via
from penstock.offsets.patience import holds
from penstock.offsets.subject import Subject
from penstock.offsets.ways import RestWay, UnsupportedError, Way, unfinished
from penstock.offsets.wishes import Wish

_QUIET_SECONDS: Final = 0.5
_QUIET_AFTER_DELETE_SECONDS: Final = 3.0
_SETTLE_SECONDS: Final = 20.0
_SEEN_SECONDS: Final = 5.0

Remember = Callable[[Sequence[Move]], Entry | None]
"""Called with the moves before they are made; the entry that undoes them, if there is one."""


class Changing:
    """Changes the offsets of one connector."""

    def __init__(self, access: Access, journal: Journal, name: str) -> None:
        self._access = access
        self._journal = journal
        self._client = access.client
        self._name = name

    def run(self, wish: Wish, remember: Remember, *, recreate: bool) -> Outcome:
        """Raises ChangeError, after the connector was started again, if it did not work."""
        subject = self._access.subject(self._name)
        way = self._access.way(subject)
        halt = self._halted(subject, recreate=recreate)
        entry: Entry | None = None
        try:
            _settle(halt, way)
            # Only now do they stand still: what a plan saw may be older.
            situation = self._access.situation(subject, way)
            moves = [move for move in wish(situation) if move.changes]
            entry = remember(moves) if moves else None
            way = self._written(subject, way, moves)
            self._verify(subject, way, moves)
        except BaseException as error:
            told = self._recovered(way, entry, halt)
            if not isinstance(error, PenstockError):
                raise
            raise ChangeError(f"{self._name}: {error}. {told}") from error
        return Outcome(self._name, moves, way.via, self._restored(halt))

    def _halted(self, subject: Subject, *, recreate: bool) -> Halt:
        if not subject.exists:
            return Nobody()
        try:
            return self._at_rest(Stopped(self._client, self._name, self._access.seconds))
        except NotSupportedError as error:
            if not recreate:
                raise needs_recreate(self._name) from error
        kept = state_home() / "deleted" / f"{self._name.replace('/', '_')}.json"
        return self._at_rest(Recreated(self._client, self._name, kept, self._access.seconds))

    def _at_rest(self, halt: Halt) -> Halt:
        try:
            halt.stop()
        except NotSupportedError:
            raise
        except BaseException as error:
            told = self._recovered(None, None, halt)
            if not isinstance(error, PenstockError):
                raise
            raise ChangeError(f"{self._name}: {error}. {told}") from error
        return halt

    def _written(self, subject: Subject, way: Way, moves: Sequence[Move]) -> Way:
        """The way that could do it."""
        if not moves:
            return way
        try:
            way.write(moves)
        except UnsupportedError:
            if not self._access.can_go_round:
                raise
            way = self._access.kafka_way(subject)
            way.write(moves)
        return way

    def _verify(self, subject: Subject, way: Way, moves: Sequence[Move]) -> None:
        left = unfinished(moves, way.read())
        if left:
            raise PenstockError(f"{len(left)} of {len(moves)} offsets are not what was written")
        if way.via is Via.TOPIC and subject.exists:
            self._verify_by_rest(subject, moves)

    def _verify_by_rest(self, subject: Subject, moves: Sequence[Move]) -> None:
        rest = RestWay(self._client, self._name, subject.kind)
        try:
            rest.read()
        except NotFoundError:  # an old server, or the connector is deleted just now
            return
        if not holds(lambda: not unfinished(moves, rest.read()), _SEEN_SECONDS):
            raise PenstockError(
                f"the worker does not see what was written to Kafka: is {subject.topic} its"
                " offset.storage.topic?"
            )

    # -------------------------------------------------------------------------- if it failed

    def _recovered(self, way: Way | None, entry: Entry | None, halt: Halt) -> str:
        told = self._done_so_far(way, entry)
        try:
            state = halt.restore()
        except PenstockError as error:
            return f"{told} {halt.left_behind()} ({error})."
        return f"{told} The connector is {state} again." if state else told

    def _done_so_far(self, way: Way | None, entry: Entry | None) -> str:
        if entry is None or way is None:
            return "No offset was changed."
        undo = f"`penstock offsets undo {self._name}` puts the old offsets back."
        try:
            left = unfinished(entry.moves, way.read())
        except PenstockError:
            return f"Whether offsets were changed is not known. {undo}"
        if len(left) == len(entry.moves):
            self._journal.drop(self._client.url, self._name, entry)
            return "No offset was changed."
        return f"{len(entry.moves) - len(left)} of {len(entry.moves)} offsets were changed. {undo}"

    def _restored(self, halt: Halt) -> str:
        try:
            return halt.restore()
        except PenstockError as error:
            raise ChangeError(
                f"the offsets of {self._name} were changed, but {halt.left_behind()} ({error})"
            ) from error


def _settle(halt: Halt, way: Way) -> None:
    if isinstance(halt, Nobody):
        return
    # Of a deleted connector nobody tells whether its tasks have ended.
    quiet = _QUIET_AFTER_DELETE_SECONDS if isinstance(halt, Recreated) else _QUIET_SECONDS
    settled(way.read, quiet, _SETTLE_SECONDS)
