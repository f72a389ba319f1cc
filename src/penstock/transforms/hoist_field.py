"""HoistField: wraps the data as the only field of a struct or map."""

from __future__ import annotations

from typing import ClassVar

from penstock.api.envelope import Envelope, Part
from penstock.api.plugin import CONNECT_VERSION, Side
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import Config, Type, key
from penstock.kernel.data.schema import Field, struct_schema
from penstock.transforms.structs import copied_schema


class HoistFieldConfig(Config):
    """Keys of HoistField."""

    field: str = key(Type.STRING, doc="The name of the field that gets the data.")


class HoistField(ColumnTransformation):
    """Wrap the data into a struct or map of one field. Use HoistFieldKey or HoistFieldValue."""

    Config = HoistFieldConfig
    version = CONNECT_VERSION
    side: ClassVar[Side]

    def columns(self, envelope: Envelope) -> Envelope:
        from pyspark.sql import functions as F

        from penstock.columns.opened import new_map

        name, part = self.config.field, envelope.part(self.side)
        if part.schema is None:
            hoisted = new_map(F.lit(True), {name: part.column})
        else:
            schema = copied_schema(struct_schema(), [Field(name, part.schema)])
            hoisted = Part(F.struct(part.column.alias(name)), schema)
        return envelope.with_part(self.side, hoisted)


class HoistFieldKey(HoistField):
    """HoistField for the key."""

    java_name = "org.apache.kafka.connect.transforms.HoistField$Key"
    side = Side.KEY


class HoistFieldValue(HoistField):
    """HoistField for the value."""

    java_name = "org.apache.kafka.connect.transforms.HoistField$Value"
    side = Side.VALUE
