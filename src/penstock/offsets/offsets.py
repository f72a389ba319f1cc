"""Offsets of connectors of both kinds: shown, changed and put back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from penstock.client import Client
from penstock.clock import Clock, SystemClock
from penstock.errors import ConflictError, NotFoundError
from penstock.offsets.access import Access
from penstock.offsets.changing import Changing
from penstock.offsets.halt import STOPPED, state_of
from penstock.offsets.journal import Entry, Journal
from penstock.offsets.models import Held, Kind, Move, Outcome, Via
from penstock.offsets.showing import Showing, Shown
from penstock.offsets.wishes import Wish, put_back

DEFAULT_TOPIC: Final = "connect-offsets"
_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a change would do to the offsets as they are.

    `final`: nobody stores other ones meanwhile. A connector that runs may have read more than it
    has stored so far; what holds then is seen once it is stopped.
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
        kafka: properties of a Kafka client, under Java's names; without them all goes through
            the REST API alone.
        topic: the workers' offset.storage.topic.
        via: the way that changes take.
        journal: where changes are remembered.
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
        """What could not be found out so far, and why."""
        return self._access.notes

    def close(self) -> None:
        """Let Kafka's connections go; the client is the caller's."""
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

    def show(self, name: str) -> list[Held]:
        """What is stored for a connector, with what Kafka knows of it if it can be asked.

        Raises:
            NotFoundError: there is neither such a connector nor anything of it in Kafka.
        """
        return [shown.held for shown in self.show_many([name])]

    def show_many(self, names: Sequence[str], history: int = 0) -> list[Shown]:
        """The same for many connectors, in the order of their names here.

        With `history`, the last offsets of each source partition that the topic still holds, the
        newest first.

        Raises:
            BadRequestError: a sink has no history.
            SetupError: Kafka can't be asked for a history.
        """
        return Showing(self._access).run(names, history)

    # ------------------------------------------------------------------------------ changing

    def plan(self, name: str, wish: Wish) -> Plan:
        """What a change would do to the offsets as they are now."""
        subject = self._access.subject(name)
        way = self._access.way(subject)
        moves = wish(self._access.situation(subject, way))
        final = not subject.exists or state_of(self._client, name) == STOPPED
        return Plan(name, subject.kind, moves, way.via, final)

    def apply(
        self, name: str, wish: Wish, *, action: str = "set", recreate: bool = False
    ) -> Outcome:
        """Stop the connector, change its offsets, check them, and start it as it was.

        Args:
            name: the connector.
            wish: what to change.
            action: what to call it in the journal.
            recreate: whether to delete the connector and create it again where the server can't
                stop it.

        Raises:
            ChangeError: it did not work; the text says what was done.
        """
        cluster_id = self._access.cluster_id

        def remembered(moves: Sequence[Move]) -> Entry:
            entry = Entry(self._clock.wall_ms(), action, moves, cluster_id=cluster_id)
            self._journal.add(self._client.url, name, entry)
            return entry

        return self._changing(name).run(wish, remembered, recreate=recreate)

    def undo(self, name: str, *, recreate: bool = False) -> Outcome:
        """Put back what was stored before the last change that was not undone.

        Raises:
            NotFoundError: no change is remembered.
            ConflictError: it was made in another cluster.
            ChangeError: it did not work; the text says what was done.
        """

        def put_back_now(moves: Sequence[Move]) -> Entry:
            return Entry(self._clock.wall_ms(), "undo", moves)

        entry = self.last_change(name)
        wish = put_back(entry.moves)
        plan = self.plan(name, wish)
        outcome = (
            self._changing(name, undoes=True).run(wish, put_back_now, recreate=recreate)
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
                f"no change of the offsets of {name} at {self._client.url} is remembered here"
            )
        here = self._access.cluster_id
        if None not in (here, found.cluster_id) and here != found.cluster_id:
            raise ConflictError(
                f"the last change of the offsets of {name} was made in another Kafka cluster:"
                f" {self._client.url} is one of {here} now, and was one of {found.cluster_id}"
            )
        return found

    def changes(self, name: str) -> list[Entry]:
        """The changes that are remembered, the oldest first."""
        return self._journal.entries(self._client.url, name)

    def _changing(self, name: str, *, undoes: bool = False) -> Changing:
        return Changing(self._access, self._journal, name, undoes=undoes)
