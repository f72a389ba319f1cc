"""A value that an expression uses more than once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column


def bound(value: Column, use: Callable[[Column], Column]) -> Column:
    """`use(value)`, where the value is one small name, however large its own expression is."""
    return F.get(F.transform(F.array(value), use), F.lit(0))
