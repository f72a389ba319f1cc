"""The converters of strings, bytes and numbers, and of simple headers, against Java's."""

from __future__ import annotations

import struct
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from penstock.api.converter import Converter
from penstock.converters.numbers import (
    BooleanConverter,
    DoubleConverter,
    FloatConverter,
    IntegerConverter,
    LongConverter,
    ShortConverter,
)
from penstock.converters.raw import ByteArrayConverter
from penstock.converters.simple_header import SimpleHeaderConverter
from penstock.converters.text import StringConverter
from penstock.kernel.data.schema import Schema, SchemaType
from tests.spark.converters.bridge import JavaConverters, told
from tests.spark.converters.comparing import (
    collected,
    decoded_one,
    decoded_row,
    difference,
    encoded_one,
    encoded_row,
    expected,
)
from tests.spark.converters.generate import TEXTS, Generator, arrow_column
from tests.spark.converters.header_texts import HEADER_TEXTS

_CLASSES: tuple[type[Any], ...] = (
    BooleanConverter,
    ByteArrayConverter,
    DoubleConverter,
    FloatConverter,
    IntegerConverter,
    LongConverter,
    ShortConverter,
    StringConverter,
)
_SCALARS = (
    SchemaType.INT8,
    SchemaType.INT16,
    SchemaType.INT32,
    SchemaType.INT64,
    SchemaType.FLOAT32,
    SchemaType.FLOAT64,
    SchemaType.BOOLEAN,
    SchemaType.STRING,
    SchemaType.BYTES,
)


def _converter(class_: type[Any], **config: str) -> Any:
    given = {name.replace("_", "."): value for name, value in config.items()}
    return class_(class_.Config.parse({"converter.type": "value", **given}))


def _printable(schema: Schema, value: Any) -> bool:
    """Java writes byte arrays as their address, and before 19 some numbers with more digits."""
    return schema.type is not SchemaType.BYTES and not isinstance(value, float)


@pytest.mark.parametrize("class_", _CLASSES)
def test_scalars_are_written_the_same(
    spark: SparkSession, java: JavaConverters, class_: type[Any]
) -> None:
    converter: Converter = _converter(class_)
    generator = Generator(5)
    schemas = [Schema(kind, optional=True) for kind in _SCALARS]
    values = [[None, *(generator.value(each) for _ in range(100))] for each in schemas]
    made = [converter.encode(schema, F.col(f"c{n}")) for n, schema in enumerate(schemas)]
    columns = [arrow_column(*pair) for pair in zip(schemas, values, strict=True)]

    results = collected(spark, columns, *made)

    for schema, given, rows in zip(schemas, values, results, strict=True):
        answers = java.encode(str(class_.java_name), {}, schema, given)
        for value, answer, row in zip(given, answers, rows, strict=True):
            if class_ is StringConverter and value is not None and not _printable(schema, value):
                continue
            want = expected(answer)
            assert not difference(encoded_row(row), want), (schema, value)
            assert not difference(encoded_one(converter, schema, value), want), (schema, value)


@pytest.mark.parametrize("class_", _CLASSES)
def test_bytes_are_read_the_same(
    spark: SparkSession, java: JavaConverters, class_: type[Any]
) -> None:
    converter: Converter = _converter(class_)
    random = Random(9)
    raws: list[bytes | None] = [None, b"", b"\x00", b"\x01", b"\x02"]
    raws += [random.randbytes(random.choice((1, 2, 4, 8, 3, 9))) for _ in range(300)]
    raws += [struct.pack(">d", each) for each in (float("inf"), -0.0, 1.5)]
    raws += [each.encode() for each in TEXTS]
    layout = converter.layout(None)

    (rows,) = collected(spark, [pa.array(raws, pa.binary())], converter.decode(layout, F.col("c0")))

    answers = java.decode(str(class_.java_name), {}, raws)
    for raw, answer, row in zip(raws, answers, rows, strict=True):
        want = expected(answer)
        assert not difference(decoded_one(converter, raw), want), raw
        assert not difference(decoded_row(layout, row), want), raw


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


@pytest.mark.parametrize("charset", ["UTF-8", "ISO-8859-1", "US-ASCII", "UTF-16", "UTF-16LE"])
def test_texts_in_other_character_sets_are_the_same(
    spark: SparkSession, java: JavaConverters, charset: str
) -> None:
    config = {"converter.encoding": charset}
    converter: Converter = _converter(StringConverter, converter_encoding=charset)
    schema = Schema(SchemaType.STRING, optional=True)
    texts = [*TEXTS, None]
    written = java.encode(str(StringConverter.java_name), config, schema, texts)
    raws = [_bytes(each["data"]) for each in written]
    columns = [arrow_column(schema, texts), pa.array(raws, pa.binary())]

    made = converter.encode(schema, F.col("c0"))
    read = converter.decode(converter.layout(None), F.col("c1"))
    encoded, decoded = collected(spark, columns, made, read)

    answers = java.decode(str(StringConverter.java_name), config, raws)
    for text, want, row in zip(texts, written, encoded, strict=True):
        assert encoded_row(row) == want, text
        assert encoded_one(converter, schema, text) == want, text
    for raw, want, row in zip(raws, answers, decoded, strict=True):
        assert not difference(decoded_row(converter.layout(None), row), want), raw
        assert not difference(decoded_one(converter, raw), want), raw


def _has_unknown_items(schema: Any) -> bool:
    if schema is None or schema["type"] not in ("ARRAY", "MAP"):
        return False
    parts = [schema["values"]] if schema["type"] == "ARRAY" else [schema["keys"], schema["values"]]
    # The schema of items that are arrays themselves is that of the last one only.
    return any(part is None or part["type"] in ("ARRAY", "MAP") for part in parts)


def test_header_texts_are_read_the_same(java: JavaConverters) -> None:
    converter = SimpleHeaderConverter(SimpleHeaderConverter.Config.parse({}))
    raws = [text.encode() for text in HEADER_TEXTS]
    answers = java.decode(str(SimpleHeaderConverter.java_name), {}, raws)
    for raw, answer in zip(raws, answers, strict=True):
        ours = told(converter.decode_header(raw))
        if _has_unknown_items(ours["schema"]):
            # Items without a schema: Python's numbers have no width to compare.
            assert not difference(ours["schema"], answer["schema"]), raw
        else:
            assert not difference(ours, answer), raw


def test_generated_headers_are_written_the_same(java: JavaConverters) -> None:
    converter = SimpleHeaderConverter(SimpleHeaderConverter.Config.parse({}))
    generator = Generator(31)
    for _ in range(300):
        schema = generator.schema(2)
        if "FLOAT" in str(schema):
            continue  # Java before 19 writes some numbers with more digits
        values = [generator.value(schema) for _ in range(5)]
        answers = java.encode(str(SimpleHeaderConverter.java_name), {}, schema, values)
        for value, want in zip(values, answers, strict=True):
            raw = converter.encode_header(schema, value)
            assert (None if raw is None else raw.hex()) == want["data"], (schema, value)


def test_generated_columns_of_headers_are_written_the_same(
    spark: SparkSession, java: JavaConverters
) -> None:
    converter = SimpleHeaderConverter(SimpleHeaderConverter.Config.parse({}))
    generator = Generator(32)
    schemas = [generator.schema(2) for _ in range(40)]
    values = [[generator.value(schema) for _ in range(25)] for schema in schemas]
    made = [converter.encode(schema, F.col(f"c{n}")) for n, schema in enumerate(schemas)]
    columns = [arrow_column(*pair) for pair in zip(schemas, values, strict=True)]

    results = collected(spark, columns, *made)

    for schema, given, rows in zip(schemas, values, results, strict=True):
        answers = java.encode(str(SimpleHeaderConverter.java_name), {}, schema, given)
        for value, want, row in zip(given, answers, rows, strict=True):
            assert encoded_row(row) == want, (schema, value)
