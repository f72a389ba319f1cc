"""JsonConverter's expressions; apart from it, so that its keys can be read without Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from penstock.codecs.json.document import NOT_AN_ENVELOPE, NOT_JSON
from penstock.columns.kernel import kernel_column
from penstock.columns.types import spark_type
from penstock.converters.common import decoded, encoded
from penstock.converters.json.decode import PayloadKernel
from penstock.converters.json.encode import JsonColumns

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.kernel.data.schema import Schema

_BLANK: Final = r"^[ \t\n\r]*$"


def encode(
    schema: Schema | None,
    data: Column,
    *,
    prefix: str | None,
    decimal_numbers: bool,
    replace_null: bool,
) -> Column:
    """`prefix`: the envelope up to its payload; None writes the data alone."""
    columns = JsonColumns(decimal_numbers=decimal_numbers, replace_null=replace_null)
    if prefix is None:
        raw = columns.document(schema, data)
    else:
        raw = F.concat(F.lit(prefix.encode()), columns.member(schema, data, "payload"))
    if schema is None:
        raw = F.when(data.isNotNull() & ~F.is_variant_null(data), raw)
    return encoded(raw, columns.error(schema, data))


def decode(
    schema: Schema, tag: bytes, raw: Column, *, decimal_numbers: bool, replace_null: bool
) -> Column:
    """Data with a schema. Only what follows the tag travels to Python."""
    kernel = PayloadKernel(schema, tag, replace_null=replace_null, decimal_numbers=decimal_numbers)
    result = spark_types.StructType(
        [
            spark_types.StructField("data", spark_type(schema)),
            spark_types.StructField("error", spark_types.StringType()),
        ]
    )
    matches = F.startswith(raw, F.lit(tag))
    rest = F.when(matches, F.call_function("substring", raw, F.lit(len(tag) + 1)))
    read = kernel_column(kernel, result, rest if tag else raw)
    return decoded(read.getField("data"), read.getField("error"), _is_other(matches))


def decode_schemaless(raw: Column, *, tag: bytes | None) -> Column:
    """Data without a schema. `tag`: how envelopes with a null schema start, if there are any."""
    if tag == b"":
        # Only null has this layout; a long expression that says so would cost every row.
        nothing = F.lit(None)
        return decoded(nothing.cast("variant"), nothing.cast("string"), raw.isNotNull())
    text = raw.cast("string")
    whole = F.try_parse_json(text)
    if tag is None:
        unreadable = raw.isNotNull() & whole.isNull() & ~text.rlike(_BLANK)
        return decoded(_not_null(whole), F.when(unreadable, F.lit(NOT_JSON)))
    matches = F.startswith(raw, F.lit(tag))
    members = F.try_variant_get(whole, "$", "map<string,variant>")
    strange = F.size(members) != 2
    error = F.when(matches & whole.isNull() & raw.isNotNull(), F.lit(NOT_JSON)).when(
        matches & strange, F.lit(NOT_AN_ENVELOPE)
    )
    payload = F.when(matches & error.isNull(), F.try_element_at(members, F.lit("payload")))
    return decoded(_not_null(payload), error, _is_other(matches))


def _not_null(data: Column) -> Column:
    """JSON's null is null data, not a value."""
    # Of null there is no member. With the data in both cases Spark parses it once for all three.
    no_data = F.try_variant_get(data, "$.none", "variant")
    return F.when(~F.is_variant_null(data), data).otherwise(no_data)


def _is_other(matches: Column) -> Column:
    return F.coalesce(~matches, F.lit(False))
