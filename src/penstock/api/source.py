"""Source tasks: they read records from a source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from penstock.api.connector import PartitionKey

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.kernel.data.schema import Schema

Offsets: TypeAlias = Mapping[PartitionKey, Mapping[str, Any] | None]
"""The offset to store for each source partition."""


class SourceContext(Protocol):
    """The runtime's services for a source task."""

    @property
    def spark(self) -> SparkSession:
        """The worker's Spark session. Do not keep it: it may be replaced by a new one."""
        ...

    def offset(self, partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The stored offset of a source partition; None if there is none."""
        ...

    @property
    def stopping(self) -> bool:
        """True once the task should stop; check it during long waits."""
        ...

    @property
    def stores_parts(self) -> bool:
        """Whether `part_offsets` of a batch are stored while it is written.

        If not, an interrupted batch is read again from its beginning: make batches shorter.
        """
        ...

    def show(self, name: str, figure: int) -> None:
        """Show a figure in the task's status, for facts that users should know but need not fix."""
        ...


@dataclass(frozen=True, slots=True)
class SourceBatch:
    """Records found but not read yet, and the offsets to store once they are written.

    Attributes:
        frame: columns `value` and any of `topic`, `partition`, `timestamp` (milliseconds), `key`,
            `headers`; absent columns are null. One Spark partition keeps the order.
        topic: the topic of all rows, if the frame has no column for it.
        offsets: the offset to store for each source partition after the write; None, stored as
            null, for a partition that was read but has no position.
        more: True if there is more to read at once, so that the framework does not wait.
        kept: True if the task returns the same frame object again, with other rows each time. It
            is then planned once, which is most of the work of a small batch.
        part_offsets: for a long batch in several Spark partitions: the offsets after the first of
            them is written, after the first two, and so on to all but the last. Spark begins with
            the first; some are written at the same time.
        repeatable: True if the frame has the same rows whenever it is read, before the next
            read(). If not, they are first stored on disk if several jobs need the same rows: each
            outcome of a chain, such as a predicate makes, is written by a job of its own.
    """

    frame: DataFrame
    topic: str | None
    value_schema: Schema | None
    key_schema: Schema | None = None
    offsets: Offsets = field(default_factory=dict)
    more: bool = False
    kept: bool = False
    part_offsets: Sequence[Offsets] = ()
    repeatable: bool = False


class SourceTask(ABC):
    """Root of source tasks: subclass FrameSourceTask.

    Life, all on the task's own thread: constructed, start(), read() repeatedly, stop().
    stop() is also called when start() failed.
    """

    @abstractmethod
    def start(self, config: Mapping[str, str], context: SourceContext) -> None:
        """Open what the task needs and read the stored offsets."""

    def stop(self) -> None:
        """Release what start() acquired."""
        return


class FrameSourceTask(SourceTask):
    """A source that reads with Spark."""

    #: How long to wait after read() found nothing; tasks with a setting for it set this in start().
    poll_interval_seconds: float = 1.0

    @abstractmethod
    def read(self) -> SourceBatch | None:
        """The next records, or None if there is nothing new.

        Find the end of the next range cheaply on the driver, and return a lazy frame of exactly
        that range: no Spark job if there is nothing to read. If the batch can't be written, the
        framework starts a new instance from the stored offsets, so the task keeps its position
        only in memory.

        Raises:
            RetriableError: the framework calls it again after the back-off.
        """

    def explained(self, error: Exception) -> Exception:
        """A better error for a job over one of its frames that failed with this error.

        RetriableError if the job may succeed later, such as when the source's server is away;
        `error` itself if the task knows no better one.
        """
        return error

    def committed(self) -> None:
        """Called after the last batch was written to Kafka and its offsets stored."""
        return
