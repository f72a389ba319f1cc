"""Errors as answers: one table from error class to status, and the body they all share."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from penstock.kernel.config.unknown import in_plain_words
from penstock.kernel.errors import (
    BadRequestError,
    ConfigError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PenstockError,
)
from penstock.kernel.wire.json import encode
from penstock.kernel.wire.models import ErrorMessage

log = logging.getLogger(__name__)

JSON: Final = "application/json"

#: The first class that fits decides; whatever is not here is a 500, as in Kafka Connect.
STATUSES: Final[tuple[tuple[type[PenstockError], int], ...]] = (
    (ConfigError, 400),
    (BadRequestError, 400),
    (ForbiddenError, 403),
    (NotFoundError, 404),
    (ConflictError, 409),
)


def status_of(error: Exception) -> int:
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def error_response(
    status: int, message: str, *, headers: Mapping[str, str] | None = None, typed: bool = True
) -> Response:
    """The body of every error. Errors of the routing itself carry no content type in Connect."""
    body = encode(ErrorMessage(status, message).to_json())
    found = dict(headers or {}) | ({"content-type": JSON} if typed else {})
    return Response(body, status, found)


async def on_error(request: Request, error: Exception) -> Response:
    """Answer for whatever a handler raised."""
    status = status_of(error)
    if not isinstance(error, PenstockError):
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    elif status == HTTPStatus.INTERNAL_SERVER_ERROR:
        reason = in_plain_words(str(error))
        log.warning("%s %s failed: %s", request.method, request.url.path, reason)
    return error_response(status, str(error))


async def on_http_error(request: Request, error: Exception) -> Response:
    """Answer for what the routing refused: no such path, no such method, no such media type."""
    if not isinstance(error, HTTPException):
        return await on_error(request, error)
    status = HTTPStatus(error.status_code)
    return error_response(status.value, f"HTTP {status.value} {status.phrase}", typed=False)
