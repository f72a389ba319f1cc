"""Names of Connect as names of Avro, and the names of AvroConverter itself."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote_plus

NAMESPACE: Final = "io.confluent.connect.avro"
DEFAULT_NAME: Final = "ConnectDefault"
DEFAULT_FULL_NAME: Final = f"{NAMESPACE}.{DEFAULT_NAME}"
MAP_ENTRY: Final = "MapEntry"
INTERNAL_TYPE: Final = "connect.internal.type"
UNION: Final = f"{NAMESPACE}.Union"
ENUM: Final = f"{NAMESPACE}.Enum"
#: Of generalized.sum.type.support: the parameter that marks an enum or a union.
GENERAL_ENUM: Final = "org.apache.kafka.connect.data.Enum"
GENERAL_UNION: Final = "org.apache.kafka.connect.data.Union"
GENERAL_UNION_NAME: Final = "connect_union_"
GENERAL_UNION_FIELD: Final = "connect_union_field_"
RECORD_DOC: Final = f"{NAMESPACE}.record.doc"
FIELD_DOC: Final = f"{NAMESPACE}.field.doc."
ENUM_DOC: Final = f"{NAMESPACE}.enum.doc."
ENUM_DEFAULT: Final = f"{NAMESPACE}.enum.default."
FIELD_DEFAULT: Final = f"{NAMESPACE}.field.default"
PLAIN_RECORD_DOC: Final = "connect.record.doc"
PLAIN_ENUM_DOC: Final = "connect.enum.doc"
FIXED_SIZE: Final = "connect.fixed.size"
DEFAULT_PRECISION: Final = 64

_VALID: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INVALID_CHARACTER: Final = re.compile(r"[^A-Za-z0-9_]")


def scrubbed(name: str) -> str:
    """A name with all characters replaced that Avro does not allow in names."""
    if not name or _VALID.fullmatch(name):
        return name
    # Java's encoder leaves the star alone and writes the tilde as %7E; Python does the opposite.
    encoded = quote_plus(name, safe="*").replace("~", "%7E")
    if encoded[0].isdigit():
        encoded = f"x{encoded}"
    return _INVALID_CHARACTER.sub("_", encoded)


def is_valid(name: str) -> bool:
    return _VALID.fullmatch(name) is not None
