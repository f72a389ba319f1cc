"""Random schemas and values of every Connect type, from fixed seeds."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from decimal import Context, Decimal
from random import Random
from typing import Any

import pyarrow as pa

from penstock.columns.types import arrow_type
from penstock.kernel.data.schema import (
    Field,
    Schema,
    SchemaType,
    Struct,
    date_schema,
    decimal_schema,
    time_schema,
    timestamp_schema,
)

TEXTS = (
    "",
    "a",
    "Grüße",
    "日本",
    "🚀 up",
    "a🚀🚀b\U0010ffff",
    'q"u\\o/te',
    "tab\tnew\nline\r\b\f",
    "\x00\x01\x1f\x7f\x80",
    "\u2028\u2029\ufeff",
    "null",
    "NaN",
    "{}",
    "[1]",
    "'",
    "</script>",
    "x" * 300,
    "true",
    "123",
    "\ue000\ufffd\uffff",
)
DOUBLES = (
    0.0,
    -0.0,
    1.0,
    -1.5,
    1e7,
    9999999.0,
    1e-3,
    9.99e-4,
    1e21,
    1e23,
    5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    0.1,
    1 / 3,
    123456789.125,
    1e16,
    float("nan"),
    float("inf"),
    float("-inf"),
)
NAMES = (
    "a",
    "b",
    "id",
    "Name",
    "with space",
    "dot.ted",
    "q'uote",
    'dq"x',
    "ü",
    "🚀",
    "$",
    "back`tick",
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
_BITS = {SchemaType.INT8: 8, SchemaType.INT16: 16, SchemaType.INT32: 32, SchemaType.INT64: 64}


class Generator:
    """Schemas and values; the same seed gives the same ones.

    `bad_nulls`: how many of the fields that may not be null are. `texts`: values of strings.
    """

    def __init__(self, seed: int, *, bad_nulls: float = 0.0, texts: Sequence[str] = TEXTS) -> None:
        self._random = Random(seed)
        self._bad_nulls = bad_nulls
        self._texts = texts

    def schema(self, depth: int = 3) -> Schema:
        choice = self._random.random()
        if depth == 0 or choice < 0.45:
            return self._decorated(self._scalar())
        if choice < 0.75:
            return self._decorated(self._struct(depth))
        if choice < 0.88:
            return self._decorated(Schema(SchemaType.ARRAY, value_schema=self.schema(depth - 1)))
        keys = Schema(SchemaType.STRING) if choice < 0.94 else replace(self._key(), optional=False)
        return self._decorated(
            Schema(SchemaType.MAP, key_schema=keys, value_schema=self.schema(depth - 1))
        )

    def value(self, schema: Schema, *, may_be_null: bool = True) -> Any:
        """A value that fits; null now and then where it is allowed."""
        nullable = schema.optional or schema.default is not None
        if may_be_null and nullable and self._random.random() < 0.25:
            return None
        match schema.type:
            case SchemaType.STRUCT:
                return Struct(schema, {f.name: self._member(f.schema) for f in schema.fields})
            case SchemaType.ARRAY:
                assert schema.value_schema
                return [self._item(schema.value_schema) for _ in range(self._random.randrange(4))]
            case SchemaType.MAP:
                return self._map(schema)
        return self._scalar_value(schema)

    def _member(self, schema: Schema) -> Any:
        return None if self._random.random() < self._bad_nulls else self.value(schema)

    def _item(self, schema: Schema) -> Any:
        # Java checks the items of arrays and maps when they are put into a struct: a null needs
        # an optional schema there, whatever its default.
        return self.value(schema, may_be_null=schema.optional)

    def _map(self, schema: Schema) -> dict[Any, Any]:
        assert schema.key_schema
        assert schema.value_schema
        count = self._random.randrange(4)
        keys = [self.value(schema.key_schema, may_be_null=False) for _ in range(count)]
        # Different numbers may be equal keys (0.0 and -0.0, NaN): none of them here.
        keys = [key for key in keys if key == key and key != 0]
        return {key: self._item(schema.value_schema) for key in keys}

    def _key(self) -> Schema:
        kinds = (SchemaType.INT8, SchemaType.INT32, SchemaType.INT64, SchemaType.BOOLEAN)
        return Schema(self._random.choice(kinds))

    def _scalar(self) -> Schema:
        number = self._random.randrange(len(_SCALARS) + 5)
        if number < len(_SCALARS):
            return Schema(_SCALARS[number])
        logical = (
            date_schema(),
            time_schema(),
            timestamp_schema(),
            decimal_schema(self._random.choice((0, 2, 10, 38))),
            decimal_schema(self._random.randrange(6)),
        )
        return logical[number - len(_SCALARS)]

    def _struct(self, depth: int) -> Schema:
        names = self._random.sample(NAMES, self._random.randrange(1, 7))
        fields = tuple(Field(name, self.schema(depth - 1)) for name in names)
        return Schema(SchemaType.STRUCT, fields=fields)

    def _decorated(self, schema: Schema) -> Schema:
        chance = self._random.random
        changes: dict[str, Any] = {"optional": chance() < 0.5}
        if schema.name is None and chance() < 0.2:
            changes |= {"name": "com.acme." + self._random.choice(NAMES), "version": 3}
        if chance() < 0.1:
            changes["doc"] = self._random.choice(TEXTS)
        if chance() < 0.1:
            changes["parameters"] = (*schema.parameters, ("z", "1"), ("a", "ü🚀"))
        decorated = replace(schema, **changes)
        # Java can't build a struct with a default: it compares the schema with its builder.
        if chance() < 0.15 and schema.type is not SchemaType.STRUCT:
            default = self._default(decorated)
            decorated = replace(decorated, default=default)
        return decorated

    def _default(self, schema: Schema) -> Any:
        if schema.type is SchemaType.ARRAY or schema.type is SchemaType.MAP:
            return self._random.choice(([], [])) if schema.type is SchemaType.ARRAY else {}
        if schema.type in (SchemaType.FLOAT32, SchemaType.FLOAT64):
            # Defaults are written by Python, and Java before 19 writes odd ones in its own way.
            return self._random.choice((0.0, -1.5, 1e7, 1e-4, 0.25, float("nan"), float("inf")))
        return self.value(schema, may_be_null=False)

    def _scalar_value(self, schema: Schema) -> Any:
        pick = self._random
        if schema.is_decimal:
            digits = pick.choice((1, 2, 5, 18, 19, 20, 38))
            number = pick.choice((0, 1, -1, 127, 128, -128, -129, pick.randrange(10**digits)))
            number = pick.choice((number, -number, 10**38 - 1, 1 - 10**38, 2**63, -(2**63), 2**64))
            return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -schema.scale))
        if schema.name == time_schema().name:
            return pick.choice((0, 86_400_000, pick.randrange(86_400_000)))
        if bits := _BITS.get(schema.type):
            half = 1 << (bits - 1)
            small = pick.randrange(-100, 100)
            return pick.choice((-half, half - 1, 0, -1, small, pick.randrange(-half, half)))
        return self._other_value(schema)

    def _other_value(self, schema: Schema) -> Any:
        pick = self._random
        match schema.type:
            case SchemaType.BOOLEAN:
                return pick.random() < 0.5
            case SchemaType.STRING:
                return pick.choice(
                    (*self._texts, "".join(map(chr, pick.choices(range(32, 0xD7FF), k=9))))
                )
            case SchemaType.BYTES:
                return pick.randbytes(pick.choice((0, 1, 2, 3, 50)))
            case SchemaType.FLOAT32:
                single = [each for each in DOUBLES if abs(each) < 3e38 or each != each]
                bits = struct.pack(">I", pick.getrandbits(32))
                value = pick.choice((*single, float("inf"), struct.unpack(">f", bits)[0]))
                return struct.unpack(">f", struct.pack(">f", value))[0]
        return pick.choice((*DOUBLES, struct.unpack(">d", pick.randbytes(8))[0]))


def arrow_column(schema: Schema, values: list[Any]) -> pa.Array:
    """Values as the column that holds them in flight."""
    return pa.array([_arrow_value(value) for value in values], arrow_type(schema))


def _arrow_value(value: Any) -> Any:
    match value:
        case Struct():
            return {name: _arrow_value(each) for name, each in value.values.items()}
        case list():
            return [_arrow_value(each) for each in value]
        case dict():
            return [(key, _arrow_value(each)) for key, each in value.items()]
    return value


def connect_value(schema: Schema, value: Any) -> Any:
    """A collected value of a column as Connect data."""
    if value is None:
        return None
    if schema.is_decimal:  # pickled in engineering notation, which may have another scale
        return value.quantize(Decimal((0, (1,), -schema.scale)), context=Context(prec=80))
    match schema.type:
        case SchemaType.STRUCT:
            members = {
                each.name: connect_value(each.schema, value[number])
                for number, each in enumerate(schema.fields)
            }
            return Struct(schema, members)
        case SchemaType.ARRAY if schema.value_schema:
            return [connect_value(schema.value_schema, each) for each in value]
        case SchemaType.MAP if schema.key_schema and schema.value_schema:
            keys, values = schema.key_schema, schema.value_schema
            return {connect_value(keys, k): connect_value(values, v) for k, v in value.items()}
        case SchemaType.BYTES:
            return bytes(value)
    return value
