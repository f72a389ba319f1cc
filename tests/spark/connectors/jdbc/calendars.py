"""Days on both sides of the change of calendar, as Java counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLD_DAYS = ["0300-03-01", "1500-01-01", "1500-02-28", "1500-03-01", "1582-10-04", "1582-10-15"]


def days_since_1970(spark: SparkSession, day: str, *, legacy: bool) -> int:
    """What Java says."""
    year, month, number = map(int, day.split("-"))
    java: Any = spark._jvm
    if not legacy:
        return int(java.java.time.LocalDate.of(year, month, number).toEpochDay())
    calendar = java.java.util.GregorianCalendar(
        java.java.util.TimeZone.getTimeZone("UTC"), java.java.util.Locale.ROOT
    )
    calendar.clear()
    calendar.set(year, month - 1, number)
    return int(calendar.getTimeInMillis()) // 86_400_000
