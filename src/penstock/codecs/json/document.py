"""JSON documents as Jackson reads them for JsonConverter, which is not quite as `json` does.

Whatever stands after the first value is ignored, numbers may start with zeros, a number with
a point or exponent keeps all its digits, and the last of several equal names counts.
"""

from __future__ import annotations

import codecs
import json
import re
from decimal import Decimal
from typing import Any, Final, NoReturn

from penstock.kernel.errors import DataError

#: The value of an empty document, which is not even null.
MISSING: Final = object()

UNREADABLE: Final = "Converting byte[] to Kafka Connect data failed due to serialization error: "
#: Without what the parser says and where: Spark's and Python's have other words for one mistake.
NOT_JSON: Final = f"{UNREADABLE}not a JSON document"
NOT_AN_ENVELOPE: Final = (
    'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain'
    " additional fields. If you are trying to deserialize plain JSON data, set schemas.enable=false"
    " in your converter configuration."
)

_SPACE: Final = re.compile(r"[ \t\n\r]*")
#: A text, or the zeros before a number; the text is there so that its inside is left alone.
_LEADING_ZEROS: Final = re.compile(r'("(?:[^"\\]|\\.)*")|(?<![\w.+-])(-?)0+(?=\d)', re.DOTALL)
_KINDS: Final = {
    type(None): "NULL",
    bool: "BOOLEAN",
    int: "NUMBER",
    Decimal: "NUMBER",
    str: "STRING",
    list: "ARRAY",
    dict: "OBJECT",
}


def kind(node: Any) -> str:
    """Jackson's name of this kind of node."""
    return "MISSING" if node is MISSING else _KINDS[type(node)]


def skip_space(text: str, start: int = 0) -> int:
    found = _SPACE.match(text, start)
    return found.end() if found else start


def text_of(raw: bytes) -> str:
    """The characters of a document, in whichever of the Unicode encodings it is.

    Raises:
        DataError: the bytes are not text.
    """
    # Jackson looks for the mark of UTF-16 only where there are four bytes.
    marked = raw[:2] in (codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE) and len(raw) < 4
    encoding = "utf-8" if marked else json.detect_encoding(raw)
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        raise DataError(NOT_JSON) from None
    return text.removeprefix("\ufeff")


def scan(text: str, start: int = 0) -> tuple[Any, int]:
    """The value that starts at a position, and where it ends.

    Raises:
        DataError: there is no JSON value.
    """
    try:
        return DECODER.raw_decode(text, start)
    except (ValueError, ArithmeticError, RecursionError):
        raise DataError(NOT_JSON) from None


def parse(raw: bytes) -> Any:
    """The document's value: None, bool, int, Decimal, str, list, dict or MISSING.

    Raises:
        DataError: the bytes are not JSON.
    """
    text = text_of(raw)
    start = skip_space(text)
    if start == len(text):
        return MISSING
    try:
        return scan(text, start)[0]
    except DataError:
        plain = _LEADING_ZEROS.sub(r"\1\2", text)
        if plain == text:
            raise
    return scan(plain, skip_space(plain))[0]


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"non-standard token '{constant}'")


DECODER: Final = json.JSONDecoder(parse_float=Decimal, parse_constant=_refuse, strict=True)
