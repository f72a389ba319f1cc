"""Expressions that use a value several times but compute it once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column


def let(value: Column, use: Callable[[Column], Column]) -> Column:
    """`use(value)`. Spark finds common parts by itself, but not where they are conditional."""
    return F.element_at(F.transform(F.array(value), use), 1)
