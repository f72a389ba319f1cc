"""What the comparison with Java does not show: other layouts, envelopes without a schema."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from penstock.converters.json import JsonConverter
from penstock.kernel.data.schema import STRING_SCHEMA, Field, Schema, SchemaType, struct_schema
from tests.spark.converters.comparing import collected

_NUMBER = b'{"schema":{"type":"int32","optional":false},"payload":'


def _converter(**config: str) -> JsonConverter:
    given = {name.replace("_", "."): value for name, value in config.items()}
    return JsonConverter(JsonConverter.Config.parse({"converter.type": "value", **given}))


def _read(spark: SparkSession, converter: JsonConverter, *raws: bytes | None) -> list[Any]:
    read = converter.decode(converter.layout(raws[0]), F.col("c0"))
    shown = F.to_json(F.struct(read.getField("data").alias("v")))
    made = F.struct(shown.alias("data"), read.getField("error"), read.getField("other"))
    (rows,) = collected(spark, [pa.array(raws, pa.binary())], made)
    return [(row.data, row.error, row.other) for row in rows]


def test_bytes_of_another_layout_are_marked_and_null_stays_null(spark: SparkSession) -> None:
    other = b'{"schema":{"type":"string","optional":false},"payload":"x"}'

    rows = _read(spark, _converter(), _NUMBER + b"5}", other, None, b"nonsense")

    assert rows == [
        ('{"v":5}', None, False),
        ("{}", None, True),
        ("{}", None, False),
        ("{}", None, True),
    ]


def test_a_bad_row_leaves_its_neighbours_alone(spark: SparkSession) -> None:
    good, bad, null = _NUMBER + b"5}", _NUMBER + b"5", _NUMBER + b"null}"

    rows = _read(spark, _converter(), good, bad, null, good)

    assert [row[0] for row in rows] == ['{"v":5}', "{}", "{}", '{"v":5}']
    assert rows[1][1].startswith("Converting byte[] to Kafka Connect data failed")
    assert rows[2][1] == "Invalid null value for required INT32 field"


def test_envelopes_without_a_schema(spark: SparkSession) -> None:
    tag = b'{"schema":null,"payload":'

    rows = _read(
        spark, _converter(), tag + b'{"a":[1]}}', tag + b"null}", tag + b"1", _NUMBER + b"5}"
    )

    assert [row[0] for row in rows] == ['{"v":{"a":[1]}}', "{}", "{}", "{}"]
    assert [row[1] is None for row in rows] == [True, True, False, True]
    assert [row[2] for row in rows] == [False, False, False, True]


def test_a_batch_of_tombstones_only(spark: SparkSession) -> None:
    assert _read(spark, _converter(), None, None) == [("{}", None, False)] * 2


def test_schema_content(spark: SparkSession) -> None:
    converter = _converter(
        schema_content='{"type":"struct","fields":[{"type":"int8","optional":true,"field":"a"}]}'
    )

    rows = _read(spark, converter, b'{"a":5}', b"{}", None, b"[]", b'{"a":5,"b":6}')

    assert [row[0] for row in rows] == ['{"v":{"a":5}}', '{"v":{}}', "{}", "{}", '{"v":{"a":5}}']
    assert rows[3][1] == "Structs should be encoded as JSON objects, but found ARRAY"


def test_data_without_a_schema_is_written(spark: SparkSession) -> None:
    data = F.try_parse_json(F.col("c0"))
    made = [_converter(schemas_enable=each).encode(None, data) for each in ("true", "false")]
    texts = ['{"b":"🚀","a":1}', "null", None]

    with_schema, alone = collected(spark, [pa.array(texts, pa.string())], *made)

    assert [row.data and bytes(row.data) for row in with_schema] == [
        b'{"schema":null,"payload":{"a":1,"b":"\\uD83D\\uDE80"}}',
        None,
        None,
    ]
    assert [row.data and bytes(row.data) for row in alone] == [
        b'{"a":1,"b":"\\uD83D\\uDE80"}',
        None,
        None,
    ]


def test_fields_whose_names_differ_in_case_only(spark: SparkSession) -> None:
    schema = struct_schema(
        Field("id", STRING_SCHEMA), Field("ID", Schema(SchemaType.STRING, optional=True))
    )
    values = pa.array(
        [{"id": "x", "ID": "y"}], pa.struct([("id", pa.string()), ("ID", pa.string())])
    )

    (rows,) = collected(
        spark, [values], _converter(schemas_enable="false").encode(schema, F.col("c0"))
    )

    assert bytes(rows[0].data) == b'{"id":"x","ID":"y"}'
