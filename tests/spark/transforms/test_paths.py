"""Paths to fields inside of other fields, which Java's transformations do not have (but one)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from penstock.kernel.data.schema import Field, Schema, SchemaType, struct_schema, timestamp_schema
from penstock.plugins import Plugins
from penstock.worker.pipeline.chain import Chain
from tests.spark.transforms.records import CaseRecord, frame_of
from tests.spark.transforms.test_beyond_java import Transformed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INT = Schema(SchemaType.INT32)
LONG = Schema(SchemaType.INT64, optional=True)
TEXT = Schema(SchemaType.STRING, optional=True)
ADDRESS = struct_schema(Field("city", TEXT), Field("zip", TEXT), Field("a.b", INT), optional=True)
USER = struct_schema(Field("at", LONG), Field("address", ADDRESS), name="user")
RECORD = struct_schema(Field("id", INT), Field("user", USER), name="record")
ANN = {"id": 1, "user": {"at": 1000, "address": {"city": "Bonn", "zip": "53", "a.b": 2}}}
BOB = {"id": 2, "user": {"at": None, "address": None}}
BARE = {"id": 3}
V2 = {"field.syntax.version": "V2"}
NO_STRUCT = "Only Struct objects supported for [nested field access], found: java.lang.Integer"
NO_MAP = (
    "Only Map objects supported in absence of schema for [nested field access],"
    " found: java.lang.Long"
)


def record_of(address: Schema | None = None, **user: Schema) -> Schema:
    """RECORD with another address or other fields of the user."""
    fields = [
        Field(each.name, address if address is not None and each.name == "address" else each.schema)
        for each in USER.fields
    ]
    fields = [Field(each.name, user.pop(each.name, each.schema)) for each in fields]
    fields += [Field(name, schema) for name, schema in user.items()]
    changed = struct_schema(*fields, name="user")
    return struct_schema(Field("id", INT), Field("user", changed), name="record")


def address_of(*fields: Field) -> Schema:
    return struct_schema(*fields, optional=True)


def ann(address: dict[str, Any] | None = None, **user: Any) -> dict[str, Any]:
    given: dict[str, Any] = dict(ANN["user"])  # type: ignore[call-overload]
    return {"id": 1, "user": {**given, "address": address or given["address"], **user}}


class Case:
    """One configuration, what it makes of ANN, and of the schema."""

    def __init__(self, name: str, config: dict[str, str], ann: Any, schema: Schema) -> None:
        self.name = f"{name}$Value"
        self.config = {**config, **V2}
        self.ann = ann
        self.schema = schema


CASES = {
    "Cast": Case(
        "Cast",
        {"spec": "user.address.zip:int32,id:string,user.none:int8,none.x:int8"},
        {**ann({"city": "Bonn", "zip": 53, "a.b": 2}), "id": "1"},
        struct_schema(
            Field("id", Schema(SchemaType.STRING)),
            record_of(
                address_of(
                    Field("city", TEXT), Field("zip", INT.as_optional()), Field("a.b", INT)
                )
            ).fields[1],
            name="record",
        ),
    ),
    "exclude": Case(
        "ReplaceField",
        {"exclude": "user.address.city,user.at,none.x"},
        {"id": 1, "user": {"address": {"zip": "53", "a.b": 2}}},
        struct_schema(
            Field("id", INT),
            Field(
                "user",
                struct_schema(
                    Field("address", address_of(Field("zip", TEXT), Field("a.b", INT))), name="user"
                ),
            ),
            name="record",
        ),
    ),
    "include": Case(
        "ReplaceField",
        {"include": "user.address.`a.b`,user.at"},
        {"user": {"at": 1000, "address": {"a.b": 2}}},
        struct_schema(
            Field(
                "user",
                struct_schema(
                    Field("at", LONG), Field("address", address_of(Field("a.b", INT))), name="user"
                ),
            ),
            name="record",
        ),
    ),
    "renames": Case(
        "ReplaceField",
        {"renames": "user.address.`a.b`:c,user.at:when"},
        {"id": 1, "user": {"when": 1000, "address": {"city": "Bonn", "zip": "53", "c": 2}}},
        struct_schema(
            Field("id", INT),
            Field(
                "user",
                struct_schema(
                    Field("when", LONG),
                    Field(
                        "address",
                        address_of(Field("city", TEXT), Field("zip", TEXT), Field("c", INT)),
                    ),
                    name="user",
                ),
            ),
            name="record",
        ),
    ),
    "InsertField": Case(
        "InsertField",
        {"topic.field": "user.address.from!", "static.field": "user.`x.y`", "static.value": "s"},
        ann({"city": "Bonn", "zip": "53", "a.b": 2, "from": "orders"}, **{"x.y": "s"}),
        record_of(
            address_of(*ADDRESS.fields, Field("from", Schema(SchemaType.STRING))), **{"x.y": TEXT}
        ),
    ),
    "TimestampConverter": Case(
        "TimestampConverter",
        {"field": "user.at", "target.type": "string", "format": "yyyy-MM-dd HH:mm:ss"},
        ann(at="1970-01-01 00:00:01"),
        record_of(at=TEXT),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_with_schema(spark: SparkSession, name: str) -> None:
    case = CASES[name]
    found = Transformed(spark, case.name, case.config, [ANN, BOB, None], RECORD)
    assert found.faults == [None] * 3
    assert found.value_schema == case.schema
    ann, bob, nothing = found.values
    assert ann == case.ann
    # What is optional and null stays so.
    assert bob["user"]["address"] is None
    assert nothing is None


@pytest.mark.parametrize("name", CASES)
def test_without_schema(spark: SparkSession, name: str) -> None:
    case = CASES[name]
    found = Transformed(spark, case.name, case.config, [ANN, BOB, BARE, None])
    assert found.faults == [None] * 4
    wanted = case.ann
    if name == "Cast":  # what is missing becomes null, as it does without paths
        wanted = {**wanted, "user": {**wanted["user"], "none": None}}
    assert found.values[0] == wanted
    # Nothing is made on the way to what is not there.
    assert found.values[1]["user"].get("address") is None
    assert "user" not in found.values[2]
    assert found.values[3] is None


INTO_NUMBER = {
    "Cast$Value": {"spec": "id.x:int8"},
    "ReplaceField$Value": {"exclude": "id.x"},
    "InsertField$Value": {"topic.field": "id.x"},
    "TimestampConverter$Value": {"field": "id.x", "target.type": "unix"},
}


@pytest.mark.parametrize("name", INTO_NUMBER)
def test_paths_into_what_has_no_fields(spark: SparkSession, name: str) -> None:
    config = {**INTO_NUMBER[name], **V2}
    found = Transformed(spark, name, config, [ANN, None], RECORD)
    assert found.faults == [NO_STRUCT, None]
    found = Transformed(spark, name, config, [ANN, {"id": None}, {}])
    assert found.faults == [NO_MAP, None, None]


@pytest.mark.parametrize("name", INTO_NUMBER)
def test_the_first_version_knows_no_paths(spark: SparkSession, name: str) -> None:
    config = {key: text.replace("id.x", "user.at") for key, text in INTO_NUMBER[name].items()}
    found = Transformed(spark, name, config, [ANN], RECORD)
    assert found.faults == [None]
    assert found.values[0]["user"] == ANN["user"]
    assert ("user.at" in found.values[0]) == (name == "InsertField$Value")


def test_faults_inside_are_told_and_the_rest_stays(spark: SparkSession) -> None:
    config = {"spec": "user.address.city:int32", **V2}
    message = "Value (Bonn) was out of range for requested data type"
    assert Transformed(spark, "Cast$Value", config, [ANN, BOB], RECORD).faults == [message, None]
    assert Transformed(spark, "Cast$Value", config, [ANN, BOB]).faults == [message, None]


def test_nothing_to_insert_into(spark: SparkSession) -> None:
    config = {"topic.field": "user.none.x", **V2}
    found = Transformed(spark, "InsertField$Value", config, [ANN, None], RECORD)
    assert found.faults == ["Nothing to insert into, unknown field: user.none", None]


def test_a_path_into_the_default_of_a_struct(spark: SparkSession) -> None:
    inner = Schema(SchemaType.STRUCT, optional=True, default={"n": 7}, fields=(Field("n", INT),))
    schema = struct_schema(Field("s", inner))
    config = {"spec": "s.n:string", **V2}
    found = Transformed(spark, "Cast$Value", config, [{"s": {"n": 1}}, {"s": None}], schema)
    assert found.values == [{"s": {"n": "1"}}, {"s": {"n": "7"}}]
    field = Field("n", Schema(SchemaType.STRING))
    assert found.value_schema == struct_schema(Field("s", struct_schema(field, optional=True)))


# ------------------------------------------------------------------------------------ HeaderFrom


def header_rows(
    spark: SparkSession, config: dict[str, str], values: list[Any], schema: Schema | None
) -> list[Any]:
    own = {f"transforms.x.{key}": text for key, text in {**config, **V2}.items()}
    plugin = "org.apache.kafka.connect.transforms.HeaderFrom$Value"
    chain = Chain.of({"transforms": "x", "transforms.x.type": plugin, **own}, Plugins().load_named)
    [branch] = chain.compile(None, schema)
    frame = branch.apply(frame_of(spark, [CaseRecord(each) for each in values], "value", schema))
    headers = F.transform(
        "headers",
        lambda each: F.concat_ws("=", each.getField("key"), each.getField("value").cast("string")),
    )
    data = F.to_json("value")
    return frame.select(headers.alias("headers"), data.alias("data"), "fault.message").collect()


@pytest.mark.parametrize("schema", [RECORD, None], ids=["with schema", "without"])
def test_headers_from_paths(spark: SparkSession, schema: Schema | None) -> None:
    config = {"fields": "user.address.`a.b`,user.at,id", "headers": "x,y,z", "operation": "move"}
    first, second = header_rows(spark, config, [ANN, BOB], schema)
    assert first.message is None
    assert first.headers == ["x=2", "y=1000", "z=1"]
    assert first.data == '{"user":{"address":{"city":"Bonn","zip":"53"}}}'
    # Where there may be no address, there may be no a.b.
    assert second.message is None
    assert second.headers == ["x", "y", "z=2"]
    config["operation"] = "copy"
    [row] = header_rows(spark, config, [ANN], schema)
    assert row.headers == ["x=2", "y=1000", "z=1"]
    assert '"a.b":2' in row.data


def test_headers_from_paths_that_lead_nowhere(spark: SparkSession) -> None:
    config = {"fields": "user.none.x", "headers": "x", "operation": "copy"}
    [row] = header_rows(spark, config, [ANN], RECORD)
    assert row.message == "user.none.x is not a valid field name"
    [row] = header_rows(spark, config, [ANN], None)
    assert (row.message, row.headers) == (None, ["x"])
    config["fields"] = "id.x"
    [row] = header_rows(spark, config, [ANN], RECORD)
    assert row.message == "Cannot look up fields on non-struct type"
    [row] = header_rows(spark, config, [ANN], None)
    assert row.message == NO_MAP


def test_a_moment_with_schema_inside(spark: SparkSession) -> None:
    config = {"field": "user.at", "target.type": "Timestamp", **V2}
    found = Transformed(spark, "TimestampConverter$Value", config, [ANN], RECORD)
    assert found.value_schema == record_of(at=timestamp_schema(optional=True))
