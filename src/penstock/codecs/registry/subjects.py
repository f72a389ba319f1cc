"""Under which subject of the registry a schema is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from penstock.kernel.errors import DataError

_PACKAGE: Final = "io.confluent.kafka.serializers.subject."
TOPIC_NAME: Final = f"{_PACKAGE}TopicNameStrategy"

#: The subject of a topic, a part of a record ("key" or "value") and the name of a schema.
Strategy = Callable[[str, str, str | None], str]


def _by_topic(topic: str, part: str, record: str | None) -> str:  # noqa: ARG001 - Strategy
    return f"{topic}-{part}"


def _by_record(topic: str, part: str, record: str | None) -> str:
    return _named(topic, part, record)


def _by_both(topic: str, part: str, record: str | None) -> str:
    return f"{topic}-{_named(topic, part, record)}"


def _named(topic: str, part: str, record: str | None) -> str:
    if record is None:
        raise DataError(
            f"The {part}s of topic {topic} have no record name, which"
            f" {part}.subject.name.strategy needs; use TopicNameStrategy for them"
        )
    return record


STRATEGIES: Final[dict[str, Strategy]] = {
    "TopicNameStrategy": _by_topic,
    "RecordNameStrategy": _by_record,
    "TopicRecordNameStrategy": _by_both,
}


def strategy_named(name: str) -> Strategy:
    """The strategy of that class name, full or short; LookupError if there is none."""
    found = STRATEGIES.get(name.removeprefix(_PACKAGE))
    if found is None:
        raise LookupError(f"must be one of {', '.join(STRATEGIES)}")
    return found
