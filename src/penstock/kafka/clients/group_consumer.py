"""A member of a sink's consumer group: assignment, records, position, lag and commits."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol

from confluent_kafka import KafkaError, KafkaException

from penstock.kafka.clients.compacted_topic import LastError
from penstock.kafka.clients.connect import rd_consumer
from penstock.kafka.clients.failures import event_failure, is_transient, librdkafka_failure
from penstock.kafka.clients.raw_records import RawRecord, ours, ours_of, raw_record, theirs
from penstock.kernel.calls import within
from penstock.kernel.clock import Clock, Deadline, SystemClock
from penstock.kernel.config.values import Type, parse_value
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import ConfigError, DeadlineExceededError, PenstockError

_DEFAULTS: Final[Mapping[str, Any]] = {
    # What is fetched ahead of consume(), by size and by number: a big backlog is Spark's to read,
    # and librdkafka's 64 MB and 100,000 records for each of many tasks would fill the machine.
    "queued.max.messages.kbytes": "8192",
    "queued.min.messages": "10000",
    # How long fetching rests once that is full; librdkafka's second would halve the rate.
    "fetch.queue.backoff.ms": "20",
    "auto.offset.reset": "earliest",
}
_FIXED: Final[Mapping[str, Any]] = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    # Java asks again and again for a subscribed topic that is not there yet; so must we.
    "topic.metadata.refresh.interval.ms": 10_000,
}
#: Ten times Kafka's, as ten jobs of Spark cost nearly ten times what one for all of them does.
#: Nobody waits for so many: consume() takes what was fetched already.
_MAX_POLL_RECORDS: Final = 5_000
_METADATA_MAX_AGE_MS: Final = 300_000
_TOPICS_SECONDS: Final = 10.0
_RETRY_SECONDS: Final = 0.02
_BACK_SECONDS: Final = 10.0
_QUIET: Final = frozenset({
    KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001
    KafkaError._UNKNOWN_PARTITION, KafkaError._PARTITION_EOF,  # noqa: SLF001
    KafkaError._MAX_POLL_EXCEEDED,  # noqa: SLF001 - `lost` reports it
})  # fmt: skip


class PartitionEvents(Protocol):
    """What the group decides. Called on the thread that calls consume() or close()."""

    def assigned(self, partitions: Collection[TopicPartition]) -> None:
        """These are ours from now on."""
        ...

    def revoked(self, partitions: Collection[TopicPartition]) -> None:
        """Last moment to commit for these; afterwards they are someone else's."""
        ...

    def lost(self, partitions: Collection[TopicPartition]) -> None:
        """These are someone else's already: commit nothing for them."""
        ...


class GroupConsumer:
    """One consumer in a group. consume() and close() belong to one thread; the others to any.

    Every request to the broker has a deadline. While it is away consume() returns nothing and the
    others raise RetriableError or DeadlineExceededError.
    """

    def __init__(self, properties: Mapping[str, str], *, clock: Clock | None = None) -> None:
        properties = {**_DEFAULTS, **properties}
        if not properties.get("group.id"):
            raise ConfigError("a sink's consumer needs group.id")
        self.group_id = properties["group.id"]
        self.max_poll_records = _number(properties, "max.poll.records", _MAX_POLL_RECORDS)
        self._reset = properties["auto.offset.reset"].strip().lower()
        max_age_ms = _number(properties, "metadata.max.age.ms", _METADATA_MAX_AGE_MS)
        self._refresh_seconds = max_age_ms / 1000
        self._clock = clock or SystemClock()
        self._errors = LastError()
        self._consumer = rd_consumer(properties, _FIXED, self._errors)
        self._assigned: frozenset[TopicPartition] = frozenset()
        self._events: PartitionEvents | None = None
        self._failure: BaseException | None = None
        #: What consume() has from the library, which gives it only once.
        self._taken: list[Any] = []
        #: Where partitions are to be read again, because consume() has failed.
        self._back: dict[TopicPartition, int] = {}
        self._telling: int | None = None
        self._pattern: re.Pattern[str] | None = None
        self._topics: tuple[str, ...] = ()
        self._look_at = 0.0
        self._closed = False

    # ----------------------------------------------------------------------------- membership

    def subscribe(self, topics: Sequence[str] | re.Pattern[str], events: PartitionEvents) -> None:
        """Join the group for these topics, or for those whose whole names match the pattern.

        A pattern (see `java_pattern`) is looked at again every `metadata.max.age.ms`, by us as
        Java's client does: librdkafka's own regular expressions are of another kind.
        """
        self._events = events
        if isinstance(topics, re.Pattern):
            self._pattern = topics
            self._follow_pattern()
        else:
            self._join(tuple(topics))

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions that are ours now."""
        return self._assigned

    def waits_for(self) -> str | None:
        """Which of the topics it is to read do not exist; None if all do, or nobody can tell."""
        if self._pattern is not None:
            none = not self._topics and self._look_at
            return f"no topic's name matches {self._pattern.pattern}" if none else None
        read = {partition.topic for partition in self._assigned}
        try:
            missing = [name for name in self._topics if name not in read and self._lacks(name)]
        except KafkaException:
            return None  # The broker is away.
        return f"there is no topic {', '.join(missing)}" if missing else None

    def _lacks(self, topic: str) -> bool:
        found = self._consumer.list_topics(topic, timeout=_TOPICS_SECONDS).topics[topic]
        return found.error is not None and found.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART

    @property
    def member_id(self) -> str:
        return str(self._consumer.memberid() or "")

    def _join(self, topics: tuple[str, ...]) -> None:
        self._topics = topics
        if not topics:
            self._consumer.unsubscribe()
            return
        self._consumer.subscribe(
            list(topics),
            on_assign=self._on_assign,
            on_revoke=self._on_revoke,
            on_lost=self._on_lost,
        )

    def _follow_pattern(self) -> None:
        if self._pattern is None or self._clock.now() < self._look_at:
            return
        try:
            found = self._consumer.list_topics(timeout=_TOPICS_SECONDS).topics
        except KafkaException:
            return  # The broker is away: the next consume() looks again.
        self._look_at = self._clock.now() + self._refresh_seconds
        names = tuple(
            name
            for name in sorted(found)
            if self._pattern.fullmatch(name) and name != "__consumer_offsets"
        )
        if names != self._topics:
            self._join(names)

    def _on_assign(self, _: Any, partitions: list[Any]) -> None:
        added = [ours(partition) for partition in partitions]
        # One that was paused when it left us is still paused for the library, though not for
        # Java's client, and nobody else would ever resume it.
        self.resume(added)
        self._assigned |= set(added)
        self._tell(lambda events: events.assigned(added))

    def _on_revoke(self, _: Any, partitions: list[Any]) -> None:
        gone = [ours(partition) for partition in partitions]
        self._tell(lambda events: events.revoked(gone))
        self._let_go(gone)

    def _on_lost(self, _: Any, partitions: list[Any]) -> None:
        gone = [ours(partition) for partition in partitions]
        self._let_go(gone)
        self._tell(lambda events: events.lost(gone))

    def _let_go(self, gone: Collection[TopicPartition]) -> None:
        # Whoever has them next, be it we again, begins where the group's offsets say.
        self._assigned -= set(gone)
        self._taken = [message for message in self._taken if ours_of(message) not in gone]
        for partition in gone:
            self._back.pop(partition, None)

    def _tell(self, call: Callable[[PartitionEvents], None]) -> None:
        """The library drops what a callback raises, so it is kept for the end of consume()."""
        if self._events is None:
            return
        self._telling = threading.get_ident()
        try:
            call(self._events)
        except BaseException as error:  # noqa: BLE001 - raised again by consume()
            self._failure = error
        finally:
            self._telling = None

    # -------------------------------------------------------------------------------- records

    def consume(self, max_records: int, seconds: float) -> list[RawRecord]:
        """Wait that long for a first record, then take what was fetched already, up to the number.

        Must be called at least every `max.poll.interval.ms`, also while everything is paused.
        """
        self._follow_pattern()
        if self._pattern is not None and not self._topics:
            self._clock.wait(threading.Event(), min(seconds, 1.0))
            return []
        if self._back:
            self.seek(dict(self._back), Deadline.after(_BACK_SECONDS))
        try:
            self._take(max_records, seconds)
            return [raw_record(message) for message in self._taken if self._is_record(message)]
        except BaseException:
            self._read_again(self._taken)
            raise
        finally:
            self._taken = []

    def _take(self, max_records: int, seconds: float) -> None:
        first = self._consumer.poll(seconds)
        self._taken = [] if first is None else [first]
        self._raise_failure()
        if self._taken and max_records > 1:
            more = self._consumer.consume(max_records - 1, 0)  # which may let go of the first
            self._taken += more
            self._raise_failure()

    def _read_again(self, messages: Sequence[Any]) -> None:
        """Nobody got these. The next consume() goes back, as that may fail, too."""
        for message in messages:
            partition = ours_of(message)
            if message.error() is None and partition in self._assigned:
                self._back.setdefault(partition, message.offset())

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _is_record(self, message: Any) -> bool:
        error = message.error()
        if error is None:
            return True
        if error.code() in _QUIET or is_transient(error):
            return False
        raise event_failure(error, f"consuming {', '.join(self._topics)} as {self.group_id}")

    def seek(self, offsets: Mapping[TopicPartition, int], deadline: Deadline) -> None:
        """Go on at these offsets; what was fetched ahead is dropped."""
        for partition, offset in offsets.items():
            self._seek(theirs(partition, offset), deadline)
            self._back.pop(partition, None)

    def _seek(self, target: Any, deadline: Deadline) -> None:
        step = f"seeking in {target.topic}-{target.partition}"
        while True:
            try:
                self._consumer.seek(target)
            except KafkaException as error:
                # Right after an assignment the partition is not being fetched yet.
                if error.args[0].code() != KafkaError._STATE:  # noqa: SLF001
                    raise librdkafka_failure(error, step) from error
                deadline.check(step)
                self._clock.wait(threading.Event(), _RETRY_SECONDS)
            else:
                return

    def pause(self, partitions: Collection[TopicPartition]) -> None:
        """Fetch no more from these; consume() then returns nothing of them."""
        self._consumer.pause([theirs(partition) for partition in partitions])

    def resume(self, partitions: Collection[TopicPartition]) -> None:
        self._consumer.resume([theirs(partition) for partition in partitions])

    # -------------------------------------------------------------------------------- offsets

    def positions(
        self, partitions: Collection[TopicPartition], deadline: Deadline
    ) -> dict[TopicPartition, int]:
        """Where consume() goes on: after what it returned, else the committed offset, else
        where `auto.offset.reset` says."""
        wanted = [theirs(partition) for partition in partitions]
        known = {ours(tp): tp.offset for tp in self._consumer.position(wanted) if tp.offset >= 0}
        known |= self._back
        missing = [partition for partition in partitions if partition not in known]
        if missing:
            known |= self.committed(missing, deadline)
        return {
            partition: known.get(partition, -1)
            if partition in known
            else self._start(partition, deadline)
            for partition in partitions
        }

    def _start(self, partition: TopicPartition, deadline: Deadline) -> int:
        if self._reset not in ("earliest", "latest"):
            raise event_failure(
                KafkaError(KafkaError._NO_OFFSET),  # noqa: SLF001
                f"{partition} has no committed offset and auto.offset.reset={self._reset}",
            )
        first, end = self._watermarks(partition, deadline)
        return first if self._reset == "earliest" else end

    def committed(
        self, partitions: Collection[TopicPartition], deadline: Deadline
    ) -> dict[TopicPartition, int]:
        """The group's committed offsets; partitions without one are absent."""
        wanted = [theirs(partition) for partition in partitions]
        found = self._ask(
            deadline,
            f"reading committed offsets of group {self.group_id}",
            lambda: self._consumer.committed(wanted, timeout=deadline.remaining()),
        )
        return {ours(entry): entry.offset for entry in found if entry.offset >= 0}

    def end_offsets(
        self, partitions: Collection[TopicPartition], deadline: Deadline, *, cached: bool = False
    ) -> dict[TopicPartition, int]:
        """The offset after the last record of each; `cached`: as of the last fetch, at no cost
        (partitions not fetched yet are absent)."""
        if cached:
            found = {
                tp: self._consumer.get_watermark_offsets(theirs(tp), cached=True)
                for tp in partitions
            }
            return {tp: marks[1] for tp, marks in found.items() if marks and marks[1] >= 0}
        return {tp: self._watermarks(tp, deadline)[1] for tp in partitions}

    def _watermarks(self, partition: TopicPartition, deadline: Deadline) -> tuple[int, int]:
        first, end = self._ask(
            deadline,
            f"reading the end of {partition}",
            lambda: self._consumer.get_watermark_offsets(
                theirs(partition), timeout=deadline.remaining()
            ),
        )
        return int(first), int(end)

    def commit(self, offsets: Mapping[TopicPartition, int], deadline: Deadline) -> None:
        """Store the group's offsets; they are stored when it returns.

        Inside `revoked` the library itself bounds the wait, by `session.timeout.ms`.

        Raises:
            RebalancedError: this member is no longer, or not yet, in the group's generation.
        """
        if not offsets:
            return
        wanted = [theirs(partition, offset) for partition, offset in offsets.items()]
        step = f"committing offsets of group {self.group_id}"
        commit = partial(self._consumer.commit, offsets=wanted, asynchronous=False)
        for entry in self._ask(deadline, step, commit):
            if entry.error is not None:
                raise event_failure(entry.error, f"{step} for {entry.topic}-{entry.partition}")

    def _ask(self, deadline: Deadline, step: str, call: Callable[[], Any]) -> Any:
        """Not every call of the library has a deadline; on its own thread it can be left behind."""

        def ask() -> Any:
            try:
                return call()
            except KafkaException as error:
                deadline.check(step + self._errors.hint())
                raise librdkafka_failure(error, step) from error

        if self._telling == threading.get_ident():
            # While it runs a callback the library lets only this thread in.
            return ask()
        return within(deadline, step, ask)

    def close(self, deadline: Deadline) -> None:
        """Leave the group. It reports the partitions still held as revoked, on another thread.

        Raises:
            DeadlineExceededError: the broker did not let go in time; the library goes on trying.
        """
        if self._closed:
            return
        self._closed = True
        try:
            within(deadline, f"leaving group {self.group_id}", self._consumer.close)
        except DeadlineExceededError:
            # Nobody may take what it tells later for news of the member that comes after it.
            self._events = None
            raise
        failure, self._failure = self._failure, None
        if isinstance(failure, PenstockError):
            raise failure


def _number(properties: Mapping[str, str], key: str, default: int) -> int:
    return int(parse_value(key, properties.get(key, default), Type.INT))
