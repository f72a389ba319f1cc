"""Settings that are lists of pairs, such as old:new."""

from __future__ import annotations


def split_pair(pair: str) -> list[str]:
    """The parts between the colons, as Java splits: without empty ones at the end."""
    return pair.rstrip(":").split(":")
