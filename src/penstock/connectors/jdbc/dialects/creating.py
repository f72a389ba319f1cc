"""The SQL of tables: the column types for fields, CREATE TABLE and ALTER TABLE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from penstock.connectors.jdbc.dialects.literals import literal
from penstock.connectors.jdbc.dialects.notation import Notation
from penstock.kernel.data.schema import DATE, TIME, TIMESTAMP, Schema, SchemaType
from penstock.kernel.errors import UnfitError


@dataclass(frozen=True, slots=True)
class NewColumn:
    """A column that has to be made for a field."""

    name: str
    schema: Schema
    key: bool = False

    @property
    def required(self) -> bool:
        return self.key or not self.schema.optional


class Creating:
    """Standard SQL, and types that most databases have."""

    types: ClassVar[dict[SchemaType | str, str]] = {
        SchemaType.INT8: "SMALLINT",
        SchemaType.INT16: "SMALLINT",
        SchemaType.INT32: "INTEGER",
        SchemaType.INT64: "BIGINT",
        SchemaType.FLOAT32: "REAL",
        SchemaType.FLOAT64: "DOUBLE PRECISION",
        SchemaType.BOOLEAN: "SMALLINT",
        SchemaType.STRING: "VARCHAR(4000)",
        SchemaType.BYTES: "BLOB",
        DATE: "DATE",
        TIME: "TIME",
        TIMESTAMP: "TIMESTAMP",
    }
    decimal_type: ClassVar[str] = "DECIMAL(38,{scale})"
    #: The type of a text of at most so many characters.
    short_text_type: ClassVar[str] = "VARCHAR({length})"
    #: The type of a text that is a part of the primary key, where it can't be the usual one.
    key_text_type: ClassVar[str] = "VARCHAR(255)"
    #: Whether one statement adds several columns.
    adds_many: ClassVar[bool] = False

    def __init__(self, notation: Notation) -> None:
        self.notation = notation

    def column_type(self, column: NewColumn) -> str:
        """The type for a field.

        Raises:
            UnfitError: the database has none for it.
        """
        schema = column.schema
        if schema.is_decimal:
            return self.decimal_type.format(scale=schema.scale)
        found = self.types.get(schema.name or "") or self.types.get(schema.type)
        if found is None:
            raise UnfitError(
                f"field {column.name} has type {schema.type.name}, for which the database has no"
                " column type; flatten it, leave it out (fields.whitelist, ReplaceField) or cast it"
            )
        if column.key and schema.type is SchemaType.STRING:
            return self.key_text_type
        return found

    def create_table(self, table: str, columns: Sequence[NewColumn]) -> str:
        specs = [self._specification(column) for column in columns]
        keys = [self.notation.quote(column.name) for column in columns if column.key]
        if keys:
            specs.append(f"PRIMARY KEY({','.join(keys)})")
        return f"CREATE TABLE {table} (\n" + ",\n".join(specs) + ")"

    def add_columns(self, table: str, columns: Sequence[NewColumn]) -> list[str]:
        added = [f"ADD {self._specification(column)}" for column in columns]
        if self.adds_many:
            return [f"ALTER TABLE {table} " + ",\n".join(added)]
        return [f"ALTER TABLE {table} {each}" for each in added]

    def _specification(self, column: NewColumn) -> str:
        text = f"{self.notation.quote(column.name)} {self.column_type(column)}"
        if column.schema.default is not None:
            return f"{text} DEFAULT {self.default(column)}"
        return f"{text} {'NOT NULL' if column.required else 'NULL'}"

    def default(self, column: NewColumn) -> str:
        """The default of a field as an SQL literal."""
        return literal(column.schema, column.schema.default)
