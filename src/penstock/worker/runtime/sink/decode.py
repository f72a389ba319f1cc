"""Second stage of a sink: records of one layout as frames, after converters and chain.

Rows are ranges that Spark reads, or records already fetched; both can be split.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final, Protocol, Self

from penstock.api.sink import OffsetRange
from penstock.worker.runtime.conversion_retry import ConversionRetry
from penstock.worker.runtime.sink.layouts import Layouts, Run, SortedOut, sort_out
from penstock.worker.runtime.sink.ranges import (
    LARGE_BACKLOG,
    not_empty,
    parted,
    ranges_of,
    size_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.kernel.data.record import KafkaRecord
    from penstock.worker.pipeline.pipeline import Converters, SinkPipeline, Typed

#: Decoding so many records one by one takes less time than planning and running a job.
FEW_RECORDS: Final = 5_000
#: Long records take longer, and hold Python's lock meanwhile.
FEW_BYTES: Final = 2 << 20
#: Smaller ranges are not split but fetched, because many small jobs over them follow.
NEAR_RECORDS: Final = 400


class Rows(Protocol):
    """Records that are decoded together."""

    @property
    def unit(self) -> int:
        """The least number of records in a split."""
        ...

    @property
    def ranges(self) -> tuple[OffsetRange, ...]: ...

    @property
    def size(self) -> int: ...

    def cut(self, count: int) -> tuple[Self, Self]:
        """The first `count`, and the others; either may be empty."""
        ...

    def decoded(self) -> list[Typed]:
        """The records after converters and transformations: a part for each outcome."""
        ...

    def fetched(self) -> FetchedRows:
        """The records themselves; only for a few rows."""
        ...


class Decoder:
    """Makes frames of records: the converters and the chain of one task.

    Args:
        spark: the session, with this task's job group set.
        pieces: into how many pieces for each core Spark may split a range.
    """

    def __init__(
        self,
        spark: Callable[[], SparkSession],
        *,
        make_converters: Callable[[], Converters],
        make_pipeline: Callable[[Converters], SinkPipeline],
        reader: Mapping[str, str],
        conversions: ConversionRetry,
        pieces: int,
    ) -> None:
        self.spark = spark
        self._make_converters = make_converters
        self._make_pipeline = make_pipeline
        self._reader = reader
        self._conversions = conversions
        self._pieces = pieces
        self.renew()

    def renew(self) -> None:
        """Make new converters and a new chain, as a new Spark session needs."""
        self.converters = self._make_converters()
        self.pipe = self._make_pipeline(self.converters)

    def sort_out(self, records: Sequence[KafkaRecord], *, tolerant: bool) -> SortedOut:
        """Sort the records by how to read them."""
        retry = self._conversions.run
        return sort_out(records, self.converters, tolerant=tolerant, retry=retry)

    def topics(self, typed: Typed, read: Collection[str]) -> frozenset[str] | None:
        """The topics that the records may have, if they were read from these."""
        return self.pipe.topics(typed, frozenset(read))

    def read(self, ranges: Sequence[OffsetRange]) -> DataFrame:
        """The raw records of the ranges, read by Spark."""
        from penstock.worker.pipeline import kafka_io

        spark = self.spark()
        large = size_of(ranges) >= LARGE_BACKLOG
        pieces = spark.sparkContext.defaultParallelism * self._pieces if large else 1
        return kafka_io.read_ranges(spark, ranges, self._reader, pieces=max(1, pieces))

    def of_raw(self, raw: DataFrame, layouts: Layouts) -> list[Typed]:
        pipe = self.pipe
        return self._conversions.run(lambda: list(pipe.decoded(raw, layouts.key, layouts.value)))

    def of_run(self, run: Run) -> list[Typed]:
        from penstock.worker.pipeline import inline_records

        if run.layouts.regular:
            few = self._of_few(run)
            if few is not None:
                return few
            return self.of_raw(inline_records.raw_frame(self.spark(), run.records), run.layouts)
        typed = inline_records.decoded_frames(
            self.spark(), run.records, self.converters, self._conversions.run
        )
        return [part for each in typed for part in self._transformed(each)]

    def _of_few(self, run: Run) -> list[Typed] | None:
        """A few good records, decoded on the driver, which is faster than planning a job."""
        from penstock.worker.pipeline import inline_records

        if not are_few(run.records):
            return None
        schemas = (run.layouts.key.schema, run.layouts.value.schema)
        typed = inline_records.decoded_frame(
            self.spark(), run.records, self.converters, schemas, self._conversions.run
        )
        return None if typed is None else self._transformed(typed)

    def _transformed(self, typed: Typed) -> list[Typed]:
        pipe = self.pipe
        return self._conversions.run(lambda: list(pipe.transformed(typed)))


def are_few(records: Sequence[KafkaRecord]) -> bool:
    """Whether to decode the records one by one, on the driver."""
    if len(records) > FEW_RECORDS:
        return False
    return sum(len(each.key or b"") + len(each.value or b"") for each in records) <= FEW_BYTES


@dataclass(frozen=True, slots=True)
class RangeRows:
    """Ranges of offsets that Spark reads."""

    unit: ClassVar[int] = NEAR_RECORDS

    decoder: Decoder
    ranges: tuple[OffsetRange, ...]
    layouts: Layouts

    @property
    def size(self) -> int:
        return size_of(self.ranges)

    def cut(self, count: int) -> tuple[RangeRows, RangeRows]:
        first, others = parted(self.ranges, count)
        return replace(self, ranges=first), replace(self, ranges=others)

    def decoded(self) -> list[Typed]:
        return self.decoder.of_raw(self.decoder.read(not_empty(self.ranges)), self.layouts)

    def fetched(self) -> FetchedRows:
        from penstock.worker.pipeline import inline_records

        records = inline_records.fetched(self.decoder.read(not_empty(self.ranges)))
        return FetchedRows(self.decoder, Run(self.layouts, records))


@dataclass(frozen=True, slots=True)
class FetchedRows:
    """Records that were already fetched."""

    unit: ClassVar[int] = 1

    decoder: Decoder
    run: Run

    @property
    def ranges(self) -> tuple[OffsetRange, ...]:
        return ranges_of(self.run.records)

    @property
    def size(self) -> int:
        return len(self.run.records)

    @property
    def records(self) -> Sequence[KafkaRecord]:
        return self.run.records

    def cut(self, count: int) -> tuple[FetchedRows, FetchedRows]:
        first, others = self.run.records[:count], self.run.records[count:]
        return self._with(first), self._with(others)

    def _with(self, records: Sequence[KafkaRecord]) -> FetchedRows:
        return replace(self, run=Run(self.run.layouts, records))

    def decoded(self) -> list[Typed]:
        return self.decoder.of_run(self.run)

    def fetched(self) -> FetchedRows:
        return self

    def followed_by(self, others: FetchedRows) -> FetchedRows:
        """These records, then the others."""
        return self._with([*self.records, *others.records])

    def of_one_schema(self) -> list[FetchedRows]:
        """Split so that all records of each have one schema."""
        from penstock.worker.pipeline import inline_records

        if self.run.layouts.regular:
            return [self]
        groups = inline_records.of_one_schema(self.run.records, self.decoder.converters)
        return [self._with(group) for group in groups]
