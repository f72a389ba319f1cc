"""A compacted topic as a log: read from the beginning, followed for ever, appended to.

One thread follows the topic and passes every record to a callback, in the order of each partition.
While the broker is away it waits and callers get errors at their deadlines; once it is back,
reading continues by itself.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from penstock.kafka.clients import Admin, Edge, LogReader, LogRecord, LogWriter, Reading
from penstock.kernel.clock import Clock, Deadline, SystemClock
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import DeadlineExceededError, PenstockError, StorageError

log = logging.getLogger(__name__)

# The longest a stop waits for the follower; it costs one wake-up in this time when idle.
_POLL_SECONDS: Final = 0.3
_STOP_SECONDS: Final = 2.0
_RETRY_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class LogEvents:
    """Callbacks. Called on the follower's thread, one call at a time.

    Attributes:
        record: called with each record.
        read: called after all records of one answer of the broker.
    """

    record: Callable[[LogRecord], None]
    read: Callable[[], None] = lambda: None


class CompactedLog:
    """One compacted topic. start() first; then every method may be called from any thread."""

    def __init__(
        self,
        topic: str,
        properties: Mapping[str, str],
        admin: Admin,
        events: LogEvents,
        *,
        clock: Clock | None = None,
    ) -> None:
        self.topic = topic
        self._properties = dict(properties)
        self._admin = admin
        self._events = events
        self._clock = clock or SystemClock()
        self._writer: LogWriter | None = None
        self._partitions: tuple[int, ...] = ()
        self._moved = threading.Condition()
        self._reached: dict[int, int] = {}
        self._failure: PenstockError | None = None
        self._stop = threading.Event()
        self._follower: threading.Thread | None = None

    def start(self, deadline: Deadline) -> None:
        """Read everything there is, then follow the log until close()."""
        reader = LogReader(self._properties, self.topic)
        self._partitions = tuple(reader.open(deadline))
        self._writer = LogWriter(self._properties, self.topic)
        self._follower = threading.Thread(
            target=self._follow, args=(reader,), name=f"log-{self.topic}", daemon=True
        )
        self._follower.start()
        self.read_to_end(deadline)

    def append(
        self, records: Sequence[tuple[bytes, bytes | None]], deadline: Deadline
    ) -> dict[int, int]:
        """Write the records durably. Returns the last offset in each partition written.

        Raises:
            DeadlineExceededError: it is unknown whether they are written.
        """
        if self._writer is None:
            raise StorageError(f"topic {self.topic} can't be written to before start()")
        return self._writer.append(records, deadline)

    def read_to_end(self, deadline: Deadline) -> None:
        """Wait until everything in the topic now was passed to the callback."""
        partitions = [TopicPartition(self.topic, number) for number in self._partitions]
        ends = self._admin.offsets(partitions, Edge.LATEST, deadline)
        self.wait_for({tp.partition: end - 1 for tp, end in ends.items()}, deadline)

    def wait_for(self, offsets: Mapping[int, int], deadline: Deadline) -> None:
        """Wait until the callback got the records at these offsets, which append() returned."""
        with self._moved:
            while self._behind(offsets):
                if self._failure is not None:
                    raise self._failure
                remaining = deadline.remaining()
                if remaining <= 0 or self._stop.is_set():
                    step = f"reading topic {self.topic} to offset {self._behind(offsets)}"
                    raise DeadlineExceededError(f"ran out of time while {step}")
                self._moved.wait(remaining)

    def _behind(self, offsets: Mapping[int, int]) -> dict[int, int]:
        return {
            partition: offset
            for partition, offset in offsets.items()
            if self._reached.get(partition, 0) <= offset
        }

    def close(self) -> None:
        self._stop.set()
        with self._moved:
            self._moved.notify_all()
        if self._follower is not None:
            self._follower.join(_STOP_SECONDS)
        if self._writer is not None:
            self._writer.close()

    # ---------------------------------------------------------------------- follower's thread

    def _follow(self, reader: LogReader) -> None:
        while not self._stop.is_set():
            try:
                self._hand_over(reader.poll(_POLL_SECONDS))
            except PenstockError as error:
                self._report(error)
        reader.close()

    def _report(self, error: PenstockError) -> None:
        """Pass the error to waiting callers; the follower tries again."""
        log.warning("Reading topic %s failed: %s", self.topic, error)
        with self._moved:
            self._failure = error
            self._moved.notify_all()
        self._clock.wait(self._stop, _RETRY_SECONDS)

    def _hand_over(self, reading: Reading) -> None:
        for record in reading.records:
            self._hand_over_one(record)
        if reading.records:
            self._events.read()
        with self._moved:
            self._failure = None
            if not reading.records and not reading.ends:
                return
            for record in reading.records:
                self._reached[record.partition] = record.offset + 1
            for partition, end in (reading.ends or {}).items():
                self._reached[partition] = max(end, self._reached.get(partition, 0))
            self._moved.notify_all()

    def _hand_over_one(self, record: LogRecord) -> None:
        try:
            self._events.record(record)
        except Exception:
            # One record that can't be read must not stop the log.
            place = f"{self.topic}-{record.partition}"
            log.exception("The record at %s, offset %d was skipped", place, record.offset)
