"""How Connect data and JSON Schema are mapped to each other: what the converter's keys decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from penstock.kernel.data.schema import Schema, SchemaType

NAMESPACE: Final = "io.confluent.connect.json"
ENUM: Final = f"{NAMESPACE}.Enum"
ONE_OF: Final = f"{NAMESPACE}.OneOf"
#: What enums and unions of all the registry's converters are called, if they shall be alike.
GENERAL_ENUM: Final = "org.apache.kafka.connect.data.Enum"
GENERAL_UNION: Final = "org.apache.kafka.connect.data.Union"
#: The symbol of an enum that stands for null.
NULL_SYMBOL: Final = "<NULL>"

CONNECT_TYPE: Final = "connect.type"
CONNECT_VERSION: Final = "connect.version"
CONNECT_PARAMETERS: Final = "connect.parameters"
CONNECT_INDEX: Final = "connect.index"
MAP: Final = "map"
KEY: Final = "key"
VALUE: Final = "value"


@dataclass(frozen=True, slots=True)
class JsonSchemaOptions:
    """The names are those of the keys, with underscores for dots."""

    generalized_sum_type_support: bool = False
    object_additional_properties: bool = True
    use_optional_for_nonrequired: bool = False
    decimal_numbers: bool = False
    #: What `$schema` is, if it is written.
    dialect: str | None = None
    #: On writing, and on reading.
    default_for_null: bool = True
    default_for_missing: bool = True


def is_union(schema: Schema) -> bool:
    """Whether a struct holds the alternatives of a oneOf."""
    if schema.type is not SchemaType.STRUCT:
        return False
    return schema.name == ONE_OF or schema.parameter(GENERAL_UNION) is not None


def is_object(schema: Schema) -> bool:
    """Whether a map is an object in JSON; others are arrays of entries."""
    keys = schema.key_schema
    return keys is not None and keys.type is SchemaType.STRING and not keys.optional
