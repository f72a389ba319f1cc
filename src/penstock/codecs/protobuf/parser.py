"""Parses a .proto file to a file descriptor, like protoc, as far as data needs it.

Names of types stay as they are written; the descriptor pool finds what they stand for. Services,
extensions and options without a meaning for the data are passed over.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from penstock.codecs.protobuf.meta import add_meta
from penstock.codecs.protobuf.tokens import Tokens
from penstock.kernel.errors import DataError

SCALARS: Final = {
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "float": FieldDescriptorProto.TYPE_FLOAT,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "uint64": FieldDescriptorProto.TYPE_UINT64,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "fixed64": FieldDescriptorProto.TYPE_FIXED64,
    "fixed32": FieldDescriptorProto.TYPE_FIXED32,
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "string": FieldDescriptorProto.TYPE_STRING,
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "uint32": FieldDescriptorProto.TYPE_UINT32,
    "sfixed32": FieldDescriptorProto.TYPE_SFIXED32,
    "sfixed64": FieldDescriptorProto.TYPE_SFIXED64,
    "sint32": FieldDescriptorProto.TYPE_SINT32,
    "sint64": FieldDescriptorProto.TYPE_SINT64,
}
_LABELS: Final = {
    "optional": FieldDescriptorProto.LABEL_OPTIONAL,
    "required": FieldDescriptorProto.LABEL_REQUIRED,
    "repeated": FieldDescriptorProto.LABEL_REPEATED,
}
_META: Final = ("(confluent.field_meta)", "(.confluent.field_meta)")


def parse_proto(text: str, name: str) -> FileDescriptorProto:
    """The descriptor of a file.

    Raises:
        DataError: the text is not a .proto file of syntax proto2 or proto3.
    """
    return _FileParser(text, name).parse()


class _FileParser:
    def __init__(self, text: str, name: str) -> None:
        self._tokens = Tokens(text)
        self._file = FileDescriptorProto(name=name)

    @property
    def _proto3(self) -> bool:
        return bool(self._file.syntax == "proto3")

    def parse(self) -> FileDescriptorProto:
        while self._tokens.next.kind != "end":
            self._statement()
        return self._file

    def _statement(self) -> None:
        tokens = self._tokens
        if tokens.skip(";"):
            return
        match tokens.name():
            case "syntax":
                self._syntax()
            case "edition":
                raise DataError(
                    "Protobuf schema: editions can't be read; write it with syntax proto2 or proto3"
                )
            case "import":
                tokens.skip("public", "weak")
                self._file.dependency.append(tokens.text().decode())
                tokens.expect(";")
            case "package":
                self._file.package = tokens.name()
                tokens.expect(";")
            case "message":
                self._message(self._file.message_type.add())
            case "enum":
                self._enum(self._file.enum_type.add())
            case "option" | "service" | "extend":
                self._pass_over()
            case word:
                raise DataError(f"Protobuf schema, line {tokens.next.line}: unknown word '{word}'")

    def _syntax(self) -> None:
        self._tokens.expect("=")
        syntax = self._tokens.text().decode()
        if syntax not in ("proto2", "proto3"):
            raise DataError(f"Protobuf schema: syntax '{syntax}' is neither proto2 nor proto3")
        if syntax == "proto3":
            self._file.syntax = syntax
        self._tokens.expect(";")

    def _pass_over(self) -> None:
        """To the end of a statement: its semicolon or its last bracket."""
        depth = 0
        while True:
            if self._tokens.skip("{"):
                depth += 1
            elif self._tokens.skip("}"):
                depth -= 1
                # An option's value in brackets still has its semicolon behind it.
                if depth == 0:
                    self._tokens.skip(";")
                    return
            elif self._tokens.take().word == ";" and depth == 0:
                return

    def _message(self, message: DescriptorProto) -> None:
        message.name = self._tokens.name()
        self._members(message)

    def _members(self, message: DescriptorProto) -> None:
        self._tokens.expect("{")
        entries: list[DescriptorProto] = []
        while not self._tokens.skip("}"):
            self._member(message, entries)
        # Behind the nested messages, so that message indexes count as those of Java's clients.
        message.nested_type.extend(entries)
        self._close_optional(message)

    def _member(self, message: DescriptorProto, entries: list[DescriptorProto]) -> None:
        tokens = self._tokens
        if tokens.skip(";"):
            return
        word = tokens.name()
        if tokens.next.kind == "symbol" and word == "map":
            entries.append(self._map(message.field.add()))
        elif word == "message":
            self._message(message.nested_type.add())
        elif word == "enum":
            self._enum(message.enum_type.add())
        elif word == "oneof":
            self._oneof(message)
        elif word in ("option", "extend", "reserved", "extensions"):
            self._pass_over()
        else:
            self._field(message, word)

    def _field(self, message: DescriptorProto, word: str, oneof: int | None = None) -> None:
        field = message.field.add(label=FieldDescriptorProto.LABEL_OPTIONAL)
        if oneof is not None:
            field.oneof_index = oneof
        elif word in _LABELS:
            field.label = _LABELS[word]
            field.proto3_optional = word == "optional" and self._proto3
            word = self._tokens.name()
        if word == "group":
            self._group(field, message)
            return
        _set_type(field, word)
        self._rest(field)

    def _rest(self, field: FieldDescriptorProto) -> None:
        """A field from its name on."""
        field.name = self._tokens.name()
        # JSON plays no part here, and names that only differ there shall not collide.
        field.json_name = field.name
        self._tokens.expect("=")
        field.number = self._tokens.integer()
        if self._tokens.skip("["):
            for name, value in self._options():
                _apply(field, name, value)
        self._tokens.expect(";")

    def _group(self, field: FieldDescriptorProto, message: DescriptorProto) -> None:
        name = self._tokens.name()
        field.name, field.type_name = name.lower(), name
        field.type = FieldDescriptorProto.TYPE_GROUP
        self._tokens.expect("=")
        field.number = self._tokens.integer()
        self._members(message.nested_type.add(name=name))

    def _map(self, field: FieldDescriptorProto) -> DescriptorProto:
        tokens = self._tokens
        entry = DescriptorProto()
        entry.options.map_entry = True
        tokens.expect("<")
        for number, (name, end) in enumerate((("key", ","), ("value", ">")), start=1):
            part = entry.field.add(name=name, number=number)
            part.label = FieldDescriptorProto.LABEL_OPTIONAL
            _set_type(part, tokens.name())
            tokens.expect(end)
        self._rest(field)
        entry.name = f"{camel_case(field.name)}Entry"
        field.label = FieldDescriptorProto.LABEL_REPEATED
        field.type = FieldDescriptorProto.TYPE_MESSAGE
        field.type_name = entry.name
        return entry

    def _oneof(self, message: DescriptorProto) -> None:
        index = len(message.oneof_decl)
        message.oneof_decl.add(name=self._tokens.name())
        self._tokens.expect("{")
        while not self._tokens.skip("}"):
            if self._tokens.skip(";"):
                continue
            word = self._tokens.name()
            if word == "option":
                self._pass_over()
            else:
                self._field(message, word, index)

    def _close_optional(self, message: DescriptorProto) -> None:
        """Each proto3 optional field is a oneof of its own, behind the real ones."""
        for field in message.field:
            if field.proto3_optional:
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")

    def _enum(self, enum: EnumDescriptorProto) -> None:
        tokens = self._tokens
        enum.name = tokens.name()
        tokens.expect("{")
        while not tokens.skip("}"):
            if tokens.skip(";"):
                continue
            word = tokens.name()
            if word == "option":
                name, value = self._option()
                tokens.expect(";")
                if name == "allow_alias":
                    enum.options.allow_alias = value == "true"
            elif word == "reserved":
                self._pass_over()
            else:
                tokens.expect("=")
                enum.value.add(name=word, number=tokens.integer())
                if tokens.skip("["):
                    self._options()
                tokens.expect(";")

    def _options(self) -> list[tuple[str, Any]]:
        """Options in square brackets, behind the first of them."""
        options = [self._option()]
        while self._tokens.skip(","):
            options.append(self._option())
        self._tokens.expect("]")
        return options

    def _option(self) -> tuple[str, Any]:
        name = ""
        while not self._tokens.skip("="):
            name += self._tokens.take().word
        return name, self._value()

    def _value(self) -> Any:
        tokens = self._tokens
        if tokens.next.kind == "text":
            return tokens.text()
        if tokens.skip("{"):
            return self._aggregate("}")
        if tokens.skip("<"):
            return self._aggregate(">")
        if tokens.skip("["):
            values: list[Any] = []
            while not tokens.skip("]"):
                values.append(self._value())
                tokens.skip(",")
            return values
        sign = "-" if tokens.skip("-") else ""
        return sign + tokens.take().word

    def _aggregate(self, end: str) -> list[tuple[str, Any]]:
        """The text form of a message: its members in the order they are written."""
        tokens = self._tokens
        members: list[tuple[str, Any]] = []
        while not tokens.skip(end):
            name = tokens.take().word
            if name == "[":
                name = tokens.name()
                tokens.expect("]")
            tokens.skip(":")
            members.append((name, self._value()))
            tokens.skip(",", ";")
        return members


def camel_case(name: str) -> str:
    """What protoc makes of a map field's name for its entries."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _set_type(field: FieldDescriptorProto, name: str) -> None:
    if name in SCALARS:
        field.type = SCALARS[name]
    else:
        field.type_name = name  # a message or an enum: the pool finds out


def _apply(field: FieldDescriptorProto, name: str, value: Any) -> None:
    if name == "default":
        field.default_value = _default(field, value)
    elif name == "packed":
        field.options.packed = value == "true"
    elif name in _META:
        add_meta(field.options, _parameters(dict_of(value).get("params", [])))
    elif name.removesuffix(".params") in _META:
        add_meta(field.options, _parameters([value]))


def _default(field: FieldDescriptorProto, value: Any) -> str:
    if not isinstance(value, bytes):
        return str(value)
    if field.type == FieldDescriptorProto.TYPE_BYTES:
        return "".join(f"\\{byte:03o}" for byte in value)
    return value.decode(errors="replace")


def dict_of(members: Any) -> dict[str, list[Any]]:
    """The members of an aggregate by name; lists in it are members that come several times."""
    found: dict[str, list[Any]] = {}
    pairs = (
        [each for each in members if isinstance(each, tuple)] if isinstance(members, list) else []
    )
    for name, value in pairs:
        listed = isinstance(value, list) and not (value and isinstance(value[0], tuple))
        found.setdefault(name, []).extend(value if listed else [value])
    return found


def _parameters(entries: list[Any]) -> dict[str, str]:
    pairs = {}
    for entry in entries:
        members = dict_of(entry)
        key, value = (members.get(part, [b""])[0] for part in ("key", "value"))
        pairs[_decoded(key)] = _decoded(value)
    return pairs


def _decoded(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
