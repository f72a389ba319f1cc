"""Spark's JVM, and what was made in it: of no use any more when another JVM takes its place."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Final, Generic, TypeVar

Made = TypeVar("Made")

_SIZE: Final = 64


def jvm() -> Any:
    """The view of the JVM that runs; None if none does."""
    from pyspark import SparkContext

    return SparkContext._jvm  # noqa: SLF001 - pyspark's own way to the JVM


class Remembered(Generic[Made]):
    """A cache of the most recently used objects. Threads may share it.

    Made for column expressions: each part of one is a call to the JVM, and the dozens of calls
    that a batch's expressions take cost more than the job that runs them. Expressions speak of
    columns by name, so they serve every frame that has these columns.
    """

    def __init__(self, size: int = _SIZE) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._made: OrderedDict[Hashable, Made] = OrderedDict()

    def of(self, place: Hashable, make: Callable[[], Made]) -> Made:
        from pyspark import SparkContext

        place = (SparkContext._gateway, place)  # noqa: SLF001 - nothing public tells JVMs apart
        with self._lock:
            if place not in self._made:
                self._made[place] = make()
                while len(self._made) > self._size:
                    self._made.popitem(last=False)
            self._made.move_to_end(place)
            return self._made[place]
