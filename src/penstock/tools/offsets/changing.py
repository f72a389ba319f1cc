"""Makes one change: stop, change, check, start again; after an error, start it as it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from penstock.kernel.errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    GroupActiveError,
    NotFoundError,
    PenstockError,
)
from penstock.tools.client import ServerError
from penstock.tools.offsets.access import Access
from penstock.tools.offsets.halt import (
    Halt,
    NothingToStop,
    NotSupportedError,
    Recreated,
    Stopped,
    needs_recreate,
    settled,
)
from penstock.tools.offsets.journal import Entry, Journal
from penstock.tools.offsets.models import ChangeError, Move, Outcome, Via
from penstock.tools.offsets.requests import ChangeRequest
from penstock.tools.offsets.routes import RestRoute, Route, UnsupportedError, unfinished
from penstock.tools.offsets.settling import holds
from penstock.tools.offsets.state_files import state_file, state_home
from penstock.tools.offsets.subject import Subject

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
"""Called with the moves before they are made; returns their journal entry."""


class Changing:
    """Changes the offsets of one connector; `undoes`: an undo, which gets no journal entry."""

    def __init__(
        self, access: Access, journal: Journal, name: str, *, undoes: bool = False
    ) -> None:
        self._access = access
        self._journal = journal
        self._client = access.client
        self._name = name
        self._undoes = undoes

    def run(self, request: ChangeRequest, remember: Remember, *, recreate: bool) -> Outcome:
        """Raises ChangeError, after starting the connector again, if it did not work."""
        subject = self._access.subject(self._name)
        route = self._access.route(subject)
        halt = self._halted(subject, recreate=recreate)
        entry: Entry | None = None
        try:
            _settle(halt, route)
            # Only now are the offsets final: a plan may have seen older ones.
            situation = self._access.situation(subject, route)
            moves = [move for move in request(situation) if move.changes]
            entry = remember(moves) if moves else None
            route = self._written(subject, route, moves)
            self._verify(subject, route, moves)
        except BaseException as error:
            self._recover(route, entry, halt, error)
            raise
        return Outcome(self._name, moves, route.via, self._restored(halt, moves))

    def _halted(self, subject: Subject, *, recreate: bool) -> Halt:
        if not subject.exists:
            return NothingToStop()
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

    def _written(self, subject: Subject, route: Route, moves: Sequence[Move]) -> Route:
        """Write by the route, or by Kafka if the server can't. Returns the route that worked."""
        if not moves:
            return route
        try:
            route.write(moves)
        except UnsupportedError:
            if not self._access.can_go_round:
                raise
            route = self._access.kafka_route(subject)
            route.write(moves)
        return route

    def _verify(self, subject: Subject, route: Route, moves: Sequence[Move]) -> None:
        left = unfinished(moves, route.read())
        if left:
            raise PenstockError(f"{len(left)} of {len(moves)} offsets are not what was written")
        if route.via is Via.TOPIC and subject.exists:
            self._verify_by_rest(subject, moves)

    def _verify_by_rest(self, subject: Subject, moves: Sequence[Move]) -> None:
        rest = RestRoute(self._client, self._name, subject.kind)
        try:
            rest.read()
        except NotFoundError:  # an old server, or the connector is deleted just now
            return
        if not holds(lambda: not unfinished(moves, rest.read()), _SEEN_SECONDS):
            raise PenstockError(
                f"the worker does not see what was written to Kafka: check that {subject.topic} is"
                " offset.storage.topic?"
            )

    # -------------------------------------------------------------------------- if it failed

    def _recover(
        self, route: Route | None, entry: Entry | None, halt: Halt, error: BaseException
    ) -> None:
        """Raises ChangeError, unless the error is unexpected."""
        try:
            changed = self._done_so_far(route, entry, error)
        finally:
            # In any case the connector must be started, or the error say that it is stopped.
            state = self._started_again(halt)
        if isinstance(error, PenstockError | KeyboardInterrupt):
            reason = "interrupted" if isinstance(error, KeyboardInterrupt) else error
            raise ChangeError(f"{self._name}: {reason}. {changed} {state}".rstrip()) from error

    def _started_again(self, halt: Halt) -> str:
        try:
            state = halt.restore()
        except PenstockError as error:
            return f"{halt.left_behind()} ({error})."
        return f"The connector is {state} again." if state else ""

    def _done_so_far(self, route: Route | None, entry: Entry | None, error: BaseException) -> str:
        if entry is None or route is None:
            return "No offset was changed."
        then = "tries it again" if self._undoes else "restores the old offsets"
        undo = f"`penstock offsets undo {self._name}` {then}."
        try:
            left = unfinished(entry.moves, route.read())
        except PenstockError:
            return f"It is unknown whether offsets were changed. {undo}"
        changed = len(entry.moves) - len(left)
        if changed:
            return f"{changed} of {len(entry.moves)} offsets were changed. {undo}"
        if not _is_refusal(error):
            return f"No offset was changed so far, but the server may still do it. {undo}"
        if not self._undoes:
            # The entry is dropped: an undo of it would change nothing.
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


def _settle(halt: Halt, route: Route) -> None:
    if isinstance(halt, NothingToStop):
        return
    # For a deleted connector, no server reports whether its tasks have ended.
    quiet = _QUIET_AFTER_DELETE_SECONDS if isinstance(halt, Recreated) else _QUIET_SECONDS
    settled(route.read, quiet, _SETTLE_SECONDS)


def _is_refusal(error: BaseException) -> bool:
    """Whether the server refused; after a timeout it may still carry the request out."""
    if isinstance(error, ServerError):
        # Connect answers its own timeout with a 500.
        return error.status <= HTTPStatus.INTERNAL_SERVER_ERROR and "timed out" not in str(error)
    return isinstance(error, _REFUSALS)
