"""Avro schemas: their JSON as a tree in which every name stands for its definition."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from penstock.kernel.errors import DataError


class Kind(StrEnum):
    """Avro's types, by their names."""

    NULL = "null"
    BOOLEAN = "boolean"
    INT = "int"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"
    BYTES = "bytes"
    STRING = "string"
    RECORD = "record"
    ENUM = "enum"
    ARRAY = "array"
    MAP = "map"
    FIXED = "fixed"
    UNION = "union"


NAMED: Final = frozenset({Kind.RECORD, Kind.ENUM, Kind.FIXED})
_OWN_KEYS: Final = frozenset({
    "type", "name", "namespace", "doc", "aliases", "fields", "symbols", "items", "values", "size",
    "default",
})  # fmt: skip
#: Stands for "there is no default", where null is one.
NO_DEFAULT: Final = object()


@dataclass(frozen=True, slots=True)
class AvroField:
    """One field of a record. `default` is JSON, or NO_DEFAULT."""

    name: str
    type: AvroType
    doc: str | None = None
    default: Any = NO_DEFAULT


@dataclass(frozen=True, slots=True)
class AvroType:
    """A schema. `name` is the full name of a record, enum or fixed; `props` what Avro ignores."""

    kind: Kind
    name: str | None = None
    doc: str | None = None
    props: Mapping[str, Any] = field(default_factory=dict)
    fields: tuple[AvroField, ...] = ()
    symbols: tuple[str, ...] = ()
    symbol_default: str | None = None
    items: AvroType | None = None
    size: int = 0
    branches: tuple[AvroType, ...] = ()

    @property
    def simple_name(self) -> str:
        return (self.name or "").rpartition(".")[2]

    @property
    def logical(self) -> str | None:
        found = self.props.get("logicalType")
        return found.lower() if isinstance(found, str) else None

    @property
    def is_decimal(self) -> bool:
        return self.logical == "decimal" and self.kind in (Kind.BYTES, Kind.FIXED)

    @property
    def scale(self) -> int:
        found = self.props.get("scale")
        return found if isinstance(found, int) else 0

    @property
    def item(self) -> AvroType:
        """The type of an array's items or a map's values."""
        assert self.items is not None  # noqa: S101 - arrays and maps have one
        return self.items

    @property
    def optional_of(self) -> AvroType | None:
        """What a union of null and one other type is an optional form of."""
        if self.kind is not Kind.UNION or len(self.branches) != 2:
            return None
        others = [each for each in self.branches if each.kind is not Kind.NULL]
        return others[0] if len(others) == 1 else None


def parse(text: str, others: Mapping[str, str] | None = None) -> AvroType:
    """The schema of a JSON text; `others`: texts of schemas it refers to, by their names.

    Raises:
        DataError: it is not an Avro schema, or contains itself.
    """
    names = _Names()
    for name, other in (others or {}).items():
        names.later[name] = other
    return names.read(_json(text), "")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        # The name of a type alone, as some clients register it.
        return text.strip()


class _Names:
    """Reads schemas and remembers what has a name."""

    def __init__(self) -> None:
        self._known: dict[str, AvroType] = {}
        self._open: set[str] = set()
        self.later: dict[str, str] = {}

    def read(self, node: Any, namespace: str) -> AvroType:
        match node:
            case str():
                return self._named(node, namespace)
            case list():
                branches = tuple(self.read(each, namespace) for each in node)
                return AvroType(Kind.UNION, branches=branches)
            case {"type": str() as word}:
                return self._defined(word, node, namespace)
            case {"type": inner}:
                return self.read(inner, namespace)
        raise DataError(f"Not an Avro schema: {_short(node)}")

    def _named(self, name: str, namespace: str) -> AvroType:
        if name in _PRIMITIVES:
            return AvroType(Kind(name))
        for full in (name if "." in name or not namespace else f"{namespace}.{name}", name):
            if full in self._open:
                raise DataError(
                    f"The schema {full} contains itself; recursive schemas are not supported"
                )
            if full in self._known:
                return self._known[full]
            if full in self.later:
                self.read(_json(self.later.pop(full)), "")
                return self._named(full, "")
        raise DataError(f"The Avro schema uses the name {name}, which is defined nowhere")

    def _defined(self, word: str, node: Mapping[str, Any], namespace: str) -> AvroType:
        props = {name: value for name, value in node.items() if name not in _OWN_KEYS}
        match word:
            case "record" | "error":
                return self._record(node, namespace, props)
            case "enum" | "fixed":
                return self._leaf(Kind(word), node, namespace, props)
            case "array" | "map":
                inner = node.get("items" if word == "array" else "values")
                return AvroType(Kind(word), props=props, items=self.read(inner, namespace))
        if word in _PRIMITIVES:
            return AvroType(Kind(word), props=props)
        return self._named(word, namespace)

    def _record(
        self, node: Mapping[str, Any], namespace: str, props: Mapping[str, Any]
    ) -> AvroType:
        name, inner = _full_name(node, namespace)
        self._open.add(name)
        fields = tuple(
            AvroField(
                _text(each, "name"),
                self.read(each.get("type"), inner),
                each.get("doc"),
                each.get("default", NO_DEFAULT),
            )
            for each in node.get("fields", ())
        )
        self._open.discard(name)
        return self._keep(AvroType(Kind.RECORD, name, node.get("doc"), props, fields=fields))

    def _leaf(
        self, kind: Kind, node: Mapping[str, Any], namespace: str, props: Mapping[str, Any]
    ) -> AvroType:
        return self._keep(
            AvroType(
                kind,
                _full_name(node, namespace)[0],
                node.get("doc"),
                props,
                symbols=tuple(node.get("symbols", ())),
                symbol_default=node.get("default"),
                size=int(node.get("size", 0)),
            )
        )

    def _keep(self, found: AvroType) -> AvroType:
        self._known[found.name or ""] = found
        return found


_PRIMITIVES: Final = frozenset(
    {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}
)


def _full_name(node: Mapping[str, Any], namespace: str) -> tuple[str, str]:
    """The full name of a definition, and the namespace of names inside it."""
    name = _text(node, "name")
    if "." in name:
        return name, name.rpartition(".")[0]
    space = node.get("namespace", namespace) or ""
    return (f"{space}.{name}" if space else name), space


def _text(node: Mapping[str, Any], key: str) -> str:
    found = node.get(key)
    if not isinstance(found, str):
        raise DataError(f"Not an Avro schema, it lacks a {key}: {_short(node)}")
    return found


def _short(node: Any) -> str:
    return json.dumps(node)[:200]
