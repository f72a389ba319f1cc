"""Decodes bytes of keys and values for people and scripts, and encodes them."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, NoReturn

from penstock.kernel.errors import BadRequestError, DataError
from penstock.tools.broker.registry_encodings import RegistryForms, is_framed, json_text


class Form(StrEnum):
    """The format of the bytes of a key or value."""

    AUTO = "auto"
    STRING = "string"
    JSON = "json"
    AVRO = "avro"
    PROTOBUF = "protobuf"
    JSON_SCHEMA = "json-schema"
    BYTES = "bytes"
    SHORT = "short"
    INTEGER = "integer"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"


REGISTRY_TYPES: Final = {
    Form.AVRO: "AVRO",
    Form.PROTOBUF: "PROTOBUF",
    Form.JSON_SCHEMA: "JSON",
}
_PACKED: Final = {
    Form.SHORT: ">h",
    Form.INTEGER: ">i",
    Form.LONG: ">q",
    Form.FLOAT: ">f",
    Form.DOUBLE: ">d",
}
#: The JSON key of bytes that are not text.
BASE64: Final = "$base64"


@dataclass(frozen=True, slots=True)
class Shown:
    """Bytes as text for people and as a piece of JSON; `error` says why they are not decoded."""

    text: str
    json: str
    error: str = ""


NULL: Final = Shown("", "null")


class Decoder:
    """Makes bytes readable.

    Args:
        form: their format. `auto` detects JSON objects and arrays, text, and messages of a
            schema registry, if there is one; the rest is shown as bytes.
        registry: has the schemas.
    """

    def __init__(self, form: Form, registry: RegistryForms | None = None) -> None:
        self.form = form
        self._registry = registry
        if form in REGISTRY_TYPES and registry is None:
            raise BadRequestError(f"{form} needs a schema registry")

    def __call__(self, raw: bytes | None) -> Shown:
        """The decoded bytes; if they have another format, the bytes and the error."""
        if raw is None:
            return NULL
        try:
            return self._decoded(raw)
        except DataError as error:
            plain = _as_bytes(raw)
            return Shown(plain.text, plain.json, str(error))

    def asks_registry(self, raw: bytes) -> bool:
        """Whether these bytes are looked up in a schema registry."""
        return self.form in REGISTRY_TYPES or (
            self.form is Form.AUTO and self._registry is not None and is_framed(raw)
        )

    def _decoded(self, raw: bytes) -> Shown:
        match self.form:
            case Form.AUTO:
                return self._guessed(raw)
            case Form.STRING:
                return _as_text(raw)
            case Form.JSON:
                return _as_json(raw)
            case Form.BYTES:
                return _as_bytes(raw)
        if self.form in _PACKED:
            return _as_number(raw, self.form)
        return self._registered(raw, REGISTRY_TYPES[self.form])

    def _guessed(self, raw: bytes) -> Shown:
        if self._registry is not None and is_framed(raw):
            try:
                return self._registered(raw, "")
            except DataError:
                pass  # Other formats may begin with a zero byte, too.
        try:
            return _as_json(raw) if raw.lstrip()[:1] in (b"{", b"[") else _readable(raw)
        except DataError:
            pass
        try:
            return _readable(raw)
        except DataError:
            return _as_bytes(raw)

    def _registered(self, raw: bytes, wanted: str) -> Shown:
        assert self._registry is not None  # noqa: S101 - see the constructor
        text = self._registry.to_json(raw, wanted)
        return Shown(text, _in_one_line(text))


def _as_text(raw: bytes) -> Shown:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text: {error.reason}") from error
    return Shown(text, json.dumps(text, ensure_ascii=False))


def _readable(raw: bytes) -> Shown:
    shown = _as_text(raw)
    if any(ord(each) < 32 and each not in "\t\n\r" for each in shown.text):
        raise DataError("it has control characters")
    return shown


def _as_json(raw: bytes) -> Shown:
    shown = _as_text(raw)
    try:
        json.loads(shown.text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON: {error}") from error
    return Shown(shown.text, _in_one_line(shown.text))


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _in_one_line(text: str) -> str:
    """Valid JSON in one line: line ends are only between its tokens. Numbers keep their form."""
    return text.strip().replace("\r", " ").replace("\n", " ")


def _as_bytes(raw: bytes) -> Shown:
    encoded = base64.b64encode(raw).decode()
    return Shown(repr(raw)[2:-1], json.dumps({BASE64: encoded}))


def _as_number(raw: bytes, form: Form) -> Shown:
    size = struct.calcsize(_PACKED[form])
    if len(raw) != size:
        raise DataError(f"a {form} has {size} bytes, not {len(raw)}")
    (number,) = struct.unpack(_PACKED[form], raw)
    text = json.dumps(number)
    # JSON has no NaN and no infinities: they become text.
    is_finite = form not in (Form.FLOAT, Form.DOUBLE) or text[-1].isdecimal()
    return Shown(text, text if is_finite else json.dumps(text))


# ------------------------------------------------------------------------------- the way back


@dataclass(frozen=True, slots=True)
class Encoder:
    """Makes bytes: of a text that a person wrote, or of a piece of a JSON document.

    Both raise DataError for values that do not fit the format.
    """

    of_text: Callable[[str], bytes]
    of_node: Callable[[Any], bytes]


def encoder(form: Form, written: Callable[[Any], bytes] | None = None) -> Encoder:
    """The encoder of a form.

    Args:
        form: `auto` and `string` write texts as they are, and other JSON as JSON.
        written: writes data with a schema, for the forms that have one; texts are JSON then.
    """
    if form in REGISTRY_TYPES:
        if written is None:
            raise BadRequestError(f"{form} needs a schema registry")
        return Encoder(lambda text: written(parsed_json(text)), written)
    if form in _PACKED:
        return Encoder(lambda text: _packed(text, form), lambda node: _packed(node, form))
    if form is Form.JSON:
        return Encoder(_document, lambda node: json_text(node).encode())
    if form is Form.BYTES:
        return Encoder(_raw_bytes, _raw_bytes)
    return Encoder(_bytes_of, _text_bytes)


def parsed_json(text: str) -> Any:
    """A document with all digits of its numbers. Raises DataError if it is not JSON."""
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{text[:60]!r} is not JSON: {error}") from error


def _text_bytes(node: Any) -> bytes:
    if isinstance(node, dict) and node.keys() == {BASE64}:
        return _raw_bytes(node)
    return _bytes_of(node) if isinstance(node, str) else json_text(node).encode()


def _bytes_of(text: str) -> bytes:
    """The original bytes: those that are not UTF-8 were read as surrogates."""
    return text.encode("utf-8", "surrogateescape")


def _document(text: str) -> bytes:
    """The text as it is, after a check that it is JSON."""
    parsed_json(text)
    return text.encode()


def _raw_bytes(node: Any) -> bytes:
    text = node.get(BASE64) if isinstance(node, dict) else node
    try:
        if isinstance(text, str):
            return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise DataError(f"{str(text)[:60]!r} is not base64") from error
    raise DataError(f"{str(text)[:60]!r} is not base64")


def _packed(node: Any, form: Form) -> bytes:
    wants_int = form not in (Form.FLOAT, Form.DOUBLE)
    try:
        if isinstance(node, bool):
            raise ValueError
        number = int(node) if wants_int else float(node)
        if wants_int and not isinstance(node, str) and number != node:
            raise ValueError
        return struct.pack(_PACKED[form], number)
    except (TypeError, ValueError, OverflowError, struct.error) as error:
        raise DataError(f"{str(node)[:60]!r} is not a valid {form}") from error
