"""One change from its beginning to its end: stop, change, check, start; or all as it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from penstock.client import ServerError
from penstock.errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    GroupActiveError,
    NotFoundError,
    PenstockError,
)
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
from penstock.offsets.journal import Entry, Journal
from penstock.offsets.models import ChangeError, Move, Outcome, Via
from penstock.offsets.patience import holds
from penstock.offsets.state_files import state_file, state_home
from penstock.offsets.subject import Subject
from penstock.offsets.ways import RestWay, UnsupportedError, Way, unfinished
from penstock.offsets.wishes import Wish

_QUIET_SECONDS: Final = 0.5
#: Longer than task.shutdown.graceful.timeout.ms, within which tasks store their last offsets.
_QUIET_AFTER_DELETE_SECONDS: Final = 7.0
_SETTLE_SECONDS: Final = 30.0
_SEEN_SECONDS: Final = 5.0

_REFUSALS: Final = (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    GroupActiveError,
    NotFoundError,
)

Remember = Callable[[Sequence[Move]], Entry]
"""Called with the moves before they are made; the entry that stands for them."""


class Changing:
    """Changes the offsets of one connector; `undoes`: an undo, which the journal does not have."""

    def __init__(
        self, access: Access, journal: Journal, name: str, *, undoes: bool = False
    ) -> None:
        self._access = access
        self._journal = journal
        self._client = access.client
        self._name = name
        self._undoes = undoes

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
            self._recover(way, entry, halt, error)
            raise
        return Outcome(self._name, moves, way.via, self._restored(halt, moves))

    def _halted(self, subject: Subject, *, recreate: bool) -> Halt:
        if not subject.exists:
            return Nobody()
        try:
            return self._at_rest(Stopped(self._client, self._name, self._access.seconds))
        except NotSupportedError as error:
            if not recreate:
                raise needs_recreate(self._name) from error
        kept = state_file(
            state_home() / "deleted", self._client.url, self._name, self._access.cluster_id
        )
        return self._at_rest(Recreated(self._client, self._name, kept, self._access.seconds))

    def _at_rest(self, halt: Halt) -> Halt:
        try:
            halt.stop()
        except NotSupportedError:
            raise
        except BaseException as error:
            self._recover(None, None, halt, error)
            raise
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

    def _recover(
        self, way: Way | None, entry: Entry | None, halt: Halt, error: BaseException
    ) -> None:
        """Raises ChangeError, unless the error is one that nobody expects."""
        try:
            told = self._done_so_far(way, entry, error)
        finally:
            # Whatever happens: it must not stay stopped without a word.
            state = self._started_again(halt)
        if isinstance(error, PenstockError | KeyboardInterrupt):
            reason = "interrupted" if isinstance(error, KeyboardInterrupt) else error
            raise ChangeError(f"{self._name}: {reason}. {told} {state}".rstrip()) from error

    def _started_again(self, halt: Halt) -> str:
        try:
            state = halt.restore()
        except PenstockError as error:
            return f"{halt.left_behind()} ({error})."
        return f"The connector is {state} again." if state else ""

    def _done_so_far(self, way: Way | None, entry: Entry | None, error: BaseException) -> str:
        if entry is None or way is None:
            return "No offset was changed."
        then = "tries it again" if self._undoes else "puts the old offsets back"
        undo = f"`penstock offsets undo {self._name}` {then}."
        try:
            left = unfinished(entry.moves, way.read())
        except PenstockError:
            return f"Whether offsets were changed is not known. {undo}"
        changed = len(entry.moves) - len(left)
        if changed:
            return f"{changed} of {len(entry.moves)} offsets were changed. {undo}"
        if not _is_refusal(error):
            return f"No offset was changed so far, but that may still come. {undo}"
        if not self._undoes:
            # To undo an entry that stays would change nothing.
            with suppress(PenstockError):
                self._journal.drop(self._client.url, self._name, entry)
        return "No offset was changed."

    def _restored(self, halt: Halt, moves: Sequence[Move]) -> str:
        try:
            return halt.restore()
        except PenstockError as error:
            done = "were changed" if moves else "are as they were"
            raise ChangeError(
                f"the offsets of {self._name} {done}, but {halt.left_behind()} ({error})"
            ) from error


def _settle(halt: Halt, way: Way) -> None:
    if isinstance(halt, Nobody):
        return
    # Of a deleted connector nobody tells whether its tasks have ended.
    quiet = _QUIET_AFTER_DELETE_SECONDS if isinstance(halt, Recreated) else _QUIET_SECONDS
    settled(way.read, quiet, _SETTLE_SECONDS)


def _is_refusal(error: BaseException) -> bool:
    """Whether the server has said no; after a timeout it may still do what it was told."""
    if isinstance(error, ServerError):
        # Connect gives up waiting for itself with a 500.
        return error.status <= HTTPStatus.INTERNAL_SERVER_ERROR and "timed out" not in str(error)
    return isinstance(error, _REFUSALS)
