"""Characters beyond the first plane, wherever in the data they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from penstock.columns.types import arrow_type
from penstock.converters.json.converter import JsonConverter
from penstock.kernel.data.schema import STRING_SCHEMA, Field, Schema, SchemaType, Struct

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXTS = ["plain", "für 10 €", "oil 🛢️ and 𝄞", 'a "quoted" 🛢\n', ""]
OPTIONAL = Schema(SchemaType.STRING, optional=True)
RARE_DEFAULT = Schema(SchemaType.STRING, optional=True, default="🛢")
RARE_NAME = Schema(SchemaType.STRUCT, fields=(Field("🛢", STRING_SCHEMA),))
NESTED = Schema(
    SchemaType.STRUCT,
    fields=(
        Field("texts", Schema(SchemaType.ARRAY, value_schema=OPTIONAL)),
        Field("by", Schema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=STRING_SCHEMA)),
    ),
)


def cases() -> list[Any]:
    nested = [({"texts": [text, None], "by": [(text, "v")]}, text) for text in TEXTS]
    return [
        pytest.param(STRING_SCHEMA, TEXTS, TEXTS, id="string"),
        pytest.param(OPTIONAL, [*TEXTS, None], [*TEXTS, None], id="null"),
        pytest.param(RARE_DEFAULT, ["x", None], ["x", None], id="default"),
        pytest.param(RARE_NAME, [{"🛢": "x"}], [Struct(RARE_NAME, {"🛢": "x"})], id="name"),
        pytest.param(
            NESTED,
            [row for row, _ in nested],
            [Struct(NESTED, {"texts": [text, None], "by": {text: "v"}}) for _, text in nested],
            id="nested",
        ),
    ]


@pytest.mark.parametrize("enveloped", ["true", "false"])
@pytest.mark.parametrize(("schema", "rows", "values"), cases())
def test_the_column_writes_what_the_record_at_a_time_writes(
    spark: SparkSession, schema: Schema, rows: list[Any], values: list[Any], enveloped: str
) -> None:
    config = {"converter.type": "value", "schemas.enable": enveloped}
    converter = JsonConverter(JsonConverter.Config.parse(config))
    frame = spark.createDataFrame(pa.table({"v": pa.array(rows, arrow_type(schema))})).coalesce(1)

    found = frame.select(converter.encode(schema, F.col("v")).getField("data").alias("d")).collect()

    assert [bytes(row.d) for row in found] == [
        converter.encode_one(schema, each) for each in values
    ]
