"""Numbers of fixed width in columns: whole numbers by hexadecimal digits, others by a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from penstock.columns.kernel import kernel_column
from penstock.kernel.data.schema import SchemaType

if TYPE_CHECKING:
    from pyspark.sql import Column

#: What schema_of_variant() calls the data that fits, and the Spark type it is taken as.
VARIANT_TYPES: Final[dict[SchemaType, tuple[tuple[str, ...], str]]] = {
    SchemaType.INT64: (("BIGINT",), "bigint"),
    SchemaType.FLOAT64: (("DOUBLE", "FLOAT"), "double"),
    SchemaType.BOOLEAN: (("BOOLEAN",), "boolean"),
}
_WHOLE: Final = {
    SchemaType.INT16: (2, "smallint"),
    SchemaType.INT32: (4, "int"),
    SchemaType.INT64: (8, "bigint"),
}
_FLOATS: Final = {
    SchemaType.FLOAT32: (4, "float", ">f4"),
    SchemaType.FLOAT64: (8, "double", ">f8"),
}


def encode_column(type_: SchemaType, data: Column) -> Column:
    """The bytes of numbers or booleans of this type."""
    if type_ is SchemaType.BOOLEAN:
        return F.when(data, F.lit(b"\x01")).when(~data, F.lit(b"\x00"))
    if type_ in _FLOATS:
        form = _FLOATS[type_][2]
        return kernel_column(lambda numbers: _float_bytes(numbers, form), "binary", data)
    size, _ = _WHOLE[type_]
    digits = F.lpad(F.hex(data.cast("bigint")), 16, "0")
    return F.unhex(F.substring(digits, 17 - 2 * size, 2 * size))


def decode_column(type_: SchemaType, raw: Column) -> tuple[Column, Column]:
    """The numbers, null where the bytes are bad; and where they are bad."""
    if type_ is SchemaType.BOOLEAN:
        data = F.when(raw == F.lit(b"\x01"), F.lit(True)).when(raw == F.lit(b"\x00"), F.lit(False))
        return data, raw.isNotNull() & data.isNull()
    if type_ in _FLOATS:
        size, name, form = _FLOATS[type_]
        good = F.when(F.octet_length(raw) == size, raw)
        data = kernel_column(lambda raws: _floats(raws, form), name, good)
    else:
        size, name = _WHOLE[type_]
        data = F.when(F.octet_length(raw) == size, _whole_number(raw, size).cast(name))
    return data, F.octet_length(raw) != size


def _whole_number(raw: Column, size: int) -> Column:
    """Two's complement from hexadecimal digits, by halves: a half fits a long without a sign."""
    half = size // 2
    high, low = (
        F.conv(F.hex(F.substring(raw, start, half)), 16, 10).cast("bigint")
        for start in (1, 1 + half)
    )
    limit = 1 << (8 * half - 1)
    signed = F.when(high >= limit, high - 2 * limit).otherwise(high)
    return F.shiftleft(signed, 8 * half).bitwiseOR(low)


def _float_bytes(numbers: pa.Array, form: str) -> pa.Array:
    width = int(form[-1])
    values = numbers.fill_null(0).to_numpy(zero_copy_only=False).astype(form)
    # All NaNs are one to Java.
    values[np.isnan(values)] = np.nan
    fixed = pa.Array.from_buffers(
        pa.binary(width), len(values), [None, pa.py_buffer(values.tobytes())]
    ).cast(pa.binary())
    if not numbers.null_count:
        return fixed
    return pa.compute.if_else(numbers.is_valid(), fixed, pa.scalar(None, pa.binary()))


def _floats(raws: pa.Array, form: str) -> pa.Array:
    width = int(form[-1])
    filled = raws.fill_null(b"\0" * width)
    joined = b"".join(filled.to_pylist())
    values = np.frombuffer(joined, form).astype(form.replace(">", "<"))
    return pa.array(values, mask=raws.is_null().to_numpy(zero_copy_only=False))
