"""Column expressions that are made once: each part of one is a call to Spark's JVM.

The dozens of calls that a batch's expressions take cost more than the job that runs them. The
expressions speak of columns by name, so they serve every frame that has these columns.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

from pyspark import SparkContext

Made = TypeVar("Made")

_SIZE: Final = 64


class Remembered(Generic[Made]):
    """What was made for each place, the latest used. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: OrderedDict[Hashable, Made] = OrderedDict()

    def of(self, place: Hashable, make: Callable[[], Made]) -> Made:
        # Expressions live in Spark's JVM: those of one that is gone are of no use.
        place = (SparkContext._gateway, place)  # noqa: SLF001 - nothing public tells JVMs apart
        with self._lock:
            if place not in self._made:
                self._made[place] = make()
                while len(self._made) > _SIZE:
                    self._made.popitem(last=False)
            self._made.move_to_end(place)
            return self._made[place]
