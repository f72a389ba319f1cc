"""Parses partitions and offsets that people write, and formats them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import BadRequestError, ConfigError
from penstock.kernel.times import shown_moment
from penstock.tools.broker.names import topic_partitions
from penstock.tools.offsets.models import Kind, Map, Move, same, sink_place


def source_partition(text: str, known: Sequence[Map]) -> Map:
    """A source's partition from JSON or `key=value,key=value`; a known one keeps its types.

    Raises:
        ConfigError: it is neither.
    """
    given = _map(text, "--partition")
    for partition in known:
        if same(partition, given) or (not _is_json(text) and _reads_like(partition, given)):
            return partition
    return given


def source_offset(text: str) -> Map:
    """A source's offset: JSON, or `key=value,key=value` where numbers are numbers.

    Raises:
        ConfigError: it is neither, or empty.
    """
    given = _map(text, "--offset")
    if not given:
        raise ConfigError("--offset is empty; `penstock offsets reset` deletes an offset")
    return given if _is_json(text) else {key: _number(value) for key, value in given.items()}


def sink_position(text: str) -> tuple[TopicPartition, int]:
    """`orders:0=1200`: a partition of a topic and the offset to read next.

    Raises:
        ConfigError: it is not of this form.
    """
    place, _, offset = text.rpartition("=")
    topic, _, partition = place.rpartition(":")
    if not topic or not partition.isdecimal() or not offset.isdecimal():
        raise ConfigError(f"{text!r} must be TOPIC:PARTITION=OFFSET, as in orders:0=1200")
    return TopicPartition(topic, int(partition)), int(offset)


def chosen(kind: Kind, known: Sequence[Map], texts: Iterable[str]) -> list[Map]:
    """The known partitions that the texts name; all of them without a text.

    Raises:
        BadRequestError: a text names none of them.
    """
    texts = list(texts)
    if not texts:
        return list(known)
    found: list[Map] = []
    for text in texts:
        matching = _matching(kind, known, text)
        if not matching:
            raise BadRequestError(
                f"there is no offset for the partition {text}; there are: {listed(kind, known)}"
            )
        found += [each for each in matching if each not in found]
    return found


def listed(kind: Kind, partitions: Iterable[Map]) -> str:
    """A list of partitions, for messages."""
    return ", ".join(shown_partition(kind, each) for each in partitions) or "none"


def shown_partition(kind: Kind, partition: Map) -> str:
    """A partition for people: JSON, or `topic:0` for sinks."""
    if kind is Kind.SINK:
        place = sink_place(partition)
        return f"{place.topic}:{place.partition}"
    return compact(partition)


def shown_offset(kind: Kind, offset: Map | None) -> str:
    """An offset for people: JSON, or a sink's number."""
    if kind is Kind.SINK and offset is not None:
        return str(offset["kafka_offset"])
    return compact(offset)


def compact(value: Any) -> str:
    """JSON on one line, as in the topic."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_again(kind: Kind, move: Move) -> str:
    """What the connector will read again, or skip, after a change."""
    if not move.changes:
        return "nothing"
    if kind is Kind.SINK:
        return _records(move)
    if move.after is None:
        return "everything"
    pieces = [_since(key, value) for key, value in move.after.items() if _is_readable(key, value)]
    return ", ".join(pieces) or "from there on"


def _records(move: Move) -> str:
    if move.after is None:
        return "from auto.offset.reset, by default everything"
    after = int(move.after["kafka_offset"])
    if move.before is None:
        return f"from offset {after} on"
    count = int(move.before["kafka_offset"]) - after
    counted = "1 record" if abs(count) == 1 else f"{abs(count)} records"
    return counted if count > 0 else f"{counted} skipped"


def _is_readable(key: str, value: Any) -> bool:
    return isinstance(value, int) and key != "timestamp_nanos"


def _since(key: str, value: int) -> str:
    if key == "timestamp":
        return f"since {shown_moment(value)}"
    return f"{key} after {value}"


def _matching(kind: Kind, known: Sequence[Map], text: str) -> list[Map]:
    if kind is Kind.SOURCE:
        wanted = source_partition(text, known)
        return [each for each in known if same(each, wanted)]
    topic, numbers = topic_partitions(text)
    return [
        each
        for each in known
        if sink_place(each).topic == topic
        and (numbers is None or sink_place(each).partition in numbers)
    ]


def _map(text: str, option: str) -> dict[str, Any]:
    if not _is_json(text):
        return _pairs(text, option)
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{option} is not JSON: {error}: {text}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{option} must be a JSON object: {text}")
    return found


def _is_json(text: str) -> bool:
    return text.lstrip().startswith(("{", "[", '"'))


def _pairs(text: str, option: str) -> dict[str, Any]:
    pairs = [piece.partition("=") for piece in text.split(",")]
    if not text or not all(key.strip() and equals for key, equals, _ in pairs):
        raise ConfigError(
            f"{option} must be JSON or KEY=VALUE,KEY=VALUE; {text!r} is neither (values with a"
            " comma need JSON)"
        )
    return {key.strip(): value for key, _, value in pairs}


def _reads_like(partition: Map, given: Map) -> bool:
    return {key: str(value) for key, value in partition.items()} == given


def _number(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float) or value is None else text
