"""The order in which a Java HashMap iterates over its keys.

A few lists in Kafka Connect's answers come from such a map. Clients compare whole answers, so
they see the order.
"""

from __future__ import annotations

from collections.abc import Iterable

_SMALLEST_TABLE = 16
_LOAD = 0.75


def hash_order(keys: Iterable[str]) -> list[str]:
    """The keys as a HashMap would iterate over them after they were put in this order."""
    found = list(dict.fromkeys(keys))
    size = _SMALLEST_TABLE
    while len(found) > size * _LOAD:
        size *= 2
    # Keys that share a bucket keep their order, as sorted() is stable.
    return sorted(found, key=lambda key: _spread(key) & (size - 1))


def copied_order(keys: Iterable[str]) -> list[str]:
    """The same for a HashMap made as a copy, which has the smallest possible table."""
    found = list(dict.fromkeys(keys))
    wanted, size = int(len(found) / _LOAD + 1), 1
    while size < wanted:
        size *= 2
    return sorted(found, key=lambda key: _spread(key) & (size - 1))


def _spread(key: str) -> int:
    code = 0
    data = key.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(data), 2):
        code = (code * 31 + (data[at] << 8 | data[at + 1])) & 0xFFFFFFFF
    return code ^ (code >> 16)
