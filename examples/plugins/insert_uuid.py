"""InsertUuid: a random UUID as a field of the key or the value.

Twice: as column expressions, which Spark runs by itself, and one record at a time in Python. Put
this file on `plugin.path` and name a class in a connector's configuration:

    "transforms": "insertuuid",
    "transforms.insertuuid.type": "com.github.cjmatta.kafka.connect.smt.InsertUuid$Value",
    "transforms.insertuuid.uuid.field.name": "uuid"
"""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from penstock.api import (
    ColumnTransformation,
    Config,
    DataError,
    Envelope,
    Field,
    Importance,
    Part,
    Record,
    RecordTransformation,
    Schema,
    SchemaType,
    Side,
    Type,
    fail,
    key,
)

UUID_SCHEMA = Schema(SchemaType.STRING)


class InsertUuidConfig(Config):
    """Keys of InsertUuid."""

    uuid_field_name: str = key(
        Type.STRING,
        default="uuid",
        importance=Importance.HIGH,
        doc="The name of the field that gets the UUID.",
    )


def with_field(schema: Schema, name: str) -> Schema:
    """The schema of a struct with the new field at its end."""
    if schema.type is not SchemaType.STRUCT:
        raise DataError(f"a UUID can be inserted into a struct, not into {schema.type}")
    return schema.with_fields(*schema.fields, Field(name, UUID_SCHEMA))


# ------------------------------------------------------------------- one record at a time


class _RecordInsertUuid(RecordTransformation):
    """In plain Python. The underscore keeps it out of the list of plugins."""

    Config = InsertUuidConfig
    version = "1.0"
    side: ClassVar[Side]

    def schemas(
        self, key_schema: Schema | None, value_schema: Schema | None
    ) -> tuple[Schema | None, Schema | None]:
        name = self.config.uuid_field_name
        if self.side is Side.KEY:
            return key_schema and with_field(key_schema, name), value_schema
        return key_schema, value_schema and with_field(value_schema, name)

    def apply(self, record: Record) -> Record:
        data = record.part(self.side)
        if data is None:
            return record  # a tombstone, or a record without a key
        # The same for a Struct and for a dict without a schema; anything else is a TypeError,
        # which becomes the fault of this record.
        return record.with_part(self.side, {**data, self.config.uuid_field_name: str(uuid4())})


class RecordInsertUuidKey(_RecordInsertUuid):
    """For the key."""

    side = Side.KEY


class RecordInsertUuidValue(_RecordInsertUuid):
    """For the value."""

    side = Side.VALUE


# ---------------------------------------------------------------------------- as columns


class _InsertUuid(ColumnTransformation):
    """As column expressions."""

    Config = InsertUuidConfig
    version = "1.0"
    side: ClassVar[Side]

    def columns(self, envelope: Envelope) -> Envelope:
        part = envelope.part(self.side)
        if part.schema is None:
            return self._without_schema(envelope, part)
        return self._with_schema(envelope, part, part.schema)

    def _with_schema(self, envelope: Envelope, part: Part, schema: Schema) -> Envelope:
        from pyspark.sql import functions as F

        name = self.config.uuid_field_name
        changed = with_field(schema, name)
        fields = [part.column.getField(each.name).alias(each.name) for each in schema.fields]
        struct = F.struct(*fields, F.uuid().alias(name))
        column = F.when(part.column.isNotNull(), struct)
        return envelope.with_part(self.side, Part(column, changed))

    def _without_schema(self, envelope: Envelope, part: Part) -> Envelope:
        from pyspark.sql import functions as F

        name = self.config.uuid_field_name
        found = F.try_variant_get(part.column, "$", "map<string,variant>")
        others = F.map_filter(found, lambda field, _: field != name)
        new = F.create_map(F.lit(name), F.uuid().cast("variant"))
        column = F.to_variant_object(F.map_concat(others, new))
        empty = part.column.isNull() | F.coalesce(F.is_variant_null(part.column), F.lit(False))
        envelope = fail(envelope, ~empty & found.isNull(), "a UUID can be inserted into a map only")
        changed = F.when(found.isNotNull(), column).otherwise(part.column)
        return envelope.with_part(self.side, Part(changed, None))


class InsertUuidKey(_InsertUuid):
    """For the key, under the name that users of the Java class have in their configurations."""

    java_name = "com.github.cjmatta.kafka.connect.smt.InsertUuid$Key"
    side = Side.KEY


class InsertUuidValue(_InsertUuid):
    """For the value."""

    java_name = "com.github.cjmatta.kafka.connect.smt.InsertUuid$Value"
    side = Side.VALUE
