"""JSON Schema as Connect schemas.

A schema may say several things at once: a type, an enum, alternatives. Each is a member here, and
several members are the same as an allOf of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from penstock.codecs.json_schema.data import JsonSchemaReader
from penstock.codecs.json_schema.documents import Documents, Place
from penstock.codecs.json_schema.options import (
    CONNECT_INDEX,
    CONNECT_PARAMETERS,
    CONNECT_TYPE,
    CONNECT_VERSION,
    ENUM,
    GENERAL_ENUM,
    GENERAL_UNION,
    KEY,
    MAP,
    NULL_SYMBOL,
    ONE_OF,
    VALUE,
    JsonSchemaOptions,
)
from penstock.kernel.data.schema import STRING_SCHEMA, Field, Schema, SchemaType
from penstock.kernel.errors import DataError

_NUMBERS: Final = {
    "int8": SchemaType.INT8,
    "int16": SchemaType.INT16,
    "int32": SchemaType.INT32,
    "int64": SchemaType.INT64,
    "float32": SchemaType.FLOAT32,
    "float64": SchemaType.FLOAT64,
    "bytes": SchemaType.BYTES,
}
#: Words that say of which type a schema is that has no `type`.
_HINTS: Final = {
    "object": ("properties", "required", "additionalProperties", "patternProperties",
               "minProperties", "maxProperties", "dependencies", "propertyNames"),
    "array": ("items", "minItems", "maxItems", "uniqueItems", "contains", "additionalItems"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("minLength", "maxLength", "pattern", "format"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Member:
    """One thing that a schema says: the name of a type, `enum`, `const`, `union` or `ref`."""

    kind: str
    place: Place
    #: The alternatives of a union; what a reference refers to.
    others: tuple[Place, ...] = ()


def connect_schema(documents: Documents, options: JsonSchemaOptions) -> Schema:
    """The schema that a JSON Schema describes.

    Raises:
        DataError: it describes none, or one that no column can hold.
    """
    return _Mapping(options, documents).schema(documents.root, optional=False, above=())


class _Mapping:
    def __init__(self, options: JsonSchemaOptions, documents: Documents) -> None:
        self._options = options
        self._documents = documents
        self._reader = JsonSchemaReader(replace_null=True)
        self._unions = 0

    def schema(self, place: Place, *, optional: bool, above: tuple[int, ...]) -> Schema:
        node = _object(place)
        if id(node) in above:
            raise DataError(
                f"The JSON Schema {node.get('title') or 'at ' + place.path} contains itself; such"
                " data can't be held in columns"
            )
        inside = (*above, id(node))
        members = list(self._members(place))
        if len(members) == 1 and "allOf" not in node:
            return self._of_member(members[0], optional=optional, above=inside)
        return self._all_of(place, members, optional=optional, above=inside)

    def _members(self, place: Place) -> Iterator[_Member]:
        """What a schema says, its allOf taken apart."""
        node = _object(place)
        if "$ref" in node:
            yield _Member("ref", place, (self._documents.find(place, node["$ref"]),))
            return
        for each in place.items("allOf"):
            yield from self._members(each)
        for word in ("oneOf", "anyOf"):
            if word in node:
                yield _Member("union", place, tuple(place.items(word)))
        yield from _typed(place)
        for word in ("enum", "const"):
            if word in node:
                yield _Member(word, place)

    def _all_of(
        self, place: Place, members: list[_Member], *, optional: bool, above: tuple[int, ...]
    ) -> Schema:
        if properties := self._properties(members, set()):
            fields = self._fields(properties, above)
            return _described(Schema(SchemaType.STRUCT, fields=fields, optional=optional), place)
        kinds = {member.kind: member for member in reversed(members)}
        # A string with an enum is an enum; an enum or a constant of numbers says only the type.
        if "enum" in kinds and "string" in kinds and "union" not in kinds:
            return self._of_member(kinds["enum"], optional=optional, above=above)
        for kind in ("union", "integer", "number", "string", "boolean", "object", "array", "ref"):
            if kind in kinds:
                return self._of_member(kinds[kind], optional=optional, above=above)
        raise DataError(f"The JSON Schema at {place.path} has no type that Connect supports")

    def _properties(self, members: list[_Member], seen: set[int]) -> dict[str, tuple[Place, bool]]:
        """The properties of all objects among the members, and whether they are required."""
        found: dict[str, tuple[Place, bool]] = {}
        for member in members:
            if member.kind == "object":
                found |= _properties(member.place)
            elif member.kind == "ref" and id(member.others[0].node) not in seen:
                seen.add(id(member.others[0].node))
                found |= self._properties(list(self._members(member.others[0])), seen)
        return found

    def _of_member(self, member: _Member, *, optional: bool, above: tuple[int, ...]) -> Schema:
        match member.kind:
            case "ref":
                return self.schema(member.others[0], optional=optional, above=above)
            case "union":
                return self._union(member, optional=optional, above=above)
            case "enum":
                schema = self._enum(member.place)
            case "object":
                schema = self._struct_or_map(member.place, above)
            case "array":
                schema = self._array_or_map(member.place, above)
            case _:
                schema = _scalar(member)
        return self._with_default(_described(schema, member.place), member.place, optional=optional)

    def _union(self, member: _Member, *, optional: bool, above: tuple[int, ...]) -> Schema:
        others = [each for each in member.others if not _is_null(each)]
        nullable = len(others) < len(member.others)
        if nullable and len(others) == 1 and len(member.others) == 2:
            return self.schema(others[0], optional=True, above=above)
        name, prefix = ONE_OF, f"{ONE_OF}.field."
        parameters: tuple[tuple[str, str], ...] = ()
        if self._options.generalized_sum_type_support:
            name, prefix = f"connect_union_{self._unions}", "connect_union_field_"
            parameters = ((GENERAL_UNION, name),)
            self._unions += 1
        fields = tuple(
            Field(f"{prefix}{number}", self.schema(each, optional=True, above=above))
            for number, each in enumerate(others)
        )
        schema = Schema(
            SchemaType.STRUCT,
            name=name,
            parameters=parameters,
            fields=fields,
            optional=optional or nullable,
        )
        return schema if "type" in _object(member.place) else _described(schema, member.place)

    def _enum(self, place: Place) -> Schema:
        general = self._options.generalized_sum_type_support
        parameter = GENERAL_ENUM if general else ENUM
        symbols = [NULL_SYMBOL if each is None else _text(each) for each in _object(place)["enum"]]
        named = tuple(
            (f"{parameter}.{symbol}", str(number) if general else symbol)
            for number, symbol in enumerate(symbols)
        )
        return Schema(SchemaType.STRING, parameters=((parameter, ""), *named))

    def _struct_or_map(self, place: Place, above: tuple[int, ...]) -> Schema:
        if _object(place).get(CONNECT_TYPE) != MAP:
            fields = self._fields(_properties(place), above)
            return Schema(SchemaType.STRUCT, fields=fields)
        values = self.schema(place.inside("additionalProperties"), optional=False, above=above)
        return Schema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=values)

    def _array_or_map(self, place: Place, above: tuple[int, ...]) -> Schema:
        node = _object(place)
        if not isinstance(node.get("items"), dict):
            raise DataError("Array schema did not specify the items type")
        items = place.inside("items")
        entry = _object(items).get("properties") or {}
        if node.get(CONNECT_TYPE) == MAP and {KEY, VALUE} <= entry.keys():
            parts = items.inside("properties")
            key, value = (
                self.schema(parts.inside(part), optional=False, above=above)
                for part in (KEY, VALUE)
            )
            return Schema(SchemaType.MAP, key_schema=key, value_schema=value)
        item = self.schema(items, optional=False, above=above)
        return Schema(SchemaType.ARRAY, value_schema=item)

    def _fields(
        self, properties: Mapping[str, tuple[Place, bool]], above: tuple[int, ...]
    ) -> tuple[Field, ...]:
        places = enumerate(properties.items())
        ordered = sorted(places, key=lambda entry: _index(entry[1][1][0], entry[0]))
        by_requirement = self._options.use_optional_for_nonrequired
        return tuple(
            Field(name, self.schema(place, optional=by_requirement and not required, above=above))
            for _, (name, (place, required)) in ordered
        )

    def _with_default(self, schema: Schema, place: Place, *, optional: bool) -> Schema:
        node = _object(place).get("default")
        schema = replace(schema, optional=optional)
        if node is None:
            return schema
        return replace(schema, default=self._reader.compile(schema)(node))


def _object(place: Place) -> dict[str, Any]:
    if isinstance(place.node, dict):
        return place.node
    raise DataError(f"The JSON Schema at {place.path} is not an object, so it has no type")


def _is_null(place: Place) -> bool:
    return isinstance(place.node, dict) and place.node.get("type") == "null"


def _typed(place: Place) -> Iterator[_Member]:
    """The type of a schema; several types are a union of schemas of one type each."""
    node = _object(place)
    types = node.get("type")
    if types is None:
        types = next((k for k, words in _HINTS.items() if any(w in node for w in words)), None)
    if isinstance(types, str):
        yield _Member(types, place)
    elif isinstance(types, list):
        rest = {word: value for word, value in node.items() if word not in _OF_WHOLE}
        alternatives = tuple(place.instead({**rest, "type": each}) for each in types)
        yield _Member("union", place, alternatives)


#: What is said of all types of a schema together.
_OF_WHOLE: Final = frozenset({"type", "allOf", "anyOf", "oneOf", CONNECT_INDEX})


def _scalar(member: _Member) -> Schema:
    node = _object(member.place)
    found = node.get(CONNECT_TYPE)
    match member.kind:
        case "boolean":
            return Schema(SchemaType.BOOLEAN)
        case "string":
            return Schema(SchemaType.BYTES if found == "bytes" else SchemaType.STRING)
        case "integer" | "number":
            if found is None:
                return Schema(SchemaType.INT64 if member.kind == "integer" else SchemaType.FLOAT64)
            if found in _NUMBERS:
                return Schema(_NUMBERS[found])
            raise DataError(f"Unsupported connect.type {found} of a number")
    raise DataError(
        f"The JSON Schema at {member.place.path} has type {member.kind}, which Connect lacks"
    )


def _properties(place: Place) -> dict[str, tuple[Place, bool]]:
    node = _object(place)
    required = node.get("required")
    names = required if isinstance(required, list) else []
    if not isinstance(node.get("properties"), dict):
        return {}
    properties = place.inside("properties")
    return {name: (properties.inside(name), name in names) for name in node["properties"]}


def _index(place: Place, position: int) -> int:
    found = place.node.get(CONNECT_INDEX) if isinstance(place.node, dict) else None
    return found if isinstance(found, int) else position


def _described(schema: Schema, place: Place) -> Schema:
    node = _object(place)
    title, doc, version = node.get("title"), node.get("description"), node.get(CONNECT_VERSION)
    parameters = node.get(CONNECT_PARAMETERS)
    own = parameters.items() if isinstance(parameters, dict) else ()
    return replace(
        schema,
        name=title if isinstance(title, str) and schema.name is None else schema.name,
        doc=doc if isinstance(doc, str) else None,
        version=version if isinstance(version, int) else None,
        parameters=(*schema.parameters, *((name, _text(text)) for name, text in own)),
    )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
