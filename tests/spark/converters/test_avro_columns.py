"""AvroConverter over columns: with a real registry, and Confluent's own serializer beside it."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from penstock.api.converter import Layout, Topics
from penstock.codecs.avro.from_connect import avro_text
from penstock.codecs.avro.options import AvroOptions
from penstock.converters.avro.converter import AvroConverter
from penstock.kernel.data.schema import (
    Field,
    Schema,
    SchemaType,
    Struct,
    date_schema,
    decimal_schema,
    struct_schema,
    time_schema,
    timestamp_schema,
)
from penstock.kernel.errors import DataError, ServiceAwayError
from penstock.machine.free_ports import free_port
from penstock.testing.registry import SchemaRegistry
from tests.spark.converters.generate import Generator, arrow_column, connect_value

STRING = Schema(SchemaType.STRING)
INT = Schema(SchemaType.INT32)


@dataclass(frozen=True)
class Bench:
    """A registry, a session, and what tests do with them."""

    spark: SparkSession
    registry: SchemaRegistry

    def converter(self, *, is_key: bool = False, **keys: str) -> AvroConverter:
        props = {"schema.registry.url": self.registry.url, "converter.type": "value"}
        given = {name.replace("_", "."): value for name, value in keys.items()}
        return AvroConverter(AvroConverter.Config.parse(props | given), is_key=is_key)

    def encode(
        self, converter: AvroConverter, topics: Sequence[str], schema: Schema, values: list[Any]
    ) -> list[Any]:
        """The rows (data, error) of values, each with its topic."""
        column = pa.table([pa.array(topics), arrow_column(schema, values)], names=["topic", "c"])
        target = Topics(F.col("topic"), frozenset(topics))
        frame = self.spark.createDataFrame(column)
        return [
            row.r
            for row in frame.select(
                converter.encode_for(target, schema, F.col("c")).alias("r")
            ).collect()
        ]

    def decode(
        self, converter: AvroConverter, layout: Layout, raws: Sequence[bytes | None]
    ) -> list[Any]:
        """The rows (data, error, other) of bytes."""
        frame = self.spark.createDataFrame(pa.table([pa.array(raws, pa.binary())], names=["c"]))
        rows = frame.select(converter.decode(layout, F.col("c")).alias("r")).collect()
        return [row.r for row in rows]

    def confluent(self) -> SchemaRegistryClient:
        return SchemaRegistryClient({"url": self.registry.url})


@pytest.fixture
def bench(spark: SparkSession, registry: SchemaRegistry) -> Bench:
    return Bench(spark, registry)


ALL_TYPES = {
    "type": "record",
    "name": "All",
    "namespace": "shop",
    "fields": [
        {"name": "bool", "type": "boolean"},
        {"name": "int", "type": "int"},
        {"name": "long", "type": "long"},
        {"name": "float", "type": "float"},
        {"name": "double", "type": "double"},
        {"name": "bytes", "type": "bytes"},
        {"name": "text", "type": "string"},
        {"name": "maybe", "type": ["null", "string"], "default": None},
        {"name": "other", "type": ["int", "null"], "default": 3},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "clock", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {
            "name": "price",
            "type": {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 4},
        },
        {"name": "color", "type": {"type": "enum", "name": "Color", "symbols": ["RED", "BLUE"]}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 4}},
        {
            "name": "packed",
            "type": {
                "type": "fixed",
                "name": "Packed",
                "size": 6,
                "logicalType": "decimal",
                "precision": 12,
                "scale": 2,
            },
        },
        {"name": "list", "type": {"type": "array", "items": ["null", "long"]}},
        {"name": "map", "type": {"type": "map", "values": "double"}},
        {
            "name": "nested",
            "type": [
                "null",
                {
                    "type": "record",
                    "name": "Inner",
                    "fields": [{"name": "again", "type": ["null", "Color"]}],
                },
            ],
        },
        {"name": "choice", "type": ["null", "int", "long", "string", "Inner"]},
    ],
}


def _records() -> list[dict[str, Any]]:
    base: dict[str, Any] = {
        "bool": True,
        "int": -(2**31),
        "long": 2**63 - 1,
        "float": 0.5,
        "double": -1e300,
        "bytes": b"\x00\xff",
        "text": "Grüße 🚰",
        "maybe": None,
        "other": None,
        "day": datetime.date(1969, 12, 31),
        "clock": datetime.time(23, 59, 59, 999000),
        "at": datetime.datetime(2026, 1, 2, 3, 4, 5, 678000, datetime.UTC),
        "price": Decimal("-12345678901234567890.1234"),
        "color": "BLUE",
        "hash": b"abcd",
        "packed": Decimal("-0.01"),
        "list": [1, None, -(2**63)],
        "map": {"ü": 1.5, "": -0.0},
        "nested": None,
        "choice": None,
    }
    long_ago = datetime.datetime(1, 1, 1, tzinfo=datetime.UTC)
    return [
        base,
        base | {"maybe": "x", "other": 7, "nested": {"again": "RED"}, "choice": ("int", 5)},
        base | {"text": "", "list": [], "map": {}, "nested": {"again": None}},
        base | {"choice": ("string", "long"), "price": Decimal("0.0001")},
        base | {"choice": ("long", 5), "packed": Decimal("9999999999.99")},
        base | {"choice": ("shop.Inner", {"again": "BLUE"}), "at": long_ago},
    ]


def _as_read(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as Connect's data."""
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    clock = record["clock"]
    seconds = (clock.hour * 60 + clock.minute) * 60 + clock.second
    choice = record["choice"]
    members = dict.fromkeys(("int", "long", "string", "Inner"))
    if choice is not None:
        members[choice[0].rpartition(".")[2]] = choice[1]
    return {
        **record,
        "day": (record["day"] - epoch.date()).days,
        "clock": seconds * 1000 + clock.microsecond // 1000,
        "at": round((record["at"] - epoch) / datetime.timedelta(milliseconds=1)),
        "choice": None if choice is None else members,
    }


def plain(value: Any) -> Any:
    match value:
        case Struct():
            return {name: plain(each) for name, each in value.values.items()}
        case list():
            return [plain(each) for each in value]
        case dict():
            return {key: plain(value[key]) for key in sorted(value)}
    return value


def test_what_confluents_serializer_wrote_is_read_and_written_again(
    bench: Bench, unique: Callable[[str], str]
) -> None:
    topic = unique("all")
    serialize = AvroSerializer(bench.confluent(), json.dumps(ALL_TYPES))
    context = SerializationContext(topic, MessageField.VALUE)
    records = _records()
    raws = [serialize(each, context) for each in records]
    assert all(isinstance(each, bytes) for each in raws)

    converter = bench.converter(auto_register_schemas="false", use_latest_version="true")
    layout = converter.layout(raws[0])
    assert layout.schema is not None
    assert layout.schema.name == "shop.All"
    rows = bench.decode(converter, layout, [*raws, None])
    assert [row.error for row in rows] == [None] * 7
    read = [connect_value(layout.schema, row.data) for row in rows]
    assert [plain(each) for each in read] == [*map(_as_read, records), None]
    assert [converter.decode_one(each).value for each in raws] == read[:-1]

    again = bench.encode(converter, [topic] * 6, layout.schema, read[:-1])
    deserialize = AvroDeserializer(bench.confluent())
    back = [deserialize(bytes(row.data), context) for row in again]
    assert [_without_choice(each) for each in back] == [*map(_without_choice, records)]
    assert [row.error for row in again] == [None] * 6
    ones = [converter.encode_one_for(topic, layout.schema, each) for each in read[:-1]]
    assert ones == [bytes(row.data) for row in again]


def _without_choice(record: Mapping[str, Any]) -> dict[str, Any]:
    """Deserializers give the value of a union only."""
    choice = record["choice"]
    return {**record, "choice": choice[1] if isinstance(choice, tuple) else choice}


def test_generated_data_comes_back_as_it_was(bench: Bench, unique: Callable[[str], str]) -> None:
    generator = Generator(7)
    converter = bench.converter(scrub_invalid_names="true")
    options = AvroOptions(scrub_names=True)
    schemas = [each for each in (generator.schema() for _ in range(9)) if _exists(each, options)]
    assert len(schemas) > 5
    for number, schema in enumerate(schemas):
        topic = unique(f"generated-{number}")
        values = [generator.value(schema, may_be_null=schema.optional) for _ in range(40)]
        rows = bench.encode(converter, [topic] * len(values), schema, values)
        raws = [row.data and bytes(row.data) for row in rows]
        assert not [row.error for row in rows if row.error]
        ones = [converter.encode_one_for(topic, schema, each) for each in values]
        assert _shown(converter, raws) == _shown(converter, ones)
        layout = converter.layout(next(filter(None, raws)))
        read = bench.decode(converter, layout, raws)
        assert layout.schema is not None
        assert not [row.error for row in read if row.error]
        by_columns = [connect_value(layout.schema, row.data) for row in read]
        assert [str(plain(each)) for each in by_columns] == _shown(converter, raws)


def _shown(converter: AvroConverter, raws: Sequence[bytes | None]) -> list[str]:
    """The data of messages as texts: NaN is itself there, and the order of maps is one."""
    return [str(plain(converter.decode_one(each).value)) for each in raws]


def _exists(schema: Schema, options: AvroOptions) -> bool:
    """Whether Avro has the schema: generated ones may give one name to two structs."""
    try:
        return bool(avro_text(schema, options))
    except DataError:
        return False


def _order(*extra: Field) -> Schema:
    return struct_schema(Field("id", INT), *extra, name="shop.Order")


def test_every_topic_has_its_own_subject(bench: Bench, unique: Callable[[str], str]) -> None:
    one, two, three = unique("one"), unique("two"), unique("three")
    number = {"name": "id", "type": "int"}
    level = {"name": "level", "type": "int", "default": 1}
    fields = {one: [number], two: [number, level], three: [number]}
    ids = {
        topic: bench.registry.register(
            f"{topic}-value", json.dumps({"type": "record", "name": topic[:3], "fields": own})
        )
        for topic, own in fields.items()
    }
    converter = bench.converter(auto_register_schemas="false", use_latest_version="true")
    schema = _order()
    values = [Struct(schema, {"id": number}) for number in range(4)]
    rows = bench.encode(converter, [one, two, three, two], schema, values)
    heads = {topic: b"\0" + number.to_bytes(4, "big") for topic, number in ids.items()}
    assert len(set(heads.values())) == 3
    assert [bytes(row.data) for row in rows] == [
        heads[one] + b"\x00",
        heads[two] + b"\x02\x02",
        heads[three] + b"\x04",
        heads[two] + b"\x06\x02",
    ]
    bench.encode(bench.converter(), [unique("four"), unique("five")], schema, values[:2])
    assert (
        len({"four", "five"} & {each.partition("-")[0] for each in bench.registry.subjects()}) == 2
    )


def test_a_schema_that_does_not_fit_is_a_fault_of_its_topic_alone(
    bench: Bench, unique: Callable[[str], str]
) -> None:
    good, bad = unique("good"), unique("bad")
    bench.registry.register(f"{bad}-value", '"string"')
    schema = _order()
    values = [Struct(schema, {"id": 1})] * 2
    first, second = bench.encode(bench.converter(), [good, bad], schema, values)
    assert first.error is None
    assert second.data is None
    assert f"subject {bad}-value" in second.error
    (alone,) = bench.encode(bench.converter(), [bad], schema, values[:1])
    assert alone.error == second.error


@pytest.mark.parametrize(
    ("strategy", "subject"),
    [
        ("io.confluent.kafka.serializers.subject.RecordNameStrategy", "{record}"),
        ("TopicRecordNameStrategy", "{topic}-{record}"),
        ("io.confluent.kafka.serializers.subject.TopicNameStrategy", "{topic}-key"),
    ],
)
def test_subjects_are_named_by_a_strategy(
    bench: Bench, unique: Callable[[str], str], strategy: str, subject: str
) -> None:
    topic, record = unique("orders"), unique("R").replace("-", "_")
    converter = bench.converter(is_key=True, key_subject_name_strategy=strategy)
    schema = struct_schema(Field("id", INT), name=record)
    (row,) = bench.encode(converter, [topic], schema, [Struct(schema, {"id": 1})])
    assert row.error is None
    assert subject.format(topic=topic, record=record) in bench.registry.subjects()


def test_a_strategy_that_needs_a_name_refuses_what_has_none(bench: Bench) -> None:
    converter = bench.converter(value_subject_name_strategy="RecordNameStrategy")
    (row,) = bench.encode(converter, ["t"], STRING, ["x"])
    assert "value.subject.name.strategy" in row.error


def test_without_registration_schemas_must_be_there(
    bench: Bench, unique: Callable[[str], str]
) -> None:
    topic = unique("orders")
    schema = _order()
    values = [Struct(schema, {"id": 1})]
    closed = bench.converter(auto_register_schemas="false")
    (row,) = bench.encode(closed, [topic], schema, values)
    assert f"subject {topic}-value" in row.error
    assert f"{topic}-value" not in bench.registry.subjects()
    (written,) = bench.encode(bench.converter(), [topic], schema, values)
    (found,) = bench.encode(closed, [topic], schema, values)
    assert found == written


def test_the_latest_version_is_written(bench: Bench, unique: Callable[[str], str]) -> None:
    topic = unique("orders")
    latest = {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [
            {"name": "note", "type": ["null", "string"], "default": None},
            {"name": "level", "type": "int", "default": 4},
            {"name": "id", "type": "long"},
        ],
    }
    number = bench.registry.register(f"{topic}-value", json.dumps(latest))
    schema = _order(Field("unknown", STRING))
    values = [Struct(schema, {"id": 5, "unknown": "x"})]
    converter = bench.converter(auto_register_schemas="false", use_latest_version="true")
    (row,) = bench.encode(converter, [topic], schema, values)
    assert bytes(row.data) == b"\0" + number.to_bytes(4, "big") + b"\x00\x08\x0a"
    by_id = bench.converter(auto_register_schemas="false", use_schema_id=str(number))
    assert bench.encode(by_id, [topic], schema, values) == [row]
    other = struct_schema(Field("id", STRING))
    (refused,) = bench.encode(converter, [topic], other, [Struct(other, {"id": "x"})])
    assert "Field id" in refused.error


def test_bad_values_are_faults_and_not_errors(bench: Bench, unique: Callable[[str], str]) -> None:
    color = Schema(
        SchemaType.STRING,
        name="Color",
        parameters=(
            ("io.confluent.connect.avro.Enum", "Color"),
            ("io.confluent.connect.avro.Enum.RED", "RED"),
        ),
    )
    size = Schema(SchemaType.BYTES, name="Two", parameters=(("connect.fixed.size", "2"),))
    schema = struct_schema(
        Field("id", INT),
        Field("color", color.as_optional()),
        Field("two", size.as_optional()),
        Field("clock", time_schema(optional=True)),
        Field("list", Schema(SchemaType.ARRAY, value_schema=STRING, optional=True)),
        Field("map", Schema(SchemaType.MAP, key_schema=INT, value_schema=INT, optional=True)),
        Field("level", Schema(SchemaType.INT32, default=9)),
        optional=True,
    )
    base: dict[str, Any] = dict.fromkeys(each.name for each in schema.fields) | {"id": 1}
    cases: list[tuple[dict[str, Any] | None, str | None]] = [
        (base, None),
        (None, None),
        (base | {"id": None}, "null value for non-optional schema: field id"),
        (base | {"color": "RED", "two": b"ab", "list": ["a"], "map": {1: 2}}, None),
        (base | {"color": "PINK"}, "symbol of enum Color: field color"),
        (base | {"two": b"abc"}, "2 bytes of fixed Two: field two"),
        (base | {"clock": -1}, "time of the day: field clock"),
        (base | {"list": ["a", None]}, "null value for non-optional schema: field list[]"),
        (base | {"map": {1: None}}, "null value for non-optional schema: field map[]"),
    ]
    values = [None if each is None else Struct(schema, each) for each, _ in cases]
    topic = unique("bad")
    converter = bench.converter(enhanced_avro_schema_support="true")
    rows = bench.encode(converter, [topic] * len(cases), schema, values)
    for (value, words), row in zip(cases, rows, strict=True):
        if words is None:
            assert row.error is None, value
            assert (row.data is None) == (value is None)
        else:
            assert words in row.error
            assert row.data is None
    layout = converter.layout(bytes(rows[0].data))
    (first,) = bench.decode(converter, layout, [bytes(rows[0].data)])
    assert first.data.level == 9
    required = struct_schema(Field("id", INT))
    (null,) = bench.encode(converter, [unique("required")], required, [None])
    assert null.error == "Found null value for non-optional schema"


def test_data_without_a_schema_is_a_fault_and_null_is_null(bench: Bench) -> None:
    frame = bench.spark.sql(
        "SELECT parse_json(text) AS c FROM VALUES ('5'), ('null'), (NULL) t(text)"
    )
    made = bench.converter().encode_for(Topics(F.lit("t"), frozenset({"t"})), None, F.col("c"))
    rows = [row.r for row in frame.select(made.alias("r")).collect()]
    assert [row.data for row in rows] == [None] * 3
    assert [row.error is None for row in rows] == [False, True, True]


def test_broken_messages_are_faults_and_those_of_other_schemas_are_told(
    bench: Bench, unique: Callable[[str], str]
) -> None:
    topic = unique("broken")
    converter = bench.converter()
    schema = struct_schema(Field("id", INT), Field("text", STRING), Field("n", decimal_schema(2)))
    value = Struct(schema, {"id": 1, "text": "abc", "n": Decimal("1.25")})
    raw = converter.encode_one_for(topic, schema, value)
    order = _order()
    other = converter.encode_one_for(unique("other"), order, Struct(order, {"id": 1}))
    assert raw is not None
    assert other is not None
    head = raw[:5]
    huge = b"\x02\xfe\xff\xff\xff\x0f"
    broken = [
        head,
        raw[:-1],
        head + b"\xff" * 12,
        head + b"\x02\x01",  # a length below zero
        head + huge,  # a length of two billion
        head + b"\x02\x00\x00",  # a decimal without digits
        head + b"\x02\x00\x22" + b"\x7f" * 17,  # a decimal of 40 digits
    ]
    rows = bench.decode(converter, converter.layout(raw), [*broken, raw, None, other])
    assert [row.error is not None for row in rows] == [True] * 7 + [False] * 3
    assert "not Avro data of the schema" in rows[0].error
    assert [row.data is None for row in rows] == [True] * 7 + [False, True, True]
    assert [row.other for row in rows] == [False] * 9 + [True]
    for each in broken:
        with pytest.raises(DataError):
            converter.decode_one(each)


def test_maps_of_entries_with_null_and_double_keys(
    bench: Bench, unique: Callable[[str], str]
) -> None:
    entry = {
        "type": "record",
        "name": "io.confluent.connect.avro.MapEntry",
        "fields": [{"name": "key", "type": ["null", "int"]}, {"name": "value", "type": "string"}],
    }
    maps = {"type": "array", "items": {"type": "array", "items": entry}}
    number = bench.registry.register(unique("maps"), json.dumps(maps))
    head = b"\0" + number.to_bytes(4, "big")
    one, other, null = b"\x02\x02\x02a", b"\x02\x02\x02b", b"\x00\x02a"
    raws = [
        head + b"\x02\x04" + one + other + b"\x00\x00",  # [{1: b}], after {1: a}
        head + b"\x02\x02" + null + b"\x00\x00",
        head + b"\x00",
    ]
    converter = bench.converter()
    rows = bench.decode(converter, converter.layout(raws[0]), raws)
    assert [row.data for row in rows] == [[{1: "b"}], None, []]
    assert [row.error for row in rows] == [None, "A map with a null key can't be read", None]
    assert converter.decode_one(raws[0]).value == [{1: "b"}]
    with pytest.raises(DataError, match="null key"):
        converter.decode_one(raws[1])


def test_broken_text_is_made_whole(bench: Bench, unique: Callable[[str], str]) -> None:
    schema = struct_schema(
        Field("text", STRING),
        Field("map", Schema(SchemaType.MAP, key_schema=STRING, value_schema=INT)),
    )
    converter = bench.converter()
    raw = converter.encode_one_for(unique("t"), schema, Struct(schema, {"text": "", "map": {}}))
    assert raw is not None
    broken = raw[:5] + b"\x04a\xff" + b"\x02\x02\xfe\x02\x00"
    (row,) = bench.decode(converter, converter.layout(raw), [broken])
    assert row.data.asDict() == {"text": "a\ufffd", "map": {"\ufffd": 1}}
    assert plain(converter.decode_one(broken).value) == row.data.asDict()


def test_messages_that_no_schema_is_known_for(bench: Bench) -> None:
    converter = bench.converter()
    for raw, words in (
        (b"", "magic byte"),
        (b"{}", "magic byte"),
        (b"\x01\x00\x00\x00\x01x", "magic byte"),
        (b"\x00\x7f\xff\xff\xffx", "id 2147483647"),
    ):
        layout = converter.layout(raw)
        assert not layout.regular
        with pytest.raises(DataError, match=words):
            converter.decode_one(raw)
    assert converter.layout(None) == Layout(None)
    assert converter.decode_one(None).value is None


def test_recursive_schemas_and_those_of_other_formats_are_refused(
    bench: Bench, unique: Callable[[str], str]
) -> None:
    node = '{"type":"record","name":"Node","fields":[{"name":"next","type":["null","Node"]}]}'
    number = bench.registry.register(unique("recursive"), node)
    converter = bench.converter()
    with pytest.raises(DataError, match=rf"id {number}.*contains itself"):
        converter.decode_one(b"\0" + number.to_bytes(4, "big") + b"\0")
    text = '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}'
    number = bench.registry.register(unique("json"), text, "JSON")
    with pytest.raises(DataError, match="of type JSON"):
        converter.decode_one(b"\0" + number.to_bytes(4, "big") + b"\0")


def test_schemas_with_references_are_read(bench: Bench, unique: Callable[[str], str]) -> None:
    subject, outer = unique("point"), unique("outer")
    point = {"type": "record", "name": "geo.Point", "fields": [{"name": "x", "type": "int"}]}
    bench.registry.register(subject, json.dumps(point))
    text = '{"type":"record","name":"Way","fields":[{"name":"to","type":"geo.Point"}]}'
    reference = {"name": "geo.Point", "subject": subject, "version": 1}
    number = bench.registry.register(outer, text, references=[reference])
    converter = bench.converter()
    raw = b"\0" + number.to_bytes(4, "big") + b"\x0a"
    (row,) = bench.decode(converter, converter.layout(raw), [raw])
    assert row.data.to.x == 5


def test_a_registry_that_is_away_is_waited_for(bench: Bench) -> None:
    props = {
        "schema.registry.url": f"http://127.0.0.1:{free_port()}",
        "converter.type": "value",
    }
    converter = AvroConverter(AvroConverter.Config.parse(props))
    with pytest.raises(ServiceAwayError, match="does not answer"):
        converter.layout(b"\0\0\0\0\1x")
    with pytest.raises(ServiceAwayError, match="does not answer"):
        converter.encode_for(Topics(F.lit("t"), frozenset({"t"})), STRING, F.col("c"))


def test_moments_are_written_as_their_numbers(bench: Bench, unique: Callable[[str], str]) -> None:
    schema = struct_schema(
        Field("day", date_schema()),
        Field("clock", time_schema()),
        Field("at", timestamp_schema()),
        Field("small", Schema(SchemaType.INT8)),
        Field("short", Schema(SchemaType.INT16)),
    )
    values = {"day": -1, "clock": 1, "at": -1, "small": -128, "short": 32767}
    topic = unique("moments")
    converter = bench.converter()
    (row,) = bench.encode(converter, [topic], schema, [Struct(schema, values)])
    raw = bytes(row.data)
    assert raw[5:] == b"\x01\x02\x01\xff\x01\xfe\xff\x03"
    layout = converter.layout(raw)
    assert layout.schema == schema
    (read,) = bench.decode(converter, layout, [raw])
    assert read.data.asDict() == values
    context = SerializationContext(topic, MessageField.VALUE)
    back = AvroDeserializer(bench.confluent())(raw, context)
    assert back["day"] == datetime.date(1969, 12, 31)
