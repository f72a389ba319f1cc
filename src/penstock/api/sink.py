"""Sink tasks: how records leave Penstock."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.api.envelope import Opened
    from penstock.data.record import TopicPartition
    from penstock.data.schema import Schema


class SinkContext(Protocol):
    """What the runtime offers a sink task."""

    @property
    def spark(self) -> SparkSession:
        """The worker's session. Ask for it when you need it: it may be another one later."""
        ...

    @property
    def stopping(self) -> bool:
        """True once the task is asked to stop; long waits must look at it."""
        ...

    def topic_ids(self, topics: Collection[str]) -> Mapping[str, str]:
        """The broker's ids of these topics; one that was deleted and made again has another.

        Topics that are not there, and those of brokers without such ids, are absent.

        Raises:
            RetriableError: the broker can't be asked now.
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
            takes pieces, in Spark partitions that follow one another.
        key_schema: the schema of all keys; None if they have none.
        value_schema: the schema of all values; None if they have none.
        opened: what else is known of values without a schema (see Part), for a task that takes
            opened maps; the frame has the columns that it speaks of.
        topics: the topics the records may have, after transformations; None if only the records
            tell.
        more: transformations gave the records of these ranges several schemas, and another part
            of them follows at once. The ranges are written when the last part is.
        only_offsets: no record of it is to be written, as the task has said UnfitError to it; a
            task that keeps offsets stores those of the ranges. Only such a task gets it.
    """

    frame: DataFrame
    ranges: tuple[OffsetRange, ...]
    key_schema: Schema | None
    value_schema: Schema | None
    topics: frozenset[str] | None = None
    more: bool = False
    opened: Opened | None = None
    only_offsets: bool = False


class SinkTask(ABC):
    """Root of sink tasks: subclass FrameSinkTask.

    Life, all on the task's own thread: constructed, start(), then any number of opened(),
    write(), closed(), and at the end stop(). stop() is also called when start() failed.
    """

    @abstractmethod
    def start(self, config: Mapping[str, str], context: SinkContext) -> None:
        """Take what the task needs; raise ConfigError if it can't work like this."""

    def opened(self, partitions: Set[TopicPartition]) -> None:
        """These partitions were given to the task."""
        del partitions

    def closed(self, partitions: Set[TopicPartition]) -> None:
        """These partitions were taken away; their last offsets are committed already."""
        del partitions

    def stop(self) -> None:
        """Give up what start() took."""
        return


class FrameSinkTask(SinkTask):
    """A sink that writes a DataFrame."""

    #: Into how many pieces for each core Spark may cut the Kafka partitions of a large batch,
    #: which uses all cores for a topic of few partitions; 0 if each must stay whole. For tasks to
    #: whom the order of rows within a batch means nothing, or who keep it themselves by the
    #: numbers of the Spark partitions.
    takes_pieces: ClassVar[int] = 0

    #: Whether large batches should be of one topic each, as another target would read them again.
    takes_one_topic: ClassVar[bool] = False

    #: Whether write() takes values without a schema also as opened maps, which saves putting the
    #: changes of transformations into them.
    takes_opened: ClassVar[bool] = False

    #: Whether the target keeps the offsets, so that all parts of a batch (see SinkBatch.more) and
    #: its offsets become durable at once, with the last part. A task may set it in start().
    keeps_offsets: bool = False

    def starting_offsets(self, partitions: Set[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Where to begin in these partitions, for a target that keeps its own offsets.

        Asked when partitions were given to the task, again after a failure and when their topic
        was made anew; not on the thread of write(), and maybe while that is at work. Partitions
        that are absent begin where the group's offsets say.

        Raises:
            RetriableError: it is asked again after the back-off.
        """
        del partitions
        return {}

    @abstractmethod
    def write(self, batch: SinkBatch) -> None:
        """Make every row of the batch durable in the target.

        Called on the task's thread, one batch at a time. The same ranges may come again after a
        crash, so writing them twice should leave the target as if written once where it can.
        The offsets are committed after it returns.

        Raises:
            RetriableError: the framework repeats this very batch after the back-off.
            RefusedError: the target does not take one of the records, and nothing of this part is
                written; if the task keeps offsets, nothing of the parts before it either. With
                `errors.tolerance=all` the framework writes the others in smaller batches, and
                passes over the record; the batch after that begins behind it.
            UnfitError: it takes no record of these schemas. Nothing of this part is written, and
                the parts before it wait as they did. With `errors.tolerance=all` the framework
                passes over all of them.
        """

    def discard(self, batch: SinkBatch) -> None:
        """The write of this batch failed half-way: undo what can be undone. May be called alone."""
        del batch
