"""Avro, Protobuf and JSON Schema with a Schema Registry: messages as JSON text, and back.

Like the converters, but for one message and without Spark.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from penstock.codecs.avro.fit import Fitting
from penstock.codecs.avro.model import parse as parse_avro
from penstock.codecs.avro.options import AvroOptions
from penstock.codecs.avro.read import Reader, reader_of
from penstock.codecs.avro.to_connect import ToConnect
from penstock.codecs.avro.write import writer_of
from penstock.codecs.json.write import JsonWriter
from penstock.codecs.registry.client import (
    HEAD_SIZE,
    Registered,
    RegistryClient,
    RegistrySchema,
)
from penstock.codecs.registry.config import RegistryConfig
from penstock.codecs.registry.unknown_ids import UnknownIds
from penstock.kernel.errors import ConfigError, DataError
from penstock.tools.broker.strict_json import value_of

_REMEMBERED: Final = 1000
_WRITER: Final = JsonWriter(decimal_numbers=True, replace_null=False)


class Codec(ABC):
    """Reads and writes the data of one schema, without the schema id before it."""

    @abstractmethod
    def to_json(self, payload: bytes) -> str:
        """JSON of the data. Raises DataError if it can't be read."""

    @abstractmethod
    def from_json(self, node: Any) -> bytes:
        """The data. Raises DataError if the value does not fit the schema."""


class _AvroCodec(Codec):
    """Avro, through the same types as AvroConverter."""

    def __init__(self, written: RegistrySchema) -> None:
        type_ = parse_avro(written.text, written.referred())
        options = AvroOptions()
        try:
            self._schema = ToConnect(options).schema(type_)
        except RecursionError as error:
            raise DataError("a schema that contains itself can't be shown") from error
        fit = Fitting(options).fit(self._schema, type_)
        self._read, self._write = reader_of(fit), writer_of(fit)

    def to_json(self, payload: bytes) -> str:
        return _WRITER.text(self._schema, self._read(Reader(payload)))

    def from_json(self, node: Any) -> bytes:
        out = bytearray()
        self._write(value_of(self._schema, node), out)
        return bytes(out)


class _ProtobufCodec(Codec):
    """Protobuf's own JSON form; writes the first message of the file."""

    def __init__(self, written: RegistrySchema) -> None:
        from google.protobuf.message_factory import GetMessageClass

        from penstock.codecs.protobuf.files import ProtoSchema

        schema = ProtoSchema.parse(written.text, written.referred())
        self._kind: Callable[[tuple[int, ...]], Any] = lru_cache(_REMEMBERED)(
            lambda indexes: GetMessageClass(schema.message(indexes).descriptor())
        )

    def to_json(self, payload: bytes) -> str:
        from google.protobuf.json_format import MessageToJson
        from google.protobuf.message import DecodeError

        from penstock.codecs.protobuf.indexes import read_indexes

        indexes, size = read_indexes(payload)
        try:
            message = self._kind(indexes).FromString(payload[size:])
        except DecodeError as error:
            raise DataError(f"the bytes are not a Protobuf message: {error}") from error
        return str(
            MessageToJson(
                message, preserving_proto_field_name=True, indent=None, ensure_ascii=False
            )
        )

    def from_json(self, node: Any) -> bytes:
        from google.protobuf.json_format import ParseDict, ParseError

        from penstock.codecs.protobuf.indexes import indexes_bytes

        message = self._kind((0,))()
        try:
            ParseDict(_plain(node), message)
        except ParseError as error:
            raise DataError(f"the value does not fit the Protobuf schema: {error}") from error
        return indexes_bytes((0,)) + bytes(message.SerializeToString())


class _JsonSchemaCodec(Codec):
    """JSON text as it is; not checked against the schema."""

    def __init__(self, written: RegistrySchema) -> None:
        del written

    def to_json(self, payload: bytes) -> str:
        try:
            text = payload.decode()
            json.loads(text)
        except ValueError as error:
            raise DataError(f"the bytes are not JSON: {error}") from error
        return text

    def from_json(self, node: Any) -> bytes:
        return json_text(node).encode()


_CODECS: Final[Mapping[str, Callable[[RegistrySchema], Codec]]] = {
    "AVRO": _AvroCodec,
    "PROTOBUF": _ProtobufCodec,
    "JSON": _JsonSchemaCodec,
}


class RegistryForms:
    """Messages that begin with the id of their schema.

    Args:
        settings: schema.registry.url and the other keys of a registry converter.
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        if not settings.get("schema.registry.url"):
            raise ConfigError(
                "no schema registry given: set --schema-registry URL, or schema.registry.url in"
                " the context"
            )
        self._client = RegistryClient(RegistryConfig.parse({"converter.type": "value", **settings}))
        self._known = lru_cache(_REMEMBERED)(self._find)
        self._unusable = UnknownIds()

    def to_json(self, raw: bytes, wanted: str = "") -> str:
        """JSON of a message; `wanted` is the type its schema must have: AVRO, PROTOBUF, JSON.

        Raises:
            DataError: it does not begin with an id, the registry does not know the id, or the
                data can't be read.
            ServiceAwayError: the registry does not answer.
        """
        if not is_framed(raw):
            raise DataError("it does not begin with the id of a schema")
        type_, codec = self._found(raw[:HEAD_SIZE])
        if wanted and type_ != wanted:
            raise DataError(f"its schema is of type {type_}, not {wanted}")
        return codec.to_json(raw[HEAD_SIZE:])

    def encoder(self, registered: Registered) -> Callable[[Any], bytes]:
        """A function that writes values with a schema of the registry."""
        codec = _codec(registered.schema)
        return lambda node: registered.tag + codec.from_json(node)

    def latest(self, subject: str) -> Registered:
        """The latest schema of a subject."""
        return self._client.latest(subject)

    def by_id(self, number: int) -> Registered:
        """The schema with an id."""
        return Registered(number, self._client.by_id(number))

    def register(self, subject: str, type_: str, text: str) -> Registered:
        """Register a schema, unless the registry has it."""
        schema = RegistrySchema(type_, text)
        _codec(schema)  # raises before a schema that can't be used is registered
        return Registered(self._client.register(subject, schema), schema)

    def _found(self, tag: bytes) -> tuple[str, Codec]:
        if reason := self._unusable.reason(tag):
            raise DataError(reason)
        try:
            return self._known(int.from_bytes(tag[1:], "big"))
        except DataError as error:
            # A topic may hold millions of records that only seem to have an id.
            self._unusable.add(tag, str(error))
            raise

    def _find(self, number: int) -> tuple[str, Codec]:
        written = self._client.by_id(number)
        return written.type, _codec(written)


def is_framed(raw: bytes) -> bool:
    """Whether a message could begin with the id of a schema."""
    return len(raw) >= HEAD_SIZE and raw[0] == 0


def json_text(node: Any) -> str:
    """A parsed document as text again, in one line, with all digits of its numbers."""
    match node:
        case Decimal():
            return str(node)
        case dict():
            members = (f"{_quoted(key)}:{json_text(each)}" for key, each in node.items())
            return f"{{{','.join(members)}}}"
        case list():
            return f"[{','.join(map(json_text, node))}]"
    return json.dumps(node, ensure_ascii=False)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _codec(written: RegistrySchema) -> Codec:
    if written.type not in _CODECS:
        raise DataError(f"schemas of type {written.type} are not supported")
    return _CODECS[written.type](written)


def _plain(node: Any) -> Any:
    """Numbers with all their digits as floats: Protobuf's reader knows no others."""
    if isinstance(node, Decimal):
        return float(node)
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if isinstance(node, dict):
        return {key: _plain(each) for key, each in node.items()}
    return node
