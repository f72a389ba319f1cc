"""JSON as Kafka Connect's REST API reads and writes it.

Numbers keep the text they were sent with, because a number in a connector's config becomes a
string, and `1.50` must not become `1.5` on its way.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from penstock.errors import PenstockError


class MalformedRequestError(PenstockError):
    """A request body that can't be read; the API answers 500 to it, as Kafka Connect does."""


class Number(str):
    """A number of the request, as it was written."""

    __slots__ = ()

    def value(self) -> int | float:
        """The number: whole where it has neither point nor exponent."""
        return int(self) if self.lstrip("-").isdigit() else float(self)


def encode(value: object) -> bytes:
    """Compact JSON in UTF-8, fields in the order they have."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def decode(body: bytes) -> Any:
    """The JSON value of a body; numbers come as Number, an empty body as None.

    Raises:
        MalformedRequestError: it is no JSON; the text says where.
    """
    if not body.strip():
        return None
    try:
        return json.loads(body, parse_int=Number, parse_float=Number, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedRequestError(f"The request body is not valid JSON: {error}") from error


def plain(value: Any) -> Any:
    """The same value with Python numbers."""
    if isinstance(value, Number):
        return value.value()
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
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


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not allowed")
