"""Records that a job refuses: the mark in its failure, and the error made of it."""

from __future__ import annotations

import json
from typing import Final

from penstock.errors import DataError

MARK: Final = "PENSTOCK-JDBC-SINK "


def refused_record(error: BaseException) -> DataError | None:
    """The error of a record that checked() refused, if that is why a job failed."""
    text = str(error)
    at = text.find(MARK)
    if at < 0:
        return None
    found, _ = json.JSONDecoder(strict=False).raw_decode(text, at + len(MARK))
    return DataError(
        f"record {found['topic']}-{found['partition']}, offset {found['offset']}: {found['why']}"
    )
