"""Where `penstock offsets` works: the cluster, and the way to its offsets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from penstock.cli.target import Target

if TYPE_CHECKING:
    from penstock.offsets import Offsets


class Way(StrEnum):
    """The way to the offsets."""

    AUTO = "auto"
    REST = "rest"
    TOPIC = "topic"


@dataclass(frozen=True, slots=True)
class Place:
    """Where to work, and how."""

    target: Target
    via: Way
    topic: str | None
    seconds: float

    @contextmanager
    def offsets(self) -> Iterator[Offsets]:
        from penstock.offsets import Offsets, Via

        kafka = self.target.kafka()
        topic = self.topic or self.target.offset_topic
        with (
            self.target.client(self.seconds) as client,
            Offsets(
                client, kafka, topic=topic, via=Via(self.via.value), seconds=self.seconds
            ) as offsets,
        ):
            yield offsets

    def names(self, patterns: list[str] | None) -> list[str]:
        """Those that match; a name that no connector has may still have offsets in Kafka."""
        from penstock.broker.names import chosen, is_pattern

        if patterns and not any(map(is_pattern, patterns)):
            return patterns
        with self.target.client(self.seconds) as client:
            known = client.connectors()
        return chosen(known, patterns, "connector") if patterns else known
