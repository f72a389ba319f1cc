"""Whole columns of JSON as Connect data: Arrow's JSON reader over the batch.

The reader gives the same as Java for nearly all batches. Whatever it refuses, and whatever it
may read in another way than Java, sends the batch down the row by row way of `read`, which
decides; so this module only has to be sure, never lenient.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

from penstock.codecs.json import document
from penstock.codecs.json.document import NOT_AN_ENVELOPE
from penstock.codecs.json.read import JsonReader
from penstock.columns.types import MAX_DECIMAL_DIGITS, arrow_array, arrow_type
from penstock.kernel.data.schema import TIME, Schema, SchemaType
from penstock.kernel.errors import DataError, with_causes
from penstock.kernel.java.to_string import MILLIS_OF_DAY

_HEAD: Final = b'{"v":'
_PAYLOAD: Final = b'{"payload":'
_FLOATS: Final = frozenset({SchemaType.FLOAT32, SchemaType.FLOAT64})


class UnsureError(Exception):
    """The batch has to be read row by row."""


@dataclass(frozen=True, slots=True)
class PayloadKernel:
    """Reads what follows the tag of each record: the payload and the envelope's last bracket.

    Attributes:
        schema: of the payload.
        tag: the bytes before the payload; empty if the payload is the whole document.
        replace_null: whether null becomes the default of its schema.
        decimal_numbers: whether Decimals are likely to be numbers; either form is read.
        reader: what reads the batches that Arrow's reader is not sure of.
    """

    schema: Schema
    tag: bytes
    replace_null: bool
    decimal_numbers: bool
    reader: type[JsonReader] = JsonReader

    def __call__(self, rests: pa.Array) -> pa.Array:
        """struct<data, error> for each row; a null row gives nulls."""
        try:
            data = self._read_all(rests)
        except (UnsureError, pa.ArrowException, ValueError):
            return self._read_each(rests)
        errors = pa.nulls(len(rests), pa.string())
        return pa.StructArray.from_arrays([data, errors], names=["data", "error"])

    def _read_all(self, rests: pa.Array) -> pa.Array:
        present = rests.drop_null()
        if not len(present):
            return pa.nulls(len(rests), arrow_type(self.schema))
        if has(self.schema, self.reader.is_foreign):
            raise UnsureError
        text = self._joined(present)
        data = self._converted(text, len(present))
        if not rests.null_count:
            return data
        places = pc.cumulative_sum(rests.is_valid().cast(pa.int64()))
        indices = pc.if_else(rests.is_valid(), pc.subtract(places, 1), None)
        return data.take(indices)

    def _joined(self, rests: pa.Array) -> bytes:
        """One document on each line: `{"v":<payload>}`."""
        if self.tag:
            # A line that starts and ends with a bracket can't run into the next one unseen,
            # so as many rows as lines means that each line is one row.
            if not pc.all(pc.ends_with(rests, b"}")).as_py():
                raise UnsureError
            separator = b"\n" + _HEAD
        else:
            separator = b"}\n" + _HEAD
        lists = pa.ListArray.from_arrays(pa.array([0, len(rests)], pa.int32()), rests)
        joined: bytes = pc.binary_join(lists, separator)[0].as_buffer().to_pybytes()
        text = _HEAD + joined if self.tag else _HEAD + joined + b"}"
        text.decode()  # Arrow does not look whether it is UTF-8
        return text

    def _converted(self, text: bytes, rows: int) -> pa.Array:
        if not _has_decimal(self.schema):
            return self._checked(_parsed(text, self.schema, pa.string(), rows))
        if not self.decimal_numbers:
            try:
                return self._checked(_parsed(text, self.schema, pa.string(), rows))
            except pa.ArrowInvalid:
                pass  # there are numbers among them
        # Arrow takes a text for a number where a decimal is asked for, but not where a float is.
        _parsed(text, self.schema, pa.float64(), rows)
        return self._checked(_parsed(text, self.schema, None, rows))

    def _checked(self, data: pa.Array) -> pa.Array:
        return _Fitting(replace_null=self.replace_null).fit(self.schema, data, None)

    def _read_each(self, rests: pa.Array) -> pa.Array:
        make_struct = _Members.of if has(self.schema, _has_struct_keys) else _as_dict
        reader = self.reader(replace_null=self.replace_null, make_struct=make_struct)
        read = reader.compile(self.schema)
        fit = _fitter(self.schema)
        values: list[Any] = []
        errors: list[str | None] = []
        for rest in rests:
            value, error = None, None
            if rest.is_valid:
                try:
                    value = fit(read(self._payload(rest.as_py())))
                except DataError as failure:
                    error = with_causes(failure)
            values.append(value)
            errors.append(error)
        data = arrow_array(values, arrow_type(self.schema))
        return pa.StructArray.from_arrays(
            [data, pa.array(errors, pa.string())], names=["data", "error"]
        )

    def _payload(self, rest: bytes) -> Any:
        if not self.tag:
            return document.parse(rest)
        # The schema is known from the tag; parsing it again for each row costs most of the time.
        node = document.parse(_PAYLOAD + rest)
        if not isinstance(node, dict) or len(node) != 1:
            raise DataError(NOT_AN_ENVELOPE)
        return node["payload"]


class _Fitting:
    """From what Arrow read to the types in flight; raises UnsureError for what Java may not do."""

    def __init__(self, *, replace_null: bool) -> None:
        self._replace_null = replace_null

    def fit(self, schema: Schema, data: pa.Array, parents: pa.Array | None) -> pa.Array:
        """`parents`: which rows have a parent, if not all do."""
        fitted = self._fit_values(schema, data)
        return self._without_bad_nulls(schema, fitted, parents)

    def _fit_values(self, schema: Schema, data: pa.Array) -> pa.Array:
        if schema.is_decimal:
            return data if pa.types.is_decimal(data.type) else _decimals(data, schema)
        match schema.type:
            case SchemaType.STRUCT:
                return self._fit_struct(schema, data)
            case SchemaType.ARRAY if schema.value_schema is not None:
                return self._fit_list(schema.value_schema, data)
            case SchemaType.BYTES:
                return _from_base64(data)
        if schema.type in _FLOATS:
            return _floats(data)
        if schema.name == TIME:
            _check_times(data)
        return data

    def _fit_struct(self, schema: Schema, data: pa.Array) -> pa.Array:
        parents = data.is_valid() if data.null_count else None
        children = [
            self.fit(each.schema, data.field(number), parents)
            for number, each in enumerate(schema.fields)
        ]
        names = [
            pa.field(each.name, child.type)
            for each, child in zip(schema.fields, children, strict=True)
        ]
        mask = data.is_null() if data.null_count else None
        if not names:
            return data
        return pa.StructArray.from_arrays(children, fields=names, mask=mask)

    def _fit_list(self, items: Schema, data: pa.Array) -> pa.Array:
        values = self.fit(items, data.values, None)
        if data.offset:
            raise UnsureError
        mask = data.is_null() if data.null_count else None
        return pa.ListArray.from_arrays(data.offsets, values, mask=mask)

    def _without_bad_nulls(
        self, schema: Schema, data: pa.Array, parents: pa.Array | None
    ) -> pa.Array:
        if not data.null_count:
            return data
        if self._replace_null and schema.default is not None:
            if schema.type in (SchemaType.STRUCT, SchemaType.ARRAY):
                raise UnsureError
            return pc.fill_null(data, pa.scalar(schema.default, data.type))
        if not schema.optional:
            bad = data.is_null() if parents is None else pc.and_(data.is_null(), parents)
            if pc.any(bad).as_py():
                raise UnsureError
        return data


def _parsed(text: bytes, schema: Schema, decimals: pa.DataType | None, rows: int) -> pa.Array:
    """Arrow's reading of the lines, with decimals as another type if one is given."""
    wanted = pa.schema([pa.field("v", _reader_type(schema, decimals))])
    table = arrow_json.read_json(
        pa.BufferReader(text),
        read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(text) + 1),
        parse_options=arrow_json.ParseOptions(
            explicit_schema=wanted, newlines_in_values=False, unexpected_field_behavior="error"
        ),
    )
    if table.num_rows != rows:
        raise UnsureError
    column = table.column("v")
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _reader_type(schema: Schema, decimals: pa.DataType | None) -> pa.DataType:
    if schema.is_decimal:
        return decimals or arrow_type(schema)
    match schema.type:
        case SchemaType.STRUCT:
            return pa.struct(
                [pa.field(each.name, _reader_type(each.schema, decimals)) for each in schema.fields]
            )
        case SchemaType.ARRAY if schema.value_schema is not None:
            return pa.list_(_reader_type(schema.value_schema, decimals))
        case SchemaType.BYTES:
            return pa.string()
    return arrow_type(schema)


def has(schema: Schema | None, found: Callable[[Schema], bool]) -> bool:
    """Whether a schema is such a one, or contains one."""
    if schema is None:
        return False
    if found(schema):
        return True
    inner = [each.schema for each in schema.fields] + [schema.key_schema, schema.value_schema]
    return any(has(each, found) for each in inner)


def _has_decimal(schema: Schema) -> bool:
    return has(schema, lambda each: each.is_decimal)


def _floats(data: pa.Array) -> pa.Array:
    numbers = data.drop_null().to_numpy(zero_copy_only=False)
    if not np.isfinite(numbers).all():
        raise UnsureError  # Arrow reads NaN without quotes, which is no JSON
    if (np.signbit(numbers) & (numbers == 0)).any():
        return pc.add(data, pa.scalar(0.0, data.type))  # Java's decimals have no negative zero
    return data


def _check_times(data: pa.Array) -> None:
    bounds = pc.min_max(data).as_py()
    if bounds["min"] is not None and not 0 <= bounds["min"] <= bounds["max"] <= MILLIS_OF_DAY:
        raise UnsureError


def _from_base64(data: pa.Array) -> pa.Array:
    raw = [
        None if text is None else binascii.a2b_base64(text, strict_mode=True)
        for text in data.to_pylist()
    ]
    return pa.array(raw, pa.binary())


def _decimals(data: pa.Array, schema: Schema) -> pa.Array:
    """Decimals from the base64 of their digits, written straight into Arrow's buffer."""
    kept = bytearray()
    for text in data.to_pylist():
        raw = b"\0" if text is None else binascii.a2b_base64(text, strict_mode=True)
        if not raw:
            raise UnsureError
        number = int.from_bytes(raw, "big", signed=True)
        if not -_LIMIT < number < _LIMIT:
            raise UnsureError
        kept += number.to_bytes(16, "little", signed=True)
    validity = data.is_valid().buffers()[1] if data.null_count else None
    return pa.Array.from_buffers(
        arrow_type(schema), len(data), [validity, pa.py_buffer(bytes(kept))]
    )


_LIMIT: Final = 10**MAX_DECIMAL_DIGITS


def _as_dict(schema: Schema, values: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - MakeStruct
    return values


class _Members(dict[str, Any]):
    """A struct that may be the key of a map."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(repr(self))

    @classmethod
    def of(cls, schema: Schema, values: dict[str, Any]) -> _Members:  # noqa: ARG003 - MakeStruct
        return cls(values)


def _has_struct_keys(schema: Schema) -> bool:
    return schema.key_schema is not None and schema.key_schema.type is SchemaType.STRUCT


def _fitter(schema: Schema) -> Callable[[Any], Any]:
    """Makes a value that was read fit for Arrow: maps as pairs, decimals of the right scale."""
    if schema.is_decimal:
        return lambda value: None if value is None else _rescaled(value, schema.scale)
    match schema.type:
        case SchemaType.STRUCT:
            fits = [(each.name, _fitter(each.schema)) for each in schema.fields]
            return lambda value: value and {name: fit(value[name]) for name, fit in fits}
        case SchemaType.ARRAY if schema.value_schema is not None:
            fit_item = _fitter(schema.value_schema)
            return lambda value: value and [fit_item(each) for each in value]
        case SchemaType.MAP if schema.key_schema is not None and schema.value_schema is not None:
            fit_key, fit_value = _fitter(schema.key_schema), _fitter(schema.value_schema)
            return lambda value: (
                value and [(fit_key(_present(key)), fit_value(each)) for key, each in value.items()]
            )
    return lambda value: value


def _present(key: Any) -> Any:
    if key is None:
        raise DataError("A map with a null key can't be held in columns")
    return key


def _rescaled(value: Decimal, scale: int) -> Decimal:
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # noqa: S101 - JSON has no infinite numbers
    number = int("".join(map(str, digits)))
    shift = exponent + scale
    if shift < 0:
        number, rest = divmod(number, 10**-shift)
        if rest:
            raise DataError(f"Decimal {value} has more than {scale} digits after the point")
    elif number:
        number = number * 10**shift if shift <= MAX_DECIMAL_DIGITS else _LIMIT
    if number >= _LIMIT:
        raise DataError(f"Decimal {value} has more than {MAX_DECIMAL_DIGITS} digits")
    return Decimal((sign, tuple(map(int, str(number))), -scale))
