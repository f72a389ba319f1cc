"""Settings that are lists of pairs, such as old:new."""

from __future__ import annotations


def split_pair(pair: str) -> list[str]:
    """The pieces between the colons, as Java splits: it forgets empty ones at the end."""
    return pair.rstrip(":").split(":")
