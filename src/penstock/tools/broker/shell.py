"""Functions for a Python shell. Those named show_* print; the others return values.

All take `servers`, as HOST:PORT, and `properties`, those of a Kafka client. Without them the
servers are PENSTOCK_BOOTSTRAP_SERVERS, else localhost:9092.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from penstock.kafka.clients import NewRecord, RawRecord, Written
from penstock.kernel.errors import BadRequestError
from penstock.kernel.times import shown_moment
from penstock.tools.broker.broker import Broker, client_properties
from penstock.tools.broker.encodings import Decoder, Form, encoder
from penstock.tools.broker.goals import Goal, to_earliest, to_last
from penstock.tools.broker.groups import Group, GroupSummary
from penstock.tools.broker.reset import Change
from penstock.tools.broker.topics import Topic

Properties = Mapping[str, str] | None


def _broker(servers: str | None, properties: Properties) -> Broker:
    return Broker(client_properties(servers, properties))


# -------------------------------------------------------------------------------------- topics


def list_topics(
    *patterns: str,
    internal: bool = False,
    servers: str | None = None,
    properties: Properties = None,
) -> list[Topic]:
    """The topics that match, as `orders` or `jdbc_*`; without a pattern all but internal ones."""
    with _broker(servers, properties) as broker:
        return broker.topics.find(*patterns, internal=internal)


def show_topics(
    *patterns: str,
    internal: bool = False,
    servers: str | None = None,
    properties: Properties = None,
) -> None:
    """Print the topics that match, with partitions, replicas and sizes."""
    found = list_topics(*patterns, internal=internal, servers=servers, properties=properties)
    _show(
        ("TOPIC", "PARTITIONS", "REPLICATION", "RECORDS"),
        [(each.name, len(each.partitions), each.replication, each.records) for each in found],
    )


def describe_topic(
    name: str, *, servers: str | None = None, properties: Properties = None
) -> Topic:
    """One topic with its partitions."""
    with _broker(servers, properties) as broker:
        return broker.topics.describe(name)


def show_topic(name: str, *, servers: str | None = None, properties: Properties = None) -> None:
    """Print the partitions of a topic, and its own settings."""
    with _broker(servers, properties) as broker:
        found = broker.topics.describe(name)
        settings = [each for each in broker.topics.settings(name) if each.source == "topic"]
    for each in settings:
        _say(f"{each.name}={each.value}")
    _show(
        ("PARTITION", "LEADER", "REPLICAS", "IN SYNC", "START", "END"),
        [
            (each.number, each.leader, _numbers(each.replicas), _numbers(each.in_sync),
             each.start, each.end)
            for each in found.partitions
        ],
    )  # fmt: skip


def create_topic(
    name: str,
    *,
    partitions: int | None = None,
    replication: int | None = None,
    settings: Mapping[str, str] | None = None,
    if_not_exists: bool = False,
    servers: str | None = None,
    properties: Properties = None,
) -> bool:
    """Create a topic; False if it existed already, which must be allowed."""
    with _broker(servers, properties) as broker:
        return broker.topics.create(
            name,
            partitions=partitions,
            replication=replication,
            settings=settings,
            if_not_exists=if_not_exists,
        )


def delete_topic(
    *patterns: str,
    force: bool = False,
    servers: str | None = None,
    properties: Properties = None,
) -> list[str]:
    """Delete the topics that match. Returns their names. Internal ones only with `force`."""
    with _broker(servers, properties) as broker:
        return broker.topics.delete(*patterns, force=force)


def alter_topic(
    name: str,
    *,
    partitions: int | None = None,
    settings: Mapping[str, str] | None = None,
    remove: Sequence[str] = (),
    servers: str | None = None,
    properties: Properties = None,
) -> None:
    """Give a topic more partitions or other settings, or reset settings to their defaults."""
    with _broker(servers, properties) as broker:
        broker.topics.alter(name, partitions=partitions, settings=settings, remove=remove)


# ------------------------------------------------------------------------------------- records


def read_messages(
    topic: str,
    start: Goal = to_earliest,
    *,
    partitions: Sequence[int] = (),
    follow: bool = False,
    servers: str | None = None,
    properties: Properties = None,
) -> Iterator[RawRecord]:
    """The records of a topic from a place on; see `penstock.tools.broker.goals` for places."""
    with _broker(servers, properties) as broker:
        yield from broker.messages.read(topic, start, partitions=partitions, follow=follow)


def show_messages(
    topic: str,
    count: int = 10,
    *,
    partitions: Sequence[int] = (),
    servers: str | None = None,
    properties: Properties = None,
) -> None:
    """Print the last records of a topic, at most this number."""
    decode = Decoder(Form.AUTO)
    with _broker(servers, properties) as broker:
        found = list(
            islice(
                broker.messages.read(topic, to_last(count), partitions=partitions),
                count * max(1, len(broker.topics.describe(topic).partitions)),
            )
        )
    latest = sorted(found, key=lambda each: (each.timestamp, each.offset))[-count:]
    _show(
        ("PARTITION", "OFFSET", "TIME", "KEY", "VALUE"),
        [
            (each.partition, each.offset, shown_moment(each.timestamp),
             decode(each.key).text, decode(each.value).text)
            for each in latest
        ],
    )  # fmt: skip


def produce(
    topic: str,
    *values: Any,
    key: Any = None,
    headers: Mapping[str, str] | None = None,
    partition: int | None = None,
    servers: str | None = None,
    properties: Properties = None,
) -> list[Written]:
    """Write records: texts and bytes as they are, None as null, everything else as JSON.

    Raises:
        BadRequestError: a key, value or header is not text, bytes or a JSON value.
        NotFoundError: there is no such topic, or partition of it.
    """
    pairs = tuple((name, _bytes(text)) for name, text in (headers or {}).items())
    records = [NewRecord(topic, _bytes(key), _bytes(each), pairs, partition) for each in values]
    with _broker(servers, properties) as broker:
        return broker.messages.write(topic, records)


def _bytes(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    try:
        return encoder(Form.AUTO).of_node(value)
    except (TypeError, ValueError) as error:
        raise BadRequestError(f"{value!r:.100} can't be written: {error}") from error


# -------------------------------------------------------------------------------------- groups


def list_groups(
    *patterns: str, servers: str | None = None, properties: Properties = None
) -> list[GroupSummary]:
    """The consumer groups that match; without a pattern all."""
    with _broker(servers, properties) as broker:
        return broker.groups.find(*patterns)


def show_groups(*patterns: str, servers: str | None = None, properties: Properties = None) -> None:
    """Print the consumer groups that match."""
    found = list_groups(*patterns, servers=servers, properties=properties)
    _show(
        ("GROUP", "STATE", "MEMBERS", "TYPE"),
        [(each.name, each.state, each.members, each.type) for each in found],
    )


def describe_group(
    name: str, *, servers: str | None = None, properties: Properties = None
) -> Group:
    """One group: its members and offsets."""
    with _broker(servers, properties) as broker:
        return broker.groups.describe(name)


def show_group(name: str, *, servers: str | None = None, properties: Properties = None) -> None:
    """Print the offset, lag and reader of each partition of a group."""
    found = describe_group(name, servers=servers, properties=properties)
    _show(
        ("TOPIC", "PARTITION", "CURRENT", "END", "LAG", "MEMBER"),
        [
            (each.topic, each.partition, each.current, each.end, each.lag,
             each.member.client_id if each.member else None)
            for each in found.partitions
        ],
    )  # fmt: skip
    _say(f"{name} is {found.state}; {found.lag} records behind.")


def reset_group(
    name: str,
    goal: Goal,
    *topics: str,
    execute: bool = False,
    servers: str | None = None,
    properties: Properties = None,
) -> list[Change]:
    """Plan new offsets of a group and, with `execute`, commit them. Returns the changes.

    Without topics (`orders` or `orders:0,2`) all that the group has committed offsets for.
    """
    with _broker(servers, properties) as broker:
        changes = broker.resets.plan(name, goal, topics, all_topics=not topics)
        if execute:
            broker.resets.execute(changes)
        return changes


def delete_group(
    *patterns: str, servers: str | None = None, properties: Properties = None
) -> list[str]:
    """Delete the groups that match, and their offsets. Returns their names."""
    with _broker(servers, properties) as broker:
        return broker.groups.delete(*patterns)


# ------------------------------------------------------------------------------------ printing


def _numbers(found: Sequence[int]) -> str:
    return ",".join(map(str, found))


def _show(titles: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    cells = [titles, *([("" if each is None else str(each)) for each in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        line = "  ".join(each.ljust(width) for each, width in zip(row, widths, strict=True))
        _say(line.rstrip())


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
