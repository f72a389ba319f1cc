"""Batches of a sink on a real Spark: what is handed over, reported and passed over, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from penstock.api.plugin import PluginKind
from penstock.api.sink import FrameSinkTask, OffsetRange, SinkBatch, SinkContext, SinkTraits
from penstock.converters.json.converter import JsonConverter
from penstock.converters.text import StringConverter
from penstock.kafka.clients import RawRecord
from penstock.kernel.clock import SystemClock
from penstock.kernel.data.record import TaskId, TopicPartition
from penstock.kernel.errors import ConfigError, RefusedError
from penstock.plugins import Plugins
from penstock.worker.interface import TargetState
from penstock.worker.pipeline.chain import Chain
from penstock.worker.pipeline.faults import FaultError
from penstock.worker.pipeline.pipeline import Converters, SinkPipeline
from penstock.worker.runtime.conversion_retry import ConversionRetry
from penstock.worker.runtime.sink import decode
from penstock.worker.runtime.sink.batches import SinkBatches
from penstock.worker.runtime.sink.decode import Decoder
from penstock.worker.runtime.sink.write import Writer
from penstock.worker.runtime.task_host import TaskControl
from penstock.worker.runtime.tolerance import ErrorSettings, FaultReports

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

P0 = TopicPartition("t", 0)
HEADERS: list[list[tuple[str, bytes | None]] | None] = [[("third", b"")], None, None]
TASK = TaskId("sink", 0)


class Target(FrameSinkTask):
    """Takes texts, but not those that begin with `!`; all of a batch or nothing."""

    def __init__(self, *, keeps_offsets: bool = False) -> None:
        self.traits = SinkTraits(keeps_offsets=keeps_offsets)
        self.values: list[str] = []
        self.ends: list[int] = []
        self.waiting: list[str] = []
        self.events: list[str] = []

    def start(self, config: Mapping[str, str], context: SinkContext) -> None:
        raise AssertionError("nobody starts it")

    def write(self, batch: SinkBatch) -> None:
        values = [row.value for row in batch.frame.select("value").collect()]
        if any(str(value).startswith("!") for value in values):
            raise RefusedError(f"{values} are not all good")
        self.waiting += values
        if self.traits.keeps_offsets and batch.more:
            return
        self.values += self.waiting
        self.waiting = []
        self.ends += [each.end for each in batch.ranges]
        self.events.append("write")

    def discard(self, batch: SinkBatch) -> None:
        self.waiting = []


class Topic:
    """Dead letters, as stage and offset."""

    def __init__(self, events: list[str]) -> None:
        self.letters: list[tuple[str, int]] = []
        self._events = events

    def prepare(self) -> None:
        self._events.append("prepare")

    def write(self, frame: DataFrame) -> int:
        found = [
            {header.key: bytes(header.value).decode() for header in row.headers}
            for row in frame.collect()
        ]
        prefix = "__connect.errors."
        self.letters += [(each[f"{prefix}stage"], int(each[f"{prefix}offset"])) for each in found]
        self._events.append("report")
        return len(found)


class Sink:
    def __init__(
        self,
        spark: SparkSession,
        target: Target,
        config: Mapping[str, str] | None = None,
        *,
        json: bool = False,
        tolerance: str = "all",
    ) -> None:
        self.target = target
        self.topic = Topic(target.events)
        self.stopping = False
        keys = {
            "errors.tolerance": tolerance,
            "errors.deadletterqueue.topic.name": "dead",
            "errors.deadletterqueue.context.headers.enable": "true",
        }
        errors = ErrorSettings.parse(keys)
        plugins = Plugins()

        def load(name: str, kind: PluginKind) -> Any:
            return plugins.load_named(name, kind)

        text = StringConverter(StringConverter.Config.parse({"converter.type": "key"}), is_key=True)
        no_schemas = {"converter.type": "value", "schemas.enable": "false"}
        values: Any = JsonConverter(JsonConverter.Config.parse(no_schemas), is_key=False)
        decoder = Decoder(
            lambda: spark,
            make_converters=lambda: Converters(text, values if json else text),
            make_pipeline=lambda converters: SinkPipeline(Chain.of(config or {}, load), converters),
            reader={},
            conversions=ConversionRetry(errors, TaskControl(TargetState.STARTED, SystemClock())),
            pieces=target.traits.pieces_per_core,
        )
        reports = FaultReports(errors, TASK, self.topic)
        writer = Writer("some.Connector", target, decoder, errors, reports, lambda: self.stopping)
        self.batches = SinkBatches(TASK, decoder, writer, lambda partitions: {}, one_topic=False)

    def write(self, values: Sequence[str]) -> int:
        """Up to where the values were written."""
        records = [
            RawRecord(
                "t", 0, number, -1, 0, str(number).encode(), value.encode(), HEADERS[number % 3]
            )
            for number, value in enumerate(values)
        ]
        (done,) = self.batches.write(records, (OffsetRange(P0, 0, len(values)),))
        return done.end


def test_a_wrong_chain_is_an_error_before_there_is_a_record(spark: SparkSession) -> None:
    config = {"transforms": "x", "transforms.x.type": "RegexRouter"}
    with pytest.raises(ConfigError, match=r"^transforms\.x: "):
        Sink(spark, Target(), config)


@pytest.mark.parametrize("few", [0, 200])
def test_good_batches_need_no_report(
    spark: SparkSession, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decode, "FEW_RECORDS", few)
    sink = Sink(spark, Target(), json=True)
    assert sink.write([str(number) for number in range(150)]) == 150
    assert sink.target.events == ["write"]


@pytest.mark.parametrize("few", [0, 200])
def test_faulty_rows_are_reported_after_they_were_counted(
    spark: SparkSession, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decode, "FEW_RECORDS", few)
    sink = Sink(
        spark,
        Target(),
        {
            "transforms": "cast",
            "transforms.cast.type": "org.apache.kafka.connect.transforms.Cast$Value",
            "transforms.cast.spec": "int32",
        },
    )
    values = ["x" if number in (3, 140) else str(number) for number in range(150)]
    assert sink.write(values) == 150
    assert len(sink.target.values) == 148
    assert sink.topic.letters == [("TRANSFORMATION", 3), ("TRANSFORMATION", 140)]
    assert sink.target.events == ["write", "report"]


@pytest.mark.parametrize("keeps_offsets", [False, True])
def test_refused_records_are_passed_over(spark: SparkSession, keeps_offsets: bool) -> None:
    sink = Sink(spark, Target(keeps_offsets=keeps_offsets))
    values = ["!" if number in (4, 5, 19) else f"n{number}" for number in range(20)]
    assert sink.write(values) == 20
    assert sink.target.values == [value for value in values if value != "!"]
    assert sink.topic.letters == [("TASK_PUT", 4), ("TASK_PUT", 5), ("TASK_PUT", 19)]
    if keeps_offsets:
        # Each is reported before its offset is passed, and the last one is passed by itself.
        assert sink.target.ends[-1] == 20
        assert sink.target.events[-2:] == ["report", "write"]
    else:
        assert sink.target.events[-1] == "report"


@pytest.mark.parametrize("keeps_offsets", [False, True])
def test_parts_of_several_schemas_come_once(spark: SparkSession, keeps_offsets: bool) -> None:
    # Every third record goes another way than the others: its key becomes a number.
    sink = Sink(
        spark,
        Target(keeps_offsets=keeps_offsets),
        {
            "transforms": "cast",
            "transforms.cast.type": "org.apache.kafka.connect.transforms.Cast$Key",
            "transforms.cast.spec": "int32",
            "transforms.cast.predicate": "named",
            "predicates": "named",
            "predicates.named.type": "org.apache.kafka.connect.transforms.predicates.HasHeaderKey",
            "predicates.named.name": "third",
        },
    )
    values = ["!" if number == 6 else f"n{number}" for number in range(9)]
    assert sink.write(values) == 9
    assert sorted(sink.target.values) == [value for value in values if value != "!"]
    assert sink.topic.letters == [("TASK_PUT", 6)]


def test_without_tolerance_a_refusal_is_an_error_that_names_the_record(
    spark: SparkSession,
) -> None:
    sink = Sink(spark, Target(), tolerance="none")
    assert sink.write(["a", "b", "!", "c"]) == 2
    with pytest.raises(
        FaultError, match=r"not all good \(TASK_PUT some.Connector, record t-0, offset 0\)"
    ):
        sink.write(["!", "c"])
    assert sink.target.values == ["a", "b"]
    assert sink.topic.letters == [("TASK_PUT", 0)]


def test_a_stop_ends_the_search_with_what_is_done(spark: SparkSession) -> None:
    target = Target()
    sink = Sink(spark, target)
    whole = target.write

    def write(batch: SinkBatch) -> None:
        whole(batch)
        sink.stopping = True

    target.write = write  # type: ignore[method-assign]
    values = ["!" if number == 6 else f"n{number}" for number in range(9)]
    done = sink.write(values)
    assert 0 < done < 9
    assert target.values == values[:done]
