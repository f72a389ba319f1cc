"""What Java's transformations do not have, or have where its JSON can't show it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from penstock.kernel.data.schema import Field, Schema, SchemaType, decimal_schema, struct_schema
from penstock.plugins import Plugins
from penstock.worker.pipeline.chain import Chain
from tests.spark.transforms.records import CaseRecord, frame_of, payloads

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

NUMBER = Schema(SchemaType.INT32)
TEXT = Schema(SchemaType.STRING, optional=True)
ADDRESS = struct_schema(Field("city", TEXT), Field("zip", NUMBER), optional=True)
USER = struct_schema(Field("name", TEXT), Field("address", ADDRESS))
RECORD = struct_schema(Field("id", NUMBER), Field("user", USER), Field("a.b", NUMBER))
ANN = {"id": 1, "user": {"name": "Ann", "address": {"city": "Bonn", "zip": 53111}}, "a.b": 2}
BOB = {"id": 2, "user": {"name": "Bob", "address": None}, "a.b": 3}


class Transformed:
    """Values after one transformation."""

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        config: dict[str, str],
        values: list[Any],
        schema: Schema | None = None,
    ) -> None:
        plugin = f"org.apache.kafka.connect.transforms.{name}"
        own = {f"transforms.x.{key}": text for key, text in config.items()}
        chain = Chain.of(
            {"transforms": "x", "transforms.x.type": plugin, **own}, Plugins().load_named
        )
        [branch] = chain.compile(None, schema)
        self.key_schema, self.value_schema = branch.key_schema, branch.value_schema
        frame = branch.apply(
            frame_of(spark, [CaseRecord(each) for each in values], "value", schema)
        )
        self.rows: list[Row] = frame.select(
            payloads(F.col("key"), branch.key_schema).alias("key"),
            payloads(F.col("value"), branch.value_schema).alias("value"),
            F.col("fault.message").alias("fault"),
        ).collect()

    @property
    def keys(self) -> list[Any]:
        return [_read(row.key, self.key_schema) for row in self.rows]

    @property
    def values(self) -> list[Any]:
        return [_read(row.value, self.value_schema) for row in self.rows]

    @property
    def faults(self) -> list[str | None]:
        return [row.fault for row in self.rows]


def _read(text: str | None, schema: Schema | None) -> Any:
    if text is None:
        return None
    return json.loads(text) if schema is None else json.loads(text)["x"]


PATHS = {"field.syntax.version": "V2"}


def test_masked_paths(spark: SparkSession) -> None:
    config = {"fields": "user.address.city,user.name,`a.b`,user.none", **PATHS}
    found = Transformed(spark, "MaskField$Value", config, [ANN, BOB], RECORD)
    assert found.value_schema == RECORD
    assert found.faults == [None, None]
    assert found.values == [
        {"id": 1, "user": {"name": "", "address": {"city": "", "zip": 53111}}, "a.b": 0},
        {"id": 2, "user": {"name": "", "address": None}, "a.b": 0},
    ]


def test_masked_paths_without_schema(spark: SparkSession) -> None:
    config = {"fields": "user.address.city,`a.b`", "replacement": "7", **PATHS}
    found = Transformed(spark, "MaskField$Value", config, [ANN, BOB, {"user": {}}, {"a": 1}])
    assert found.faults == [None] * 4
    assert found.values == [
        {"id": 1, "user": {"name": "Ann", "address": {"city": "7", "zip": 53111}}, "a.b": 7},
        {"id": 2, "user": {"name": "Bob", "address": None}, "a.b": 7},
        {"user": {}, "a.b": None},
        {"a": 1, "a.b": None},
    ]


@pytest.mark.parametrize("name", ["MaskField$Value", "ValueToKey"])
def test_paths_into_what_has_no_fields(spark: SparkSession, name: str) -> None:
    config = {"fields": "id.x", **PATHS}
    [fault] = Transformed(spark, name, config, [ANN]).faults
    assert fault == (
        "Only Map objects supported in absence of schema for [nested field access],"
        " found: java.lang.Long"
    )
    [fault] = Transformed(spark, name, config, [ANN], RECORD).faults
    assert fault == (
        "Only Struct objects supported for [nested field access], found: java.lang.Integer"
        if name == "MaskField$Value"
        else "Cannot look up fields on non-struct type"
    )


def test_a_key_from_paths(spark: SparkSession) -> None:
    config = {"fields": "user.address.zip,`a.b`,id", **PATHS}
    found = Transformed(spark, "ValueToKey", config, [ANN, BOB], RECORD)
    # Where there may be no address, there may be no zip.
    zip_code = Field("zip", NUMBER.as_optional())
    assert found.key_schema == struct_schema(zip_code, Field("a.b", NUMBER), Field("id", NUMBER))
    assert found.keys == [{"zip": 53111, "a.b": 2, "id": 1}, {"zip": None, "a.b": 3, "id": 2}]


def test_a_key_from_paths_without_schema(spark: SparkSession) -> None:
    config = {"fields": "user.address.zip,`a.b`,id", **PATHS}
    found = Transformed(spark, "ValueToKey", config, [ANN, BOB, {}])
    assert found.keys == [
        {"zip": 53111, "a.b": 2, "id": 1},
        {"zip": None, "a.b": 3, "id": 2},
        {"zip": None, "a.b": None, "id": None},
    ]


GIVEN = struct_schema(Field("n", NUMBER), Field("t", Schema(SchemaType.STRING, default="T")))
WITH_DEFAULT = Schema(
    SchemaType.STRUCT, optional=True, default={"n": 7, "t": "given"}, fields=GIVEN.fields
)
DEFAULTS = struct_schema(Field("s", WITH_DEFAULT), Field("i", NUMBER))


def test_flattened_defaults_of_structs(spark: SparkSession) -> None:
    """Its fields inherit them; a struct that is null leaves its fields null."""
    values = [{"s": {"n": 1, "t": "t"}, "i": 2}, {"s": None, "i": 3}]
    found = Transformed(spark, "Flatten$Value", {}, values, DEFAULTS)
    assert found.value_schema == struct_schema(
        Field("s.n", Schema(SchemaType.INT32, optional=True, default=7)),
        Field("s.t", Schema(SchemaType.STRING, optional=True, default="T")),
        Field("i", NUMBER),
    )
    assert found.values == [{"s.n": 1, "s.t": "t", "i": 2}, {"s.n": None, "s.t": None, "i": 3}]


@pytest.mark.parametrize("replace_null", ["true", "false"])
def test_extracted_through_the_default_of_a_struct(spark: SparkSession, replace_null: str) -> None:
    config = {"field": "s.n", "replace.null.with.default": replace_null, **PATHS}
    values = [{"s": {"n": 1, "t": "t"}, "i": 2}, {"s": None, "i": 3}]
    assert Transformed(spark, "ExtractField$Value", config, values, DEFAULTS).values == [1, 7]


def test_a_hoisted_tombstone_gets_the_struct_of_the_others(spark: SparkSession) -> None:
    """In Java it becomes a map without a schema, which can't be in one column with structs."""
    found = Transformed(spark, "HoistField$Value", {"field": "f"}, [1, None], NUMBER)
    assert found.values == [{"f": 1}, {"f": None}]
    assert found.faults == [None, None]


@pytest.mark.parametrize("replacement", ["1.234", "1e40", "1e-999999999", "1e999999999"])
def test_a_mask_that_the_decimal_cant_hold(spark: SparkSession, replacement: str) -> None:
    """In Java the transformation lets it pass, and the converter fails."""
    schema = struct_schema(Field("d", decimal_schema(2, optional=True)))
    config = {"fields": "d", "replacement": replacement}
    found = Transformed(spark, "MaskField$Value", config, [{"d": 1.5}, {"d": None}], schema)
    assert found.faults == [f"Replacement {replacement} is not a Decimal of scale 2", None]


def test_the_last_of_several_members_with_one_flat_name(spark: SparkSession) -> None:
    """In Java it depends on the hashes of the names which one that is."""
    found = Transformed(spark, "Flatten$Value", {}, [{"a": {"b": 1}, "a.b": 2, "c": 3}])
    assert found.values == [{"a.b": 2, "c": 3}]


@pytest.mark.parametrize("target", ["Timestamp", "Date", "Time"])
def test_a_moment_without_schema_is_written_as_text(spark: SparkSession, target: str) -> None:
    """Java's JsonConverter refuses it."""
    config = {"field": "t", "target.type": target}
    values = [{"t": 1_700_000_000_123, "a": 1}]
    found = Transformed(spark, "TimestampConverter$Value", config, values)
    [value] = found.values
    expected = {
        "Timestamp": "2023-11-14 22:13:20.123+00:00",
        "Date": "2023-11-14 00:00:00+00:00",
        "Time": "1970-01-01 22:13:20.123+00:00",
    }
    assert value == {"t": expected[target], "a": 1}
