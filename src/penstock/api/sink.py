"""Sink tasks: they write records to a target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.api.envelope import Opened
    from penstock.kernel.data.record import TopicPartition
    from penstock.kernel.data.schema import Schema


class SinkContext(Protocol):
    """The runtime's services for a sink task."""

    @property
    def spark(self) -> SparkSession:
        """The worker's Spark session. Do not keep it: it may be replaced by a new one."""
        ...

    @property
    def stopping(self) -> bool:
        """True once the task should stop; check it during long waits."""
        ...

    def topic_ids(self, topics: Collection[str]) -> Mapping[str, str]:
        """The broker's ids of these topics; a topic that was created again has a new one.

        Topics that do not exist, and those of brokers without ids, are absent.

        Raises:
            RetriableError: the broker does not answer now.
        """
        ...


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """The offsets [start, end) of one partition."""

    partition: TopicPartition
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SinkBatch:
    """Records to write: the frame of exactly these ranges, converted and transformed.

    Attributes:
        frame: columns topic, partition, offset, timestamp (milliseconds), key, value, headers.
            Rows of one Kafka partition are in one Spark partition, in order; for a task that
            takes pieces, in consecutive Spark partitions.
        key_schema: the schema of all keys; None if they have none.
        value_schema: the schema of all values; None if they have none.
        opened: pending changes to values without a schema (see Part), for a task that takes
            opened maps; the frame has the columns it refers to.
        topics: the topics the records may have, after transformations; None if that depends on
            the records.
        more: transformations gave the records of these ranges several schemas, and another part
            of them follows at once. The ranges are written when the last part is.
        only_offsets: write no record, because the task raised UnfitError for them; store only
            the offsets of the ranges. Only tasks that keep offsets get it.
    """

    frame: DataFrame
    ranges: tuple[OffsetRange, ...]
    key_schema: Schema | None
    value_schema: Schema | None
    topics: frozenset[str] | None = None
    more: bool = False
    opened: Opened | None = None
    only_offsets: bool = False


@dataclass(frozen=True, slots=True)
class SinkTraits:
    """How the framework should call a sink task.

    Attributes:
        pieces_per_core: into how many pieces for each core Spark may split the Kafka partitions of
            a large batch, which uses all cores for a topic with few partitions; 0: not at all.
            For tasks that ignore row order within a batch, or restore it by the numbers of the
            Spark partitions.
        one_topic: whether each large batch should have only one topic; for tasks that read the
            batch once for each target.
        opened_maps: whether write() also accepts opened maps for values without a schema, which
            saves the step that applies pending changes.
        keeps_offsets: whether the target keeps the offsets, so that all parts of a batch (see
            SinkBatch.more) and its offsets become durable at once, with the last part.
    """

    pieces_per_core: int = 0
    one_topic: bool = False
    opened_maps: bool = False
    keeps_offsets: bool = False


class SinkTask(ABC):
    """Root of sink tasks: subclass FrameSinkTask.

    Life: constructed, start(), then any number of opened(), write(), closed(), and at the end
    stop(), which is also called when start() failed. All on the task's own thread but write(),
    which has a second one: opened() and closed() may come while a write is at work.
    """

    @abstractmethod
    def start(self, config: Mapping[str, str], context: SinkContext) -> None:
        """Open what the task needs; raise ConfigError if the config can't work."""

    def opened(self, partitions: Set[TopicPartition]) -> None:
        """The task got these partitions."""
        del partitions

    def closed(self, partitions: Set[TopicPartition]) -> None:
        """The task lost these partitions; their last offsets are already committed."""
        del partitions

    def stop(self) -> None:
        """Release what start() acquired."""
        return


class FrameSinkTask(SinkTask):
    """A sink that writes a DataFrame."""

    #: A task may change them in start().
    traits: SinkTraits = SinkTraits()

    def starting_offsets(self, partitions: Set[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Where to begin in these partitions, for a target that keeps its own offsets.

        Called when the task got partitions, after a failure, and when their topic was created
        again; on another thread than write(), maybe during write(). Absent partitions begin at
        the group's offsets.

        Raises:
            RetriableError: the framework calls it again after the back-off.
        """
        del partitions
        return {}

    @abstractmethod
    def write(self, batch: SinkBatch) -> None:
        """Make every row of the batch durable in the target.

        Called on the task's thread, one batch at a time. The same ranges may come again after a
        crash, so the write should be idempotent if possible. The framework commits the offsets
        after it returns.

        Raises:
            RetriableError: the framework repeats the same batch after the back-off.
            RefusedError: the target refuses one of the records, and nothing of this part is
                written; if the task keeps offsets, nothing of the earlier parts either. With
                `errors.tolerance=all` the framework writes the others in smaller batches and
                skips the record; the next batch begins behind it.
            UnfitError: the target refuses all records of these schemas. Nothing of this part is
                written, and earlier parts stay pending. With `errors.tolerance=all` the framework
                skips all of them.
        """

    def discard(self, batch: SinkBatch) -> None:
        """The write of this batch failed: undo what can be undone. May come without a write()."""
        del batch
