"""Settings of Spark that decide what becomes of data: a worker's are those of Kafka Connect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Another value would change records without a word, so it is refused.
FIXED: Final[Mapping[str, str]] = {
    "spark.sql.session.timeZone": "UTC",
    # Fields `id` and `ID` are two in Connect.
    "spark.sql.caseSensitive": "true",
    # JSON that names a field twice: the last one counts, as for Java's converter.
    "spark.sql.variant.allowDuplicateKeys": "true",
    # A map that is made of entries: the last of equal keys counts, as in Java.
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    # A number that does not fit is an error of its record, never another number.
    "spark.sql.ansi.enabled": "true",
}


def refusal(name: str, value: str) -> str | None:
    """Why a worker can't have this setting of Spark; None if it can."""
    fixed = FIXED.get(name)
    if fixed is None or value.strip().lower() == fixed.lower():
        return None
    return f"records are treated as in Kafka Connect with {fixed} only; remove the key"
