"""Whole columns of Connect data as JSON, in the form that JSON Schema's data has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from penstock.codecs.json_schema.data import JsonSchemaReader
from penstock.codecs.json_schema.options import (
    KEY,
    VALUE,
    JsonSchemaOptions,
    is_object,
    is_union,
)
from penstock.codecs.registry.client import HEAD_SIZE
from penstock.columns.faults import Outcome
from penstock.columns.kernel import kernel_column
from penstock.columns.types import spark_type
from penstock.converters.json.decode import PayloadKernel
from penstock.converters.json.encode import JsonColumns
from penstock.kernel.data.schema import Field, Schema

if TYPE_CHECKING:
    from pyspark.sql import Column


class JsonSchemaColumns(JsonColumns):
    """Maps that are not objects are arrays of entries; unions are the one value they hold."""

    def is_foreign(self, schema: Schema) -> bool:
        return super().is_foreign(schema) or is_union(schema)

    def is_object(self, schema: Schema) -> bool:
        return is_object(schema)

    def pair_text(self, key: Column, value: Column) -> Column:
        return F.concat(F.lit(f'{{"{KEY}":'), key, F.lit(f',"{VALUE}":'), value, F.lit("}"))

    def struct_text(self, schema: Schema, data: Column) -> Column:
        if not is_union(schema):
            return super().struct_text(schema, data)
        text = F.lit("null")
        for each in reversed(schema.fields):
            part = data.getField(each.name)
            text = F.when(part.isNotNull(), self.text(each.schema, part)).otherwise(text)
        return text


def encode(schema: Schema, data: Column, head: Column, options: JsonSchemaOptions) -> Outcome:
    """The head and the JSON of the data."""
    columns = JsonSchemaColumns(
        decimal_numbers=options.decimal_numbers, replace_null=options.default_for_null
    )
    plain = _with_optional_alternatives(schema)
    return Outcome(F.concat(head, columns.document(plain, data)), columns.error(plain, data))


def decode(schema: Schema, raw: Column, options: JsonSchemaOptions) -> Outcome:
    """The data of the JSON behind the head."""
    rest = F.call_function("substring", raw, F.lit(HEAD_SIZE + 1))
    result = spark_types.StructType(
        [
            spark_types.StructField("data", spark_type(schema)),
            spark_types.StructField("error", spark_types.StringType()),
        ]
    )
    read = kernel_column(reading(schema, options), result, rest)
    return Outcome(read.getField("data"), read.getField("error"))


def reading(schema: Schema, options: JsonSchemaOptions) -> PayloadKernel:
    """The reader of documents of a schema."""
    return PayloadKernel(
        schema,
        tag=b"",
        replace_null=options.default_for_missing,
        decimal_numbers=options.decimal_numbers,
        reader=JsonSchemaReader,
    )


def _with_optional_alternatives(schema: Schema) -> Schema:
    """All alternatives of a union but one are null, whatever their schemas say."""
    fields = [Field(f.name, _with_optional_alternatives(f.schema)) for f in schema.fields]
    if is_union(schema):
        fields = [Field(f.name, replace(f.schema, optional=True, default=None)) for f in fields]
    keys, values = schema.key_schema, schema.value_schema
    return replace(
        schema,
        fields=tuple(fields),
        key_schema=None if keys is None else _with_optional_alternatives(keys),
        value_schema=None if values is None else _with_optional_alternatives(values),
    )
