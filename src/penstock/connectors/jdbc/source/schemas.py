"""The record schema of a table or query, as the Java connector makes it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from penstock.connectors.jdbc.dialects import Dialect
from penstock.connectors.jdbc.source.config import Granularity, NumericMapping
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType
from penstock.kernel.data.schema import (
    Field,
    Schema,
    SchemaType,
    date_schema,
    decimal_schema,
    struct_schema,
    time_schema,
    timestamp_schema,
)
from penstock.kernel.errors import DataError

log = logging.getLogger(__name__)

# What Oracle's driver says of a NUMBER without precision; Spark can't hold the 127 digits behind
# the point that the Java connector makes of it.
_SCALE_UNSET: Final = -127
_LOWEST_SCALE: Final = -84
_MOST_DIGITS: Final = 38
_UUID: Final = "java.util.UUID"

_PLAIN: Final = {
    SqlType.BOOLEAN: SchemaType.BOOLEAN,
    SqlType.BIT: SchemaType.INT8,
    SqlType.BIGINT: SchemaType.INT64,
    SqlType.REAL: SchemaType.FLOAT32,
    SqlType.FLOAT: SchemaType.FLOAT64,
    SqlType.DOUBLE: SchemaType.FLOAT64,
    SqlType.CHAR: SchemaType.STRING,
    SqlType.VARCHAR: SchemaType.STRING,
    SqlType.LONGVARCHAR: SchemaType.STRING,
    SqlType.NCHAR: SchemaType.STRING,
    SqlType.NVARCHAR: SchemaType.STRING,
    SqlType.LONGNVARCHAR: SchemaType.STRING,
    SqlType.CLOB: SchemaType.STRING,
    SqlType.NCLOB: SchemaType.STRING,
    SqlType.DATALINK: SchemaType.STRING,
    SqlType.SQLXML: SchemaType.STRING,
    SqlType.BINARY: SchemaType.BYTES,
    SqlType.BLOB: SchemaType.BYTES,
    SqlType.VARBINARY: SchemaType.BYTES,
    SqlType.LONGVARBINARY: SchemaType.BYTES,
}
# Signed, and unsigned.
_INTEGERS: Final = {
    SqlType.TINYINT: (SchemaType.INT8, SchemaType.INT16),
    SqlType.SMALLINT: (SchemaType.INT16, SchemaType.INT32),
    SqlType.INTEGER: (SchemaType.INT32, SchemaType.INT64),
}
_GRANULAR: Final = {
    Granularity.MICROS_LONG: SchemaType.INT64,
    Granularity.NANOS_LONG: SchemaType.INT64,
    Granularity.MICROS_STRING: SchemaType.STRING,
    Granularity.NANOS_STRING: SchemaType.STRING,
    Granularity.MICROS_ISO: SchemaType.STRING,
    Granularity.NANOS_ISO: SchemaType.STRING,
}


def record_schema(name: str | None, fields: Iterable[Field]) -> Schema:
    """A struct of these fields; a table's has the table's name, a query's has none."""
    return struct_schema(*fields, name=name)


@dataclass(frozen=True, slots=True)
class SchemaRules:
    """A config's settings for schemas.

    Attributes:
        precision: whether the schema of a Decimal has the column's precision.
    """

    numerics: NumericMapping
    granularity: Granularity
    precision: bool


def field_schemas(
    columns: Sequence[ColumnFacts], dialect: Dialect, rules: SchemaRules
) -> list[tuple[ColumnFacts, Schema]]:
    """The columns that records have, with their schemas; of unknown types they are left out.

    Raises:
        DataError: two columns of a query have the same name.
    """
    names = [column.name for column in columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(
            f"the query has several columns named {', '.join(twice)}; give them aliases"
        )
    found = []
    for column in columns:
        schema = field_schema(column, dialect, rules)
        if schema is None:
            log.warning("Column %s is left out: no type for %s", column.name, column.type_name)
        else:
            found.append((column, schema))
    return found


def field_schema(column: ColumnFacts, dialect: Dialect, rules: SchemaRules) -> Schema | None:
    """The schema of one column; None if Connect has no type for it."""
    own = dialect.reading.field_schema(column)
    if own is not None:
        return own
    if column.type in _PLAIN:
        return Schema(_PLAIN[SqlType(column.type)], optional=column.optional)
    if column.type in _INTEGERS:
        signed, unsigned = _INTEGERS[SqlType(column.type)]
        return Schema(signed if column.signed else unsigned, optional=column.optional)
    return _logical(column, rules)


def _logical(  # noqa: PLR0911 - a table of types
    column: ColumnFacts, rules: SchemaRules
) -> Schema | None:
    optional, granularity = column.optional, rules.granularity
    match column.type:
        case SqlType.NUMERIC:
            return _numeric(column, rules.numerics) or _decimal(column, rules)
        case SqlType.DECIMAL:
            return _decimal(column, rules)
        case SqlType.DATE:
            return date_schema(optional=optional)
        case SqlType.TIME:
            return time_schema(optional=optional)
        case SqlType.TIMESTAMP:
            if granularity in _GRANULAR:
                return Schema(_GRANULAR[granularity], optional=optional)
            return timestamp_schema(optional=optional)
        case SqlType.OTHER if column.java_class == _UUID:
            return Schema(SchemaType.STRING, optional=optional)
    return None


def _numeric(column: ColumnFacts, numerics: NumericMapping) -> Schema | None:
    """The type of a NUMERIC by numeric.mapping; None leaves it a Decimal."""
    fits = column.precision < 19
    whole = column.scale < 1 and column.scale >= _LOWEST_SCALE
    match numerics:
        case NumericMapping.PRECISION_ONLY if fits and column.scale == 0:
            return _integer(column)
        case NumericMapping.BEST_FIT if fits and whole:
            return _integer(column)
        case NumericMapping.BEST_FIT if fits and column.scale > 0:
            return Schema(SchemaType.FLOAT64, optional=column.optional)
        case NumericMapping.BEST_FIT_EAGER_DOUBLE if whole and fits:
            return _integer(column)
        case NumericMapping.BEST_FIT_EAGER_DOUBLE if column.scale > 0:
            return Schema(SchemaType.FLOAT64, optional=column.optional)
    return None


def _integer(column: ColumnFacts) -> Schema:
    limits = ((9, SchemaType.INT64), (4, SchemaType.INT32), (2, SchemaType.INT16))
    kind = next((kind for least, kind in limits if column.precision > least), SchemaType.INT8)
    return Schema(kind, optional=column.optional)


def _decimal(column: ColumnFacts, rules: SchemaRules) -> Schema:
    scale = _MOST_DIGITS // 2 if column.scale == _SCALE_UNSET else max(0, column.scale)
    precision = column.precision if rules.precision else None
    return decimal_schema(scale, optional=column.optional, precision=precision)
