"""Records of case files: as JSON documents for Java, as frames and schemas for Spark."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from penstock.columns.types import spark_type
from penstock.kernel.data.schema import Field, Schema, SchemaType
from penstock.kernel.java.numbers import to_float32

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def schema_of(document: dict[str, Any]) -> Schema:
    """A schema from the form JsonConverter writes it in."""
    return Schema(
        SchemaType(document["type"]),
        optional=document.get("optional", False),
        name=document.get("name"),
        version=document.get("version"),
        doc=document.get("doc"),
        parameters=tuple(sorted(document.get("parameters", {}).items())),
        default=_default(document),
        fields=tuple(Field(each["field"], schema_of(each)) for each in document.get("fields", ())),
        key_schema=schema_of(document["keys"]) if "keys" in document else None,
        value_schema=(
            schema_of(document["values"] if "values" in document else document["items"])
            if "values" in document or "items" in document
            else None
        ),
    )


def _default(document: dict[str, Any]) -> Any:
    """Numbers that JSON does not have come as texts; a float has more digits than its text."""
    found = document.get("default")
    if found is None or document["type"] not in ("float", "double"):
        return found
    return to_float32(float(found)) if document["type"] == "float" else float(found)


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """One record: payloads as JSON values, all else as it is."""

    payload: Any
    topic: str = "orders"
    partition: int | None = 3
    offset: int | None = 42
    timestamp: int | None = 1_700_000_000_123
    headers: tuple[str, ...] = ()

    def for_java(self, side: str, schema: dict[str, Any] | None) -> dict[str, str | None]:
        document: str | None = None
        if self.payload is not None:
            whole = self.payload if schema is None else {"schema": schema, "payload": self.payload}
            document = json.dumps(whole, separators=(",", ":"))
        return {
            side: document,
            "topic": self.topic,
            "partition": _text(self.partition),
            "offset": _text(self.offset),
            "timestamp": _text(self.timestamp),
            "headers": ",".join(self.headers) or None,
        }


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


def frame_of(
    spark: SparkSession,
    records: list[CaseRecord],
    side: str,
    schema: Schema | None,
    *,
    folded: bool = False,
) -> DataFrame:
    """The records as rows in flight, in order, with their number as a further column.

    `folded`: Spark's optimizer computes whatever is selected from it, without a job.
    """
    headers = [[{"key": name, "value": b"x"} for name in each.headers] for each in records]
    payloads = [None if each.payload is None else json.dumps(each.payload) for each in records]
    table = pa.table(
        {
            "place": pa.array(range(len(records)), pa.int32()),
            "topic": pa.array([each.topic for each in records], pa.string()),
            "partition": pa.array([each.partition for each in records], pa.int32()),
            "offset": pa.array([each.offset for each in records], pa.int64()),
            "timestamp": pa.array([each.timestamp for each in records], pa.int64()),
            "headers": pa.array(headers, _HEADERS),
            "payload": pa.array(payloads, pa.string()),
        }
    )
    frame = spark.createDataFrame(table)
    if not folded:
        frame = frame.coalesce(1)
    other = "value" if side == "key" else "key"
    return frame.select(
        "place", "topic", "partition", "offset", "timestamp", "headers",
        F.lit(None).cast("struct<stage:string,class:string,message:string>").alias("fault"),
        data_of(F.col("payload"), schema).alias(side),
        F.lit(None).cast("variant").alias(other),
    )  # fmt: skip


def data_of(payload: Column, schema: Schema | None) -> Column:
    if schema is None:
        return F.try_parse_json(payload)
    wrapped = F.concat(F.lit('{"x":'), payload, F.lit("}"))
    kind = StructType().add("x", spark_type(schema))
    return F.from_json(wrapped, kind).getField("x")


def payloads(column: Column, schema: Schema | None) -> Column:
    """The data as JSON text; null for null."""
    if schema is None:
        return F.when(column.isNotNull() & ~F.is_variant_null(column), F.to_json(column))
    wrapped = F.to_json(F.struct(column.alias("x")), {"ignoreNullFields": "false"})
    return F.when(column.isNotNull(), wrapped)
