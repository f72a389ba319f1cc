"""Why a batch failed: a refused record, a refused statement, or a lost database."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Final

from penstock.api.sink import OffsetRange
from penstock.connectors.jdbc.dialects.faults import Faults
from penstock.kernel.errors import DataError, PenstockError, RefusedError, RetriableError

MARK: Final = "PENSTOCK-JDBC-SINK "
#: Failures that the runtime has planned, and understands itself.
_PLANNED: Final = "PENSTOCK-"
# What Spark says of a value that it can't compute with, such as a Timestamp beyond its calendar.
_WRONG_VALUE: Final = re.compile(
    r"(?:java\.lang\.Arithmetic|java\.time\.DateTime|Spark(?:Arithmetic|DateTime|NumberFormat))"
    r"Exception: .*"
)


def translated(
    error: Exception,
    hide: Callable[[str], str],
    faults: Faults,
    *,
    trim: bool,
    ranges: Sequence[OffsetRange] = (),
) -> Exception:
    """Our error for a failed batch; itself if it is somebody else's affair.

    Args:
        error: what a job or the database failed with.
        hide: takes secrets out of a text.
        faults: the database's words for them.
        trim: keep the database's own words, which may hold values, out of it.
        ranges: those of the batch.
    """
    found = refused_record(error, ranges) or _of_driver(error, hide, faults)
    if trim and isinstance(found, DataError):
        text = "the database refused a batch; trim.sensitive.log=true hides its words"
        return type(found)(text, found.row) if isinstance(found, RefusedError) else DataError(text)
    return found


def _of_driver(error: Exception, hide: Callable[[str], str], faults: Faults) -> Exception:
    if isinstance(error, PenstockError) or _PLANNED in str(error):
        return error
    text = hide(str(error))
    if lost := faults.lost_in_job(text):
        return RetriableError(lost)
    if wrong := _WRONG_VALUE.search(text):
        return RefusedError(f"a value of the record can't be written: {wrong.group()}")
    return faults.refused_in_job(text) or error


def refused_record(error: BaseException, ranges: Sequence[OffsetRange] = ()) -> RefusedError | None:
    """The error of a record that checked() refused, if that is why a job failed."""
    text = str(error)
    at = text.find(MARK)
    if at < 0:
        return None
    found, _ = json.JSONDecoder(strict=False).raw_decode(text, at + len(MARK))
    text = f"record {found['topic']}-{found['partition']}, offset {found['offset']}: {found['why']}"
    return RefusedError(text, _row_of(found["partition"], found["offset"], ranges))


def _row_of(partition: int, offset: int, ranges: Sequence[OffsetRange]) -> int | None:
    """About where in the batch that record is; by its partition alone, as topics get new names."""
    before = 0
    for each in ranges:
        if each.partition.partition == partition and each.start <= offset < each.end:
            return before + offset - each.start
        before += each.end - each.start
    return None
