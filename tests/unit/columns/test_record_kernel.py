"""Record transformations over Arrow batches, without Spark."""

from __future__ import annotations

import sys
from typing import Any

import pyarrow as pa
import pytest

from penstock.api import (
    Header,
    Record,
    RecordPredicate,
    RecordTransformation,
    RetriableError,
)
from penstock.columns.python_values import python_type, writer
from penstock.columns.record_kernel import HOLDS, Made, PredicateKernel, RecordKernel
from penstock.converters.simple_header import SimpleHeaderConverter, SimpleHeaderConverterConfig
from penstock.kernel.config import Config, Type, key
from penstock.kernel.data.schema import Field, Schema, SchemaType, struct_schema
from penstock.kernel.errors import DataError
from penstock.kernel.retries import Retries

INT = Schema(SchemaType.INT32)
ROW = struct_schema(Field("a", INT))
NEVER = Retries(0, 60_000)
BUSY = 2
_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
_FAULT = pa.struct([("stage", pa.string()), ("class", pa.string()), ("message", pa.string())])


class ScriptConfig(Config):
    do: str = key(Type.STRING, default="", doc="What to do.")


class Script(RecordTransformation):
    """Does what `do` says."""

    Config = ScriptConfig
    events: list[str] = []  # noqa: RUF012 - shared on purpose

    def configure(self) -> None:
        self.events.append("configure")

    def close(self) -> None:
        self.events.append("close")

    def apply(self, record: Record) -> Record | None:  # noqa: C901 - a list
        match self.config.do:
            case "drop":
                return None if record.value["a"] % 2 else record
            case "raise":
                raise ValueError("no such thing") if record.value["a"] == 1 else KeyError("x")
            case "exit":
                sys.exit(3)
            case "busy":
                self.events.append("asked")
                if self.events.count("asked") <= BUSY:
                    raise RetriableError("the table is locked")
            case "text":
                return record.replace(value={"a": "text"})
            case "topic":
                return record.replace(topic="elsewhere")
            case "schema":
                return record.replace(value_schema=INT)
            case "nonsense":
                return record.value  # type: ignore[no-any-return]
            case "headers":
                headers = record.headers.without("gone").with_("n", 5, INT)
                assert record.headers.last("kept") == Header("kept", 1, Schema(SchemaType.INT8))
                return record.replace(headers=headers, partition=9, timestamp=8)
            case "list of headers":
                return record.replace(headers=[Header("only", "x")])
            case "wrong header":
                return record.replace(headers=["only"])
        return record


class Router(Script):
    routes = True


class Unsure(RecordPredicate):
    """Does not know at first."""

    asked = 0

    def holds(self, record: Record) -> bool:
        del record
        Unsure.asked += 1
        if Unsure.asked == 1:
            raise RetriableError("the table is locked")
        return True


def batch_of(values: list[Any], schema: Schema | None = ROW, **more: pa.Array) -> pa.RecordBatch:
    size = len(values)
    header = [{"key": "kept", "value": b"1"}, {"key": "gone", "value": b"\xff"}]
    columns = {
        "topic": pa.array(["t"] * size),
        "partition": pa.array([0] * size, pa.int32()),
        "offset": pa.array(range(size), pa.int64()),
        "timestamp": pa.array([None] * size, pa.int64()),
        "headers": pa.array([header] * size, _HEADERS),
        "raw_value": pa.array([bytes([place]) for place in range(size)]),
        "key": pa.array([None] * size, python_type(None)),
        "value": pa.array([writer(schema, "value")(each) for each in values], python_type(schema)),
        "fault": pa.array([None] * size, _FAULT),
        **more,
    }
    return pa.RecordBatch.from_pydict(columns)


def run(
    do: str,
    batch: pa.RecordBatch,
    *,
    after: Schema | None = ROW,
    plugin: type[Script] = Script,
    retries: Retries = NEVER,
) -> list[dict[str, Any]]:
    kernel = RecordKernel(
        Made(plugin, ScriptConfig(do=do)),
        Made(SimpleHeaderConverter, SimpleHeaderConverterConfig()),
        (None, ROW),
        (None, after),
        retries,
    )
    [made] = kernel(iter([batch]))
    rows: list[dict[str, Any]] = made.to_pylist()
    return rows


def fault_of(do: str) -> str:
    [row] = run(do, batch_of([{"a": 1}]))
    assert row["fault"]["stage"] == "TRANSFORMATION"
    assert row["fault"]["class"] == Script.class_name()
    assert row["value"] == {"a": 1}
    text: str = row["fault"]["message"]
    return text


@pytest.mark.parametrize("timeout_ms", [60_000, -1])
def test_a_record_is_tried_again_if_it_asks_for_that(timeout_ms: int) -> None:
    Script.events.clear()
    rows = run("busy", batch_of([{"a": 1}, {"a": 5}]), retries=Retries(timeout_ms, 1))
    assert [(row["value"], row["fault"]) for row in rows] == [({"a": 1}, None), ({"a": 5}, None)]
    assert Script.events.count("asked") == BUSY + 2


def test_the_last_attempt_is_made_when_the_time_is_over() -> None:
    Script.events.clear()
    [row] = run("busy", batch_of([{"a": 1}]), retries=Retries(1, 60_000))
    assert row["fault"]["message"].startswith("RetriableError: the table is locked (")
    assert Script.events.count("asked") == 2


def test_without_time_for_it_nothing_is_tried_again() -> None:
    Script.events.clear()
    [row] = run("busy", batch_of([{"a": 1}]))
    assert row["fault"]["message"].startswith("RetriableError: the table is locked (")
    assert Script.events.count("asked") == 1


def test_a_predicate_is_asked_again() -> None:
    Unsure.asked = 0
    batch = batch_of([{"a": 1}])
    kernel = PredicateKernel(
        Made(Unsure, Unsure.Config()),
        Made(SimpleHeaderConverter, SimpleHeaderConverterConfig()),
        (None, ROW),
        Retries(60_000, 1),
    )
    [[row]] = [made.to_pylist() for made in kernel(iter([batch]))]
    assert (row[HOLDS], row["fault"], Unsure.asked) == (True, None, 2)


def test_untouched_rows_stay_as_they_are() -> None:
    batch = batch_of([{"a": 1}, None])
    assert run("", batch) == batch.to_pylist()


def test_dropped_rows_take_their_other_columns_with_them() -> None:
    rows = run("drop", batch_of([{"a": number} for number in range(4)]))
    assert [(row["value"]["a"], row["offset"], row["raw_value"]) for row in rows] == [
        (0, 0, b"\x00"),
        (2, 2, b"\x02"),
    ]


def test_what_apply_raises_is_a_fault_of_the_record_alone() -> None:
    first, second = run("raise", batch_of([{"a": 1}, {"a": 2}]))
    assert first["fault"]["message"].startswith("ValueError: no such thing (test_record_kernel.py,")
    assert second["fault"]["message"].startswith("KeyError: 'x' (test_record_kernel.py, line ")
    assert first["value"] == {"a": 1}
    assert fault_of("exit").startswith("SystemExit: 3 (")


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ("text", "DataError: value.a: a str does not fit int32"),
        ("topic", "PluginError: it changed the topic; its class must set routes = True for that"),
        ("schema", "PluginError: value: the schema of the result is not the one of schemas()"),
        ("nonsense", "PluginError: apply() returned a Struct, not a Record or None"),
        ("wrong header", "DataError: headers: a str is not a Header"),
    ],
)
def test_results_that_do_not_fit(do: str, message: str) -> None:
    assert fault_of(do).startswith(message)


def test_a_router_may_change_the_topic() -> None:
    [row] = run("topic", batch_of([{"a": 1}]), plugin=Router)
    assert (row["topic"], row["fault"]) == ("elsewhere", None)


def test_headers_partition_and_timestamp() -> None:
    [row] = run("headers", batch_of([{"a": 1}]))
    assert row["fault"] is None
    # What nobody decoded keeps its bytes.
    assert row["headers"] == [{"key": "kept", "value": b"1"}, {"key": "n", "value": b"5"}]
    assert (row["partition"], row["timestamp"]) == (9, 8)
    [row] = run("list of headers", batch_of([{"a": 1}]))
    assert row["headers"] == [{"key": "only", "value": b"x"}]


def test_rows_that_it_is_not_meant_for_and_faulty_ones() -> None:
    faults = [None, {"stage": "s", "class": "c", "message": "earlier"}, None]
    batch = batch_of(
        [{"a": 1}, {"a": 2}, {"a": 3}],
        fault=pa.array(faults, _FAULT),
        **{HOLDS: pa.array([False, True, True])},
    )
    first, second, third = run("raise", batch)
    assert (first["fault"], first["value"]) == (None, {"a": 1})
    assert second["fault"]["message"] == "earlier"
    assert third["fault"]["class"] == Script.class_name()
    assert HOLDS not in first


def test_the_data_of_a_faulty_row_does_not_fit_another_schema() -> None:
    [row] = run("raise", batch_of([{"a": 1}]), after=INT)
    assert row["value"] is None
    assert row["raw_value"] == b"\x00"


def test_opened_and_closed_once_for_each_run() -> None:
    Script.events.clear()
    run("", batch_of([{"a": 1}]))
    assert Script.events == ["configure", "close"]


def test_closed_when_a_batch_can_not_be_read() -> None:
    Script.events.clear()
    with pytest.raises(KeyError):
        run("", batch_of([{"a": 1}]).drop_columns(["topic"]))
    assert Script.events == ["configure", "close"]


def test_config_errors_are_found_where_it_is_made() -> None:
    class Picky(Script):
        def __init__(self, config: Config) -> None:
            raise DataError("never")

    with pytest.raises(DataError, match="never"):
        run("", batch_of([{"a": 1}]), plugin=Picky)
