"""A connector: its kind, and where its offsets are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.kernel.wire.models import ConnectorInfo
from penstock.tools.offsets.models import Kind


@dataclass(frozen=True, slots=True)
class Subject:
    """A connector, or what is left of one that was deleted (`exists` is False).

    Attributes:
        topic: the offsets topic of a source; a connector may have one of its own.
        group: the consumer group of a sink.
    """

    name: str
    kind: Kind
    topic: str
    group: str
    exists: bool = True
    config: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, info: ConnectorInfo, topic: str) -> Subject:
        """From the server's answer."""
        config = info.config
        return cls(
            info.name,
            _kind(info),
            config.get("offsets.storage.topic") or topic,
            config.get("consumer.override.group.id") or sink_group(info.name),
            config=config,
        )

    @property
    def starts_at_end(self) -> bool:
        """Whether a sink without offsets skips existing records."""
        return self.config.get("consumer.override.auto.offset.reset", "").lower() == "latest"


def sink_group(name: str) -> str:
    """The group of a sink that does not name one."""
    return f"connect-{name}"


def _kind(info: ConnectorInfo) -> Kind:
    # Old servers do not report the type; but only sinks have topics to read.
    if info.type in (Kind.SOURCE.value, Kind.SINK.value):
        return Kind(info.type)
    return Kind.SINK if {"topics", "topics.regex"} & info.config.keys() else Kind.SOURCE
