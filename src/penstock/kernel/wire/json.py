"""JSON as Kafka Connect's REST API reads and writes it.

Numbers keep the text they were sent with, because a number in a connector's config becomes a
string, and `1.50` must not become `1.5`.
"""

from __future__ import annotations

import json
import re
from math import isinf
from typing import Any, Final, NoReturn

from penstock.kernel.errors import BadRequestError, MalformedRequestError

_LONGEST_NUMBER: Final = 1000
_ESCAPED_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_COMMENT: Final = re.compile(r"\s*(#|//|/\*)")


class Number(str):
    """A number of the request, as its text."""

    __slots__ = ()

    def value(self) -> int | float:
        """The number: whole where it has neither point nor exponent.

        Raises:
            BadRequestError: it is too large for a double.
        """
        if self.lstrip("-").isdigit():
            return int(self)
        number = float(self)
        if isinf(number):
            raise BadRequestError(f"The request has a number that is too large: {self}")
        return number


def encode(value: object) -> bytes:
    """Compact JSON in UTF-8, fields in their order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def decode(body: bytes) -> Any:
    """The JSON value of a body; numbers come as Number, an empty body as None.

    Raises:
        MalformedRequestError: it is not JSON; the text says where.
        BadRequestError: it has a number that is too long, or a text with half a character.
    """
    if not body.strip():
        return None
    try:
        # json itself would accept bytes that are not valid characters.
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
    """A hint to add to an error in JSON if a comment caused it; else empty."""
    if not isinstance(error, json.JSONDecodeError) or not _COMMENT.match(error.doc, error.pos):
        return ""
    return ". JSON has no comments; use YAML, which has them: `penstock create FILE.yaml`"


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
        MalformedRequestError: it is not an object, or a value in it is an object or array.
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
        MalformedRequestError: there is one; the text names it and the known fields.
    """
    for name in fields:
        if name not in known:
            raise MalformedRequestError(
                f'{where} has no field "{name}"; it may have {", ".join(known)}'
            )


def _number(written: str) -> Number:
    if len(written) > _LONGEST_NUMBER:
        raise BadRequestError(
            f"The request has a number of {len(written)} characters; the limit is {_LONGEST_NUMBER}"
        )
    return Number(written)


def _refuse_half_characters(value: Any) -> None:
    """Surrogates must come in pairs: one alone is not a character and has no UTF-8."""
    try:
        encode(value)
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise BadRequestError(f"The request has {half} in a text: half a character") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not allowed")
