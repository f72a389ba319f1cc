"""Source tasks: how records come into Penstock."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from penstock.api.connector import PartitionKey

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.data.schema import Schema

Offsets: TypeAlias = Mapping[PartitionKey, Mapping[str, Any] | None]
"""What is to be stored for each source partition."""


class SourceContext(Protocol):
    """What the runtime offers a source task."""

    @property
    def spark(self) -> SparkSession:
        """The worker's session. Ask for it when you need it: it may be another one later."""
        ...

    def offset(self, partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The stored offset of a source partition; None if there is none."""
        ...

    @property
    def stopping(self) -> bool:
        """True once the task is asked to stop; long waits must look at it."""
        ...

    @property
    def stores_parts(self) -> bool:
        """Whether `part_offsets` of a batch are stored while it is written.

        If not, a long batch that is interrupted comes again from its beginning: make it shorter.
        """
        ...

    def show(self, name: str, figure: int) -> None:
        """Show a figure in the task's status, for what its user should know of but need not fix."""
        ...


@dataclass(frozen=True, slots=True)
class SourceBatch:
    """Records that were found but not read yet, and the offsets true once they are written.

    Attributes:
        frame: columns `value` and any of `topic`, `partition`, `timestamp` (milliseconds), `key`,
            `headers`; what is absent is null. One Spark partition keeps the order.
        topic: the topic of all rows, when the frame has no column for it.
        offsets: the offset to store for each source partition after the write; None, which is
            stored as null, for one that has been read but has nothing to go on from.
        more: True if reading on at once would find more, so that nobody waits in between.
        kept: True if the task gives this very frame again, with other rows each time. It is then
            planned once, which is most of the work of a small batch.
        part_offsets: for a long batch in several Spark partitions: the offsets that are true once
            the first of them is written, the first two, and so on to all but the last. Spark
            begins with the first; some are written at the same time.
    """

    frame: DataFrame
    topic: str | None
    value_schema: Schema | None
    key_schema: Schema | None = None
    offsets: Offsets = field(default_factory=dict)
    more: bool = False
    kept: bool = False
    part_offsets: Sequence[Offsets] = ()


class SourceTask(ABC):
    """Root of source tasks: subclass FrameSourceTask.

    Life, all on the task's own thread: constructed, start(), read() again and again, stop().
    stop() is also called when start() failed.
    """

    @abstractmethod
    def start(self, config: Mapping[str, str], context: SourceContext) -> None:
        """Take what the task needs and find the stored offsets."""

    def stop(self) -> None:
        """Give up what start() took."""
        return


class FrameSourceTask(SourceTask):
    """A source that reads with Spark."""

    #: How long to wait after read() found nothing; tasks with a setting for it set this in start().
    poll_interval_seconds: float = 1.0

    @abstractmethod
    def read(self) -> SourceBatch | None:
        """The next records, or None if there is nothing new.

        Looks how far it may read with cheap means on the driver, and returns a lazy frame of
        exactly that range: no Spark job when there is nothing to do. A batch that could not be
        written is asked for again after start() on a new instance, so the task keeps its own
        position only in memory.

        Raises:
            RetriableError: try again after a while.
        """

    def explained(self, error: Exception) -> Exception:
        """What it means that a job over one of its frames failed with this error.

        RetriableError if the same may succeed later, as when the source's server is away; the
        error itself if the task knows nothing better.
        """
        return error

    def committed(self) -> None:
        """Called after the last batch was written to Kafka and its offsets stored."""
        return
