"""Avro schemas as Spark's reader and writer of Avro understand them best.

The bytes of a record are those of its fields and nothing else, so a schema can be put into
records, or be given other names, without any change of the bytes. That is used here: names are
made unique, the types of a union get a record each (Spark would merge an int with a long), and
logical types are left out, since columns hold them as Avro does. See decision 016.
"""

from __future__ import annotations

import json
import math
from itertools import count
from typing import Any, Final

from penstock.codecs.avro.model import AvroType, Kind
from penstock.kernel.errors import DataError

#: The fields of a message: the five bytes in front, and the data.
HEAD: Final = "h"
DATA: Final = "v"
_MAX_DIGITS: Final = 38
#: Java's strings are always valid, whatever the bytes; Spark's would take over broken ones.
_JAVA_STRINGS: Final = {"avro.java.string": "String"}
_SINGLE: Final[dict[Kind, Any]] = {Kind.STRING: {"type": "string", **_JAVA_STRINGS}}


def message_schema(type_: AvroType, head_size: int) -> str:
    """The schema of whole messages."""
    head = {"type": "fixed", "name": "Head", "size": head_size}
    fields = [
        {"name": HEAD, "type": head},
        {"name": DATA, "type": _Unnamed().node(type_)},
    ]
    return json.dumps({"type": "record", "name": "Message", "fields": fields})


def decimal_digits(type_: AvroType) -> int:
    """How many digits Spark may put into a decimal: a fixed one holds only so many."""
    if type_.kind is not Kind.FIXED:
        return _MAX_DIGITS
    return min(_MAX_DIGITS, math.floor(math.log10(2) * (8 * type_.size - 1)))


class _Unnamed:
    """Gives every named type a number for its name."""

    def __init__(self) -> None:
        self._numbers = count()

    def node(self, type_: AvroType) -> Any:
        return self._decimal(type_) if type_.is_decimal else self._plain(type_)

    def _plain(self, type_: AvroType) -> Any:
        match type_.kind:
            case Kind.RECORD:
                return self._record(
                    [{"name": each.name, "type": self.node(each.type)} for each in type_.fields]
                )
            case Kind.ARRAY:
                return {"type": "array", "items": self.node(type_.item)}
            case Kind.MAP:
                return {"type": "map", "values": self.node(type_.item), **_JAVA_STRINGS}
            case Kind.ENUM | Kind.FIXED:
                own = {"symbols": list(type_.symbols)} | (
                    {"size": type_.size} if type_.size else {}
                )
                return {"type": str(type_.kind), "name": self._name(), **own}
            case Kind.UNION:
                return self._union(type_)
        return _SINGLE.get(type_.kind, str(type_.kind))

    def _union(self, type_: AvroType) -> list[Any]:
        if type_.optional_of is not None:
            return [self.node(each) for each in type_.branches]
        return [
            "null"
            if each.kind is Kind.NULL
            else self._record([{"name": DATA, "type": self.node(each)}])
            for each in type_.branches
        ]

    def _decimal(self, type_: AvroType) -> dict[str, Any]:
        digits = decimal_digits(type_)
        if not 0 <= type_.scale <= digits:
            raise DataError(f"Decimals with scale {type_.scale} can't be held by {type_.kind}")
        node: dict[str, Any] = {"type": str(type_.kind)}
        if type_.kind is Kind.FIXED:
            node |= {"name": self._name(), "size": type_.size}
        return node | {"logicalType": "decimal", "precision": digits, "scale": type_.scale}

    def _record(self, fields: list[dict[str, Any]]) -> dict[str, Any]:
        return {"type": "record", "name": self._name(), "fields": fields}

    def _name(self) -> str:
        return f"T{next(self._numbers)}"
