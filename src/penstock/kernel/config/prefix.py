"""Keys with a common prefix: `producer.`, `transforms.<alias>.`, `spark.`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Value = TypeVar("Value")


def under_prefix(config: Mapping[str, Value], prefix: str) -> dict[str, Value]:
    """The keys that begin with the prefix, without it. As in Kafka, not the prefix alone."""
    return {
        name.removeprefix(prefix): value
        for name, value in config.items()
        if name.startswith(prefix) and name != prefix
    }
