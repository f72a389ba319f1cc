"""JSON as Kafka Connect's REST API reads and writes it.

Numbers keep the text they were sent with, because a number in a connector's config becomes a
string, and `1.50` must not become `1.5` on its way.
"""

from __future__ import annotations

import json
import re
from math import isinf
from typing import Any, Final, NoReturn

from penstock.errors import BadRequestError, PenstockError

_LONGEST_NUMBER: Final = 1000
_ESCAPED_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_COMMENT: Final = re.compile(r"\s*(#|//|/\*)")


class MalformedRequestError(PenstockError):
    """A request body that can't be read; the API answers 500 to it, as Kafka Connect does."""


class Number(str):
    """A number of the request, as it was written."""

    __slots__ = ()

    def value(self) -> int | float:
        """The number: whole where it has neither point nor exponent.

        Raises:
            BadRequestError: it is larger than any that can be stored.
        """
        if self.lstrip("-").isdigit():
            return int(self)
        number = float(self)
        if isinf(number):
            raise BadRequestError(f"The request has a number that is too large: {self}")
        return number


def encode(value: object) -> bytes:
    """Compact JSON in UTF-8, fields in the order they have."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def decode(body: bytes) -> Any:
    """The JSON value of a body; numbers come as Number, an empty body as None.

    Raises:
        MalformedRequestError: it is no JSON; the text says where.
        BadRequestError: it has a number or a text that nothing can be done with.
    """
    if not body.strip():
        return None
    try:
        # Not left to json, which lets through bytes that stand for no character.
        text = body.decode(json.detect_encoding(body))
        value = json.loads(
            text, parse_int=_number, parse_float=_number, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as error:
        raise MalformedRequestError(
            f"The request body is not valid JSON: {error}{comment_hint(error)}"
        ) from error
    if _ESCAPED_SURROGATE.search(text):
        _refuse_half_characters(value)
    return value


def comment_hint(error: Exception) -> str:
    """More to say of an error in JSON if it is a comment that is in the way."""
    if not isinstance(error, json.JSONDecodeError) or not _COMMENT.match(error.doc, error.pos):
        return ""
    return ". JSON has no comments; YAML has, and `penstock create FILE.yaml` takes it"


def plain(value: Any) -> Any:
    """The same value with Python numbers.

    Raises:
        BadRequestError: a number is too large, or the value has too many levels.
    """
    try:
        return _plain(value)
    except RecursionError as error:
        raise BadRequestError("The request has too many levels of arrays and objects") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Number):
        return value.value()
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def text(value: Any, where: str) -> str | None:
    """A string field; numbers and booleans become their text, as in Jackson.

    Raises:
        MalformedRequestError: it is an object or an array.
    """
    if value is None or (isinstance(value, str) and not isinstance(value, Number)):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Number):
        return str(value)
    kind = "an object" if isinstance(value, dict) else "an array"
    raise MalformedRequestError(f"{where} is {kind}; it must be a string, a number or a boolean")


def strings(value: Any, where: str) -> dict[str, str | None] | None:
    """A flat object of strings, such as a connector's config.

    Raises:
        MalformedRequestError: it is no object, or a value in it is not flat.
    """
    if value is None:
        return None
    fields = mapping(value, where)
    return {name: text(item, f'{where}["{name}"]') for name, item in fields.items()}


def mapping(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedRequestError(f"{where} must be a JSON object")
    return value


def only(fields: dict[str, Any], where: str, known: tuple[str, ...]) -> None:
    """Refuse fields that the API does not have.

    Raises:
        MalformedRequestError: there is one; the text has its name and the known ones.
    """
    for name in fields:
        if name not in known:
            raise MalformedRequestError(
                f'{where} has no field "{name}"; it may have {", ".join(known)}'
            )


def _number(written: str) -> Number:
    if len(written) > _LONGEST_NUMBER:
        raise BadRequestError(
            f"The request has a number of {len(written)} characters; {_LONGEST_NUMBER} is the most"
        )
    return Number(written)


def _refuse_half_characters(value: Any) -> None:
    """Halves of a pair must stand together: one alone is no character and has no UTF-8."""
    try:
        encode(value)
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise BadRequestError(f"The request has {half} in a text, half of a character") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not allowed")
