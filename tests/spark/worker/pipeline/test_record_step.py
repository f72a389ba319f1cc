"""Record transformations in a chain over a frame; the example that does it both ways."""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from penstock.api import Plugin, PluginKind, Record, RecordPredicate, RecordTransformation
from penstock.kernel.data.schema import Field, Schema, SchemaType, struct_schema, timestamp_schema
from penstock.kernel.errors import DataError, PluginError
from penstock.plugins import Plugins
from penstock.worker.pipeline.chain import Chain
from penstock.worker.pipeline.output_topics import output_topics
from tests.spark.transforms.records import CaseRecord, frame_of, payloads

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLE = Path(__file__).parents[4] / "examples" / "plugins" / "insert_uuid.py"
NUMBER = Schema(SchemaType.INT32)
VALUE = struct_schema(Field("a", NUMBER), Field("at", timestamp_schema(optional=True)), name="row")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Halves(RecordTransformation):
    """Half of `a`; odd ones fail, zeros are dropped."""

    def apply(self, record: Record) -> Record | None:
        number = record.value["a"]
        if number % 2:
            raise ValueError(f"{number} is odd")
        return record.replace(value={**record.value, "a": number // 2}) if number else None


class ToText(RecordTransformation):
    """The value as text; only structs have one."""

    def schemas(
        self, key_schema: Schema | None, value_schema: Schema | None
    ) -> tuple[Schema | None, Schema | None]:
        if value_schema is NUMBER:
            raise DataError("numbers have no text")
        return key_schema, Schema(SchemaType.STRING)

    def apply(self, record: Record) -> Record:
        return record.replace(value=f"{record.topic}/{record.value['a']}")


class Parsed(RecordTransformation):
    """Fails in what it calls, and gives something else than a record."""

    def apply(self, record: Record) -> Any:
        return json.loads("{") if record.value["a"] else {}


class Nothing(RecordTransformation):
    """Says nothing of its schemas."""

    def schemas(self, key_schema: Any, value_schema: Any) -> Any:
        return None

    def apply(self, record: Record) -> Record:
        return record


class Small(RecordPredicate):
    """Holds for small numbers; there must be one."""

    def holds(self, record: Record) -> bool:
        return bool(record.value["a"] < 5)


class Router(Halves):
    routes = True


OWN: dict[str, type[Plugin]] = {
    each.__name__: each for each in (Halves, ToText, Parsed, Nothing, Router, Small)
}
OLD = {
    "predicates": "old",
    "predicates.old.type": "TopicNameMatches",
    "predicates.old.pattern": "old.*",
    "transforms.x.predicate": "old",
}


def chain(*names: str, **more: str) -> Chain:
    config = {"transforms": ",".join("xyz"[: len(names)]), **more}
    config |= {f"transforms.{alias}.type": name for alias, name in zip("xyz", names, strict=False)}

    def load(name: str, kind: PluginKind) -> type[Plugin]:
        return OWN[name] if name in OWN else Plugins().load_named(name, kind)

    return Chain.of(config, load)


def records(*numbers: int, topic: str = "t") -> list[CaseRecord]:
    return [CaseRecord({"a": number, "at": 1000}, topic) for number in numbers]


def run(
    spark: SparkSession,
    made: Chain,
    rows: list[CaseRecord],
    schema: Schema | None,
    side: str = "value",
) -> list[list[tuple[Any, str | None]]]:
    """For each branch, the data and the fault of its rows."""
    schemas = (None, schema) if side == "value" else (schema, None)
    found = []
    for branch in made.compile(*schemas):
        after = branch.value_schema if side == "value" else branch.key_schema
        frame = branch.apply(frame_of(spark, rows, side, schema))
        shown = frame.select(payloads(F.col(side), after).alias("data"), "fault.message")
        found.append([(_read(row.data, after), row.message) for row in shown.collect()])
    return found


def _read(text: str | None, schema: Schema | None) -> Any:
    if text is None:
        return None
    return json.loads(text) if schema is None else json.loads(text)["x"]


@pytest.mark.parametrize("schema", [VALUE, None], ids=["with schema", "without"])
def test_changed_dropped_and_faulty_rows(spark: SparkSession, schema: Schema | None) -> None:
    [rows] = run(spark, chain("Halves"), records(4, 0, 3), schema)
    assert rows[0] == ({"a": 2, "at": 1000}, None)
    data, fault = rows[1]
    assert data == {"a": 3, "at": 1000}
    assert fault is not None
    assert fault.startswith("ValueError: 3 is odd (test_record_step.py, line ")
    assert len(rows) == 2


def test_a_fault_names_a_line_of_the_plugin_or_none(spark: SparkSession) -> None:
    [rows] = run(spark, chain("Parsed"), records(0, 1), VALUE)
    line = inspect.getsourcelines(Parsed.apply)[1] + 1
    assert [fault for _, fault in rows] == [
        "PluginError: apply() returned a dict, not a Record or None",
        "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2"
        f" (char 1) (test_record_step.py, line {line})",
    ]


@pytest.mark.parametrize("schema", [VALUE, None], ids=["with schema", "without"])
def test_between_other_steps_and_with_another_schema(
    spark: SparkSession, schema: Schema | None
) -> None:
    router = {"transforms.z.regex": "t", "transforms.z.replacement": "u"}
    made = chain("Halves", "ToText", "RegexRouter", **router)
    [[good, bad]] = run(spark, made, records(4, 5), schema)
    assert good == ("t/2", None)
    assert bad[0] is None
    assert str(bad[1]).startswith("ValueError: 5 is odd")
    [branch] = made.compile(None, schema)
    assert branch.value_schema == Schema(SchemaType.STRING)
    assert "records through" in made.explain(None, schema)
    assert output_topics(spark, [branch], ["t"]) == frozenset({"u"})


@pytest.mark.parametrize("negate", ["false", "true"])
def test_guarded(spark: SparkSession, negate: str) -> None:
    rows = [*records(4, topic="old"), *records(6, topic="new")]
    made = chain("Halves", **OLD, **{"transforms.x.negate": negate})
    [found] = run(spark, made, rows, VALUE)
    assert [data["a"] for data, _ in found] == ([4, 3] if negate == "true" else [2, 6])
    made = chain("ToText", **OLD, **{"transforms.x.negate": negate})
    changed, unchanged = run(spark, made, rows, VALUE)
    assert [data for data, _ in changed] == (["new/6"] if negate == "true" else ["old/4"])
    assert len(unchanged) == 1


SMALL = {
    "predicates": "small",
    "predicates.small.type": "Small",
    "transforms.x.predicate": "small",
}


@pytest.mark.parametrize("schema", [VALUE, None], ids=["with schema", "without"])
@pytest.mark.parametrize("negate", ["false", "true"])
def test_guarded_by_a_record_predicate(
    spark: SparkSession, negate: str, schema: Schema | None
) -> None:
    rows = [*records(4, 6), CaseRecord(None)]
    guard = {**SMALL, "transforms.x.negate": negate}
    [found] = run(spark, chain("Halves", **guard), rows, schema)
    assert [data and data["a"] for data, _ in found] == ([4, 3] if negate == "true" else [2, 6]) + [
        None
    ]
    assert str(found[2][1]).startswith("TypeError: 'NoneType' object is not subscriptable (")
    changed, unchanged = run(spark, chain("ToText", **guard), rows, schema)
    assert [data for data, _ in changed if data] == ["t/6" if negate == "true" else "t/4"]
    assert [fault is None for _, fault in (*changed, *unchanged)].count(False) == 1
    [found] = run(spark, chain("Filter", **guard), rows, schema)
    assert [data and data["a"] for data, _ in found] == [4 if negate == "true" else 6, None]


def test_no_record_of_a_schema_can_be_transformed(spark: SparkSession) -> None:
    [[(_, fault)]] = run(spark, chain("ToText"), [CaseRecord(1)], NUMBER)
    assert fault == "numbers have no text"
    with pytest.raises(PluginError, match=r"Nothing: schemas\(\) must return the schemas of key"):
        chain("Nothing").compile(None, VALUE)


def test_topics_are_known_without_a_job_unless_it_routes(spark: SparkSession) -> None:
    assert output_topics(spark, chain("Halves").compile(None, VALUE), ["t"]) == frozenset({"t"})
    assert output_topics(spark, chain("Router").compile(None, VALUE), ["t"]) is None


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("insert_uuid_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def with_example(example: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Chain]:
    def make(name: str, **more: str) -> Chain:
        monkeypatch.setitem(OWN, name, getattr(example, name))
        return chain(name, **more)

    return make


@pytest.mark.parametrize("schema", [VALUE, None], ids=["with schema", "without"])
@pytest.mark.parametrize("side", ["key", "value"])
@pytest.mark.parametrize("form", ["InsertUuid", "RecordInsertUuid"])
def test_the_example(
    spark: SparkSession,
    with_example: Callable[..., Chain],
    form: str,
    side: str,
    schema: Schema | None,
) -> None:
    made = with_example(f"{form}{side.title()}", **{"transforms.x.uuid.field.name": "my_id"})
    rows = [*records(1, 2), CaseRecord(None)]
    [found] = run(spark, made, rows, schema, side)
    assert [fault for _, fault in found] == [None] * 3
    (first, _), (second, _), (nothing, _) = found
    assert nothing is None
    assert (first["a"], second["a"]) == (1, 2)
    assert UUID.fullmatch(first["my_id"])
    assert UUID.fullmatch(second["my_id"])
    assert first["my_id"] != second["my_id"]


@pytest.mark.parametrize("form", ["InsertUuid", "RecordInsertUuid"])
def test_the_example_on_what_is_no_struct(
    spark: SparkSession, with_example: Callable[..., Chain], form: str
) -> None:
    [[(_, fault)]] = run(spark, with_example(f"{form}Value"), [CaseRecord(1)], NUMBER)
    assert fault == "a UUID can be inserted into a struct, not into int32"
    [[(_, fault)]] = run(spark, with_example(f"{form}Value"), [CaseRecord(1)], None)
    assert fault is not None
