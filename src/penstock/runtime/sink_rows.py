"""Records of one layout on their way to a sink: ranges in Kafka, or what is here already."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol, Self

from penstock.api.sink import OffsetRange
from penstock.runtime.conversion_retry import ConversionRetry
from penstock.runtime.sink_plan import (
    LARGE_BACKLOG,
    Layouts,
    Run,
    not_empty,
    parted,
    ranges_of,
    size_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.data.record import KafkaRecord
    from penstock.plan.pipeline import Converters, SinkPipeline, Typed

#: So many records are decoded one by one in less time than a job takes to plan.
FEW_RECORDS: Final = 100


class SinkRows(Protocol):
    """Records that are planned together."""

    @property
    def ranges(self) -> tuple[OffsetRange, ...]: ...

    @property
    def size(self) -> int: ...

    def cut(self, count: int) -> tuple[Self, Self]: ...

    def typed(self) -> list[Typed]:
        """The records after converters and transformations: a part for each outcome."""
        ...


class SinkPlans:
    """Makes frames of records: the converters and the chain of one task.

    Args:
        spark: the session, with this task's job group set.
        pieces: into how many pieces for each core Spark may cut a range.
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
        """Make converters and chain anew: expressions of another Spark session are of no use."""
        self.converters = self._make_converters()
        self.pipe = self._make_pipeline(self.converters)

    def read(self, ranges: Sequence[OffsetRange]) -> DataFrame:
        """The raw records of the ranges, read by Spark."""
        from penstock.plan import kafka_io

        spark = self.spark()
        large = size_of(ranges) >= LARGE_BACKLOG
        pieces = spark.sparkContext.defaultParallelism * self._pieces if large else 1
        return kafka_io.read_ranges(spark, ranges, self._reader, pieces=max(1, pieces))

    def of_raw(self, raw: DataFrame, layouts: Layouts) -> list[Typed]:
        pipe = self.pipe
        return self._conversions.run(lambda: list(pipe.decoded(raw, layouts.key, layouts.value)))

    def of_run(self, run: Run) -> list[Typed]:
        from penstock.plan import inline_records

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
        """A few good records, decoded here: sooner done than an expression is planned."""
        from penstock.plan import inline_records

        if len(run.records) > FEW_RECORDS:
            return None
        schemas = (run.layouts.key.schema, run.layouts.value.schema)
        typed = inline_records.decoded_frame(
            self.spark(), run.records, self.converters, schemas, self._conversions.run
        )
        return None if typed is None else self._transformed(typed)

    def _transformed(self, typed: Typed) -> list[Typed]:
        pipe = self.pipe
        return self._conversions.run(lambda: list(pipe.transformed(typed)))


@dataclass(frozen=True, slots=True)
class RangeRows:
    """What Spark reads itself."""

    plans: SinkPlans
    ranges: tuple[OffsetRange, ...]
    layouts: Layouts

    @property
    def size(self) -> int:
        return size_of(self.ranges)

    def cut(self, count: int) -> tuple[RangeRows, RangeRows]:
        first, others = parted(self.ranges, count)
        return replace(self, ranges=first), replace(self, ranges=others)

    def typed(self) -> list[Typed]:
        return self.plans.of_raw(self.plans.read(not_empty(self.ranges)), self.layouts)

    def fetched(self) -> RunRows:
        """The records themselves: for ranges that have few of them."""
        from penstock.plan import inline_records

        records = inline_records.fetched(self.plans.read(not_empty(self.ranges)))
        return RunRows(self.plans, Run(self.layouts, records))


@dataclass(frozen=True, slots=True)
class RunRows:
    """Records that are here already."""

    plans: SinkPlans
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

    def cut(self, count: int) -> tuple[RunRows, RunRows]:
        first, others = self.run.records[:count], self.run.records[count:]
        return self._with(first), self._with(others)

    def _with(self, records: Sequence[KafkaRecord]) -> RunRows:
        return replace(self, run=Run(self.run.layouts, records))

    def typed(self) -> list[Typed]:
        return self.plans.of_run(self.run)

    def of_one_schema(self) -> list[RunRows]:
        """Split so that all records of each have one schema."""
        from penstock.plan import inline_records

        if self.run.layouts.regular:
            return [self]
        groups = inline_records.of_one_schema(self.run.records, self.plans.converters)
        return [self._with(group) for group in groups]
