"""What a failed batch was about: a record that was refused, the database's no, or its absence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

from penstock.errors import DataError, PenstockError, RefusedError, RetriableError

MARK: Final = "PENSTOCK-JDBC-SINK "
#: Failures that the runtime has planned, and understands itself.
_PLANNED: Final = "PENSTOCK-"
# What a driver throws inside Spark's executors reaches us as text only.
_LOST: Final = re.compile(
    r"(?:java\.sql\.SQL(?:Transient|Recoverable|NonTransientConnection)\w*|\w*Communications?)"
    r"Exception: .*"
)
_REFUSED: Final = re.compile(r"(?:java\.sql\.\w+|\w+SQL\w*|SQLite)Exception: .*")
# Among them, those about a row. PostgreSQL's driver has one class for all, so its words must do.
_WRONG_ROW: Final = re.compile(
    r"java\.sql\.(?:SQLIntegrityConstraintViolation|SQLData)Exception|DataTruncation: "
    r"|\[SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG)"
    r"|PSQLException: ERROR: .*(?:violates|too long|out of range|overflow|invalid (?:input|byte))"
)


def translated(error: Exception, hide: Callable[[str], str], *, trim: bool) -> Exception:
    """Our error for a failed batch; itself if it is somebody else's affair.

    Args:
        hide: takes secrets out of a text.
        trim: keep the database's own words, which may hold values, out of it.
    """
    found = refused_record(error) or _of_driver(error, hide)
    if trim and isinstance(found, DataError):
        text = "the database refused a batch; trim.sensitive.log=true hides its words"
        return RefusedError(text, found.row) if isinstance(found, RefusedError) else DataError(text)
    return found


def _of_driver(error: Exception, hide: Callable[[str], str]) -> Exception:
    text = str(error)
    if isinstance(error, PenstockError) or _PLANNED in text:
        return error
    if lost := _LOST.search(text):
        return RetriableError(hide(lost.group()))
    refused = _REFUSED.search(text)
    if refused is None:
        return error
    kind = RefusedError if _WRONG_ROW.search(text) else DataError
    return kind(hide(refused.group()))


def refused_record(error: BaseException) -> RefusedError | None:
    """The error of a record that checked() refused, if that is why a job failed."""
    text = str(error)
    at = text.find(MARK)
    if at < 0:
        return None
    found, _ = json.JSONDecoder(strict=False).raw_decode(text, at + len(MARK))
    return RefusedError(
        f"record {found['topic']}-{found['partition']}, offset {found['offset']}: {found['why']}"
    )
