"""Converters of single numbers and booleans: big-endian, of fixed width."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.api.converter import Converter, HeaderConverter, Layout
from penstock.codecs.converter_key import ConverterConfig
from penstock.codecs.json.write import java_class
from penstock.converters.common import decoded, encoded
from penstock.kernel.data.record import SchemaAndValue
from penstock.kernel.data.schema import DATE, TIME, TIMESTAMP, Schema, SchemaType
from penstock.kernel.errors import DataError
from penstock.kernel.java.to_string import JAVA_CLASSES

if TYPE_CHECKING:
    from pyspark.sql import Column

_PACKAGE: Final = "org.apache.kafka.connect.converters"


class NumberConverterConfig(ConverterConfig):
    """Keys of the converters of numbers."""


class BooleanConverterConfig(ConverterConfig):
    """Keys of BooleanConverter."""


class FixedWidthConverter(Converter, HeaderConverter):
    """One type, one width. The classes below only name theirs.

    Class attributes:
        type: of the data.
        java_type: what the messages call it.
        form: of the bytes, as `struct` has it.
    """

    uniform = True
    type: ClassVar[SchemaType]
    java_type: ClassVar[str]
    form: ClassVar[str]

    def __init__(self, config: ConverterConfig, *, is_key: bool = False) -> None:
        super().__init__(config, is_key=is_key)
        self._schema = Schema(self.type, optional=True)
        self._size = struct.calcsize(self.form)

    def encode(self, schema: Schema | None, data: Column) -> Column:
        from pyspark.sql import functions as F

        from penstock.converters.fixed_width import encode_column

        if schema is None:
            return self._encode_variant(data)
        if self._is_for(schema):
            return encoded(encode_column(self.type, data), None)
        refused = F.lit(self._refusal(_class_of(schema), schema))
        error = refused if self._checks_schemas else F.when(data.isNotNull(), refused)
        return encoded(F.lit(None).cast("binary"), error)

    def layout(self, raw: bytes | None) -> Layout:  # noqa: ARG002 - all bytes have this one
        return Layout(self._schema)

    def decode(self, layout: Layout, raw: Column) -> Column:  # noqa: ARG002 - there is one
        from pyspark.sql import functions as F

        from penstock.converters.fixed_width import decode_column

        data, bad = decode_column(self.type, raw)
        return decoded(data, F.when(bad, F.lit(self._wrong_size)))

    def decode_one(self, raw: bytes | None) -> SchemaAndValue:
        if raw is None:
            return SchemaAndValue(self._schema, None)
        if len(raw) != self._size or (self.type is SchemaType.BOOLEAN and raw[0] > 1):
            raise DataError(self._wrong_size)
        return SchemaAndValue(self._schema, struct.unpack(self.form, raw)[0])

    def encode_one(self, schema: Schema | None, value: Any) -> bytes | None:
        if (
            schema is not None
            and not self._is_for(schema)
            and (self._checks_schemas or value is not None)
        ):
            raise DataError(self._refusal(_class_of(schema), schema))
        if value is None:
            return None
        try:
            return struct.pack(self.form, self._fitting(value))
        except (struct.error, OverflowError) as error:
            raise DataError(self._refusal(java_class(value), None)) from error

    def decode_header(self, raw: bytes | None) -> SchemaAndValue:
        return self.decode_one(raw)

    def encode_header(self, schema: Schema | None, value: Any) -> bytes | None:
        return self.encode_one(schema, value)

    @property
    def _checks_schemas(self) -> bool:
        return self.type is SchemaType.BOOLEAN

    @property
    def _wrong_size(self) -> str:
        if self.type is SchemaType.BOOLEAN:
            return "Failed to deserialize boolean: "
        return f"Failed to deserialize {self.java_type}: "

    def _refusal(self, found: str | None, schema: Schema | None) -> str:
        if self.type is not SchemaType.BOOLEAN:
            return f"Failed to serialize to {self.java_type} (was {found}): "
        if schema is not None:
            return f"Invalid schema type for BooleanConverter: {schema.type.name}"
        return f"BooleanConverter is not compatible with objects of type {found}"

    def _is_for(self, schema: Schema) -> bool:
        return schema.type is self.type and schema.name not in (DATE, TIME, TIMESTAMP)

    def _fitting(self, value: Any) -> Any:
        wanted: type = {"f": float, "d": float, "?": bool}.get(self.form[-1], int)
        if type(value) is not wanted:
            raise DataError(self._refusal(java_class(value), None))
        return value

    def _encode_variant(self, data: Column) -> Column:
        from pyspark.sql import functions as F

        from penstock.converters.fixed_width import VARIANT_TYPES, encode_column

        # Numbers without a schema are longs and doubles in Java, whatever their size.
        wanted, spark_type = VARIANT_TYPES.get(self.type, ((), "string"))
        fits = F.schema_of_variant(data).isin(*wanted) if wanted else F.lit(False)
        value = F.when(fits, F.try_variant_get(data, "$", spark_type))
        refused = F.lit(self._refusal("class of a value without a schema", None))
        error = F.when(data.isNotNull() & ~F.is_variant_null(data) & ~fits, refused)
        if not wanted:
            return encoded(F.lit(None).cast("binary"), error)
        return encoded(encode_column(self.type, value), error)


def _class_of(schema: Schema | None) -> str | None:
    if schema is None:
        return None
    if schema.is_decimal:
        return "class java.math.BigDecimal"
    if schema.name in (DATE, TIME, TIMESTAMP):
        return "class java.util.Date"
    return f"class {JAVA_CLASSES[schema.type]}"


class ShortConverter(FixedWidthConverter):
    """16-bit integers."""

    Config = NumberConverterConfig
    java_name = f"{_PACKAGE}.ShortConverter"
    type, java_type, form = SchemaType.INT16, "short", ">h"


class IntegerConverter(FixedWidthConverter):
    """32-bit integers."""

    Config = NumberConverterConfig
    java_name = f"{_PACKAGE}.IntegerConverter"
    type, java_type, form = SchemaType.INT32, "integer", ">i"


class LongConverter(FixedWidthConverter):
    """64-bit integers."""

    Config = NumberConverterConfig
    java_name = f"{_PACKAGE}.LongConverter"
    type, java_type, form = SchemaType.INT64, "long", ">q"


class FloatConverter(FixedWidthConverter):
    """32-bit floating point numbers."""

    Config = NumberConverterConfig
    java_name = f"{_PACKAGE}.FloatConverter"
    type, java_type, form = SchemaType.FLOAT32, "float", ">f"


class DoubleConverter(FixedWidthConverter):
    """64-bit floating point numbers."""

    Config = NumberConverterConfig
    java_name = f"{_PACKAGE}.DoubleConverter"
    type, java_type, form = SchemaType.FLOAT64, "double", ">d"


class BooleanConverter(FixedWidthConverter):
    """One byte: 0 or 1."""

    Config = BooleanConverterConfig
    java_name = f"{_PACKAGE}.BooleanConverter"
    type, java_type, form = SchemaType.BOOLEAN, "boolean", ">?"
