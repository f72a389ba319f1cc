"""The row of each item of a nested array in a batch, and the faults of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa


class RowFaults:
    """The first fault of each row of a batch."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._texts: dict[int, str] = {}

    def add(self, row: int, text: str) -> None:
        self._texts.setdefault(row, text)

    def has(self, row: int) -> bool:
        return row in self._texts

    def applied(self, data: pa.Array) -> pa.Array:
        """struct<data, error>: the data of the good rows, the faults of the others."""
        errors = pa.array([self._texts.get(row) for row in range(self._size)], pa.string())
        if self._texts:
            data = data.take(pa.array(np.arange(self._size), mask=~is_null(errors)))
        return pa.StructArray.from_arrays([data, errors], names=["data", "error"])


@dataclass(frozen=True, slots=True)
class Places:
    """The row of each item of a column, so that items of any depth can be the fault of it."""

    rows: np.ndarray
    faults: RowFaults

    def fault(self, bad: np.ndarray, text: str) -> None:
        """The rows of these items are faulty."""
        for row in self.rows[bad].tolist():
            self.faults.add(row, text)

    def only(self, chosen: np.ndarray) -> Places:
        return Places(self.rows[chosen], self.faults)

    def repeated(self, sizes: np.ndarray) -> Places:
        """The places of what the items contain, so many each."""
        return Places(np.repeat(self.rows, sizes), self.faults)


def is_null(array: pa.Array) -> np.ndarray:
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False))


def spread(items: pa.Array, present: np.ndarray) -> pa.Array:
    """The items at the places that are present, nulls at the others."""
    if present.all():
        return items
    places = np.cumsum(present) - 1
    return items.take(pa.array(places, pa.int64(), mask=~present))
