"""Shows, changes and restores offsets of sources and sinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from penstock.kernel.clock import Clock, SystemClock
from penstock.kernel.errors import ConflictError, NotFoundError
from penstock.tools.client import Client
from penstock.tools.offsets.access import Access
from penstock.tools.offsets.changing import Changing
from penstock.tools.offsets.halt import STOPPED, state_of
from penstock.tools.offsets.journal import Entry, Journal
from penstock.tools.offsets.models import Kind, Move, Outcome, StoredOffset, Via
from penstock.tools.offsets.requests import ChangeRequest, put_back
from penstock.tools.offsets.showing import Showing, Shown

DEFAULT_TOPIC: Final = "connect-offsets"
_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The effect of a change on the current offsets.

    `final`: the connector does not run. A running one may have read more than it has stored so
    far; its final offsets are known once it is stopped.
    """

    connector: str
    kind: Kind
    moves: Sequence[Move]
    via: Via
    final: bool

    @property
    def changes(self) -> list[Move]:
        """The moves that change something."""
        return [move for move in self.moves if move.changes]


class Offsets:
    """The offsets of the connectors of one cluster. Use it in a `with` statement, or close it.

        >>> with Offsets(Client(), {"bootstrap.servers": "localhost:9092"}) as offsets:
        ...     offsets.show("jdbc_src_1")
        ...     offsets.apply("jdbc_src_1", set_source(None, {"incrementing": 369034}))
        ...     offsets.undo("jdbc_src_1")

    Args:
        client: the workers.
        kafka: properties of a Kafka client, under Java's names; without them only the REST API
            is used.
        topic: the workers' offset.storage.topic.
        via: the route of changes.
        journal: records the changes.
        seconds: how long each step may take.
    """

    def __init__(
        self,
        client: Client,
        kafka: Mapping[str, str] | None = None,
        *,
        topic: str = DEFAULT_TOPIC,
        via: Via = Via.AUTO,
        journal: Journal | None = None,
        seconds: float = _SECONDS,
        clock: Clock | None = None,
    ) -> None:
        self._access = Access(client, kafka, topic, via, seconds)
        self._client = client
        self._journal = journal or Journal()
        self._clock = clock or SystemClock()

    @property
    def notes(self) -> Sequence[str]:
        """What is unknown so far, and why."""
        return self._access.notes

    def close(self) -> None:
        """Close Kafka's connections; the caller closes the client."""
        self._access.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # ------------------------------------------------------------------------------- showing

    def show(self, name: str) -> list[StoredOffset]:
        """The stored offsets of a connector, with details from Kafka if it answers.

        Raises:
            NotFoundError: the connector does not exist, and Kafka has no offsets of it.
        """
        return [shown.held for shown in self.show_many([name])]

    def show_many(self, names: Sequence[str], history: int = 0) -> list[Shown]:
        """The same for many connectors, in the order of `names`.

        With `history`, the last offsets of each source partition that the topic still holds, the
        newest first.

        Raises:
            BadRequestError: a sink has no history.
            SetupError: Kafka, which has the history, can't be used.
        """
        return Showing(self._access).run(names, history)

    # ------------------------------------------------------------------------------ changing

    def plan(self, name: str, request: ChangeRequest) -> Plan:
        """The effect of a change on the current offsets."""
        subject = self._access.subject(name)
        route = self._access.route(subject)
        moves = request(self._access.situation(subject, route))
        final = not subject.exists or state_of(self._client, name) == STOPPED
        return Plan(name, subject.kind, moves, route.via, final)

    def apply(
        self, name: str, request: ChangeRequest, *, action: str = "set", recreate: bool = False
    ) -> Outcome:
        """Stop the connector, change its offsets, check them, and start it as it was.

        Args:
            name: the connector.
            request: what to change.
            action: its name in the journal.
            recreate: whether to delete the connector and create it again if the server can't
                stop it.

        Raises:
            ChangeError: it did not work; the text says what was done.
        """
        cluster_id = self._access.cluster_id

        def remembered(moves: Sequence[Move]) -> Entry:
            entry = Entry(self._clock.wall_ms(), action, moves, cluster_id=cluster_id)
            self._journal.add(self._client.url, name, entry)
            return entry

        return self._changing(name).run(request, remembered, recreate=recreate)

    def undo(self, name: str, *, recreate: bool = False) -> Outcome:
        """Restore the offsets before the last change that was not undone.

        Raises:
            NotFoundError: no change is recorded.
            ConflictError: it was made in another cluster.
            ChangeError: it did not work; the text says what was done.
        """

        def put_back_now(moves: Sequence[Move]) -> Entry:
            return Entry(self._clock.wall_ms(), "undo", moves)

        entry = self.last_change(name)
        request = put_back(entry.moves)
        plan = self.plan(name, request)
        outcome = (
            self._changing(name, undoes=True).run(request, put_back_now, recreate=recreate)
            if plan.changes or not plan.final
            else Outcome(name, (), plan.via, "")
        )
        self._journal.mark_undone(self._client.url, name, entry, self._clock.wall_ms())
        return outcome

    def last_change(self, name: str) -> Entry:
        """The change that undo() would undo.

        Raises:
            NotFoundError: there is none.
            ConflictError: it was made in another cluster, which had this address then.
        """
        found = self._journal.last(self._client.url, name)
        if found is None:
            raise NotFoundError(
                f"no change of the offsets of {name} at {self._client.url} is recorded here"
            )
        here = self._access.cluster_id
        if None not in (here, found.cluster_id) and here != found.cluster_id:
            raise ConflictError(
                f"the last change of the offsets of {name} was made in another Kafka cluster:"
                f" {self._client.url} is one of {here} now, and was one of {found.cluster_id}"
            )
        return found

    def changes(self, name: str) -> list[Entry]:
        """The recorded changes, the oldest first."""
        return self._journal.entries(self._client.url, name)

    def _changing(self, name: str, *, undoes: bool = False) -> Changing:
        return Changing(self._access, self._journal, name, undoes=undoes)
