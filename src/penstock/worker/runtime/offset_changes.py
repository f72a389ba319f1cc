"""Offsets of a stopped connector: show, change and delete them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from penstock.api.connector import PartitionKey, SinkConnector, SourceConnector
from penstock.kafka.clients import Admin
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import BadRequestError, DataError
from penstock.worker.interface import PartitionOffset
from penstock.worker.storage.interfaces import OffsetStore

_WHERE: Final = "for a sink connector offset"
# Longer ones are out of any range, and Python refuses to read very long ones.
_WHOLE: Final = re.compile(r"[+-]?\d{1,40}", re.ASCII)
_INT_MAX: Final = 2**31 - 1
_LONG_MAX: Final = 2**63 - 1


def outcome(verb: str, *, complete: bool) -> str:
    """The REST answer; `complete`: the connector has handled offsets that it stores elsewhere."""
    if complete:
        return f"The offsets for this connector have been {verb} successfully"
    return (
        f"The Connect framework-managed offsets for this connector have been {verb} successfully."
        " However, if this connector manages offsets externally, they will need to be manually"
        f" {verb} in the system that the connector uses."
    )


class SourceOffsets:
    """Offsets of one source connector, in the offset store."""

    def __init__(self, name: str, config: Mapping[str, str], store: OffsetStore) -> None:
        self._name = name
        self._config = config
        self._store = store

    def all(self, deadline: Deadline) -> list[PartitionOffset]:
        self._store.refresh(deadline)
        return [PartitionOffset(*entry) for entry in self._store.all(self._name)]

    def alter(
        self, connector: SourceConnector, wanted: Sequence[PartitionOffset], deadline: Deadline
    ) -> str:
        complete = self._checked(connector, wanted)
        self._put(wanted, deadline)
        return outcome("altered", complete=complete)

    def reset(self, connector: SourceConnector, deadline: Deadline) -> str:
        forgotten = [PartitionOffset(each.partition, None) for each in self.all(deadline)]
        complete = self._checked(connector, forgotten)
        self._put(forgotten, deadline)
        return outcome("reset", complete=complete)

    def _checked(self, connector: SourceConnector, wanted: Sequence[PartitionOffset]) -> bool:
        if any(cast("Any", each.partition) is None for each in wanted):
            raise DataError("Partition objects cannot be null")
        by_partition = {PartitionKey.of(each.partition): each.offset for each in wanted}
        return connector.alter_offsets(self._config, by_partition)

    def _put(self, wanted: Sequence[PartitionOffset], deadline: Deadline) -> None:
        if wanted:
            entries = [(each.partition, each.offset) for each in wanted]
            self._store.put(self._name, entries, deadline)


class SinkOffsets:
    """Offsets of one sink connector: those of its consumer group."""

    def __init__(
        self, config: Mapping[str, str], group: str, make_admin: Callable[[], Admin]
    ) -> None:
        self._config = config
        self._group = group
        self._make_admin = make_admin

    def all(self, deadline: Deadline) -> list[PartitionOffset]:
        admin = self._make_admin()
        try:
            found = admin.group_offsets(self._group, deadline)
        finally:
            admin.close()
        return [_entry(partition, found[partition]) for partition in sorted(found, key=_place)]

    def alter(
        self, connector: SinkConnector, wanted: Sequence[PartitionOffset], deadline: Deadline
    ) -> str:
        offsets = dict(map(_parsed, wanted))
        complete = connector.alter_offsets(self._config, offsets)
        admin = self._make_admin()
        try:
            changed = {part: at for part, at in offsets.items() if at is not None}
            if changed:
                admin.alter_group_offsets(self._group, changed, deadline)
            removed = [part for part, at in offsets.items() if at is None]
            if removed:
                admin.delete_group_offsets(self._group, removed, deadline)
        finally:
            admin.close()
        return outcome("altered", complete=complete)

    def reset(self, connector: SinkConnector, deadline: Deadline) -> str:
        admin = self._make_admin()
        try:
            found = admin.group_offsets(self._group, deadline)
            complete = connector.alter_offsets(self._config, dict.fromkeys(found))
            admin.delete_group(self._group, deadline)
        finally:
            admin.close()
        return outcome("reset", complete=complete)


def _place(partition: TopicPartition) -> tuple[str, int]:
    return partition.topic, partition.partition


def _entry(partition: TopicPartition, offset: int) -> PartitionOffset:
    return PartitionOffset(
        {"kafka_partition": partition.partition, "kafka_topic": partition.topic},
        {"kafka_offset": offset},
    )


def _parsed(item: PartitionOffset) -> tuple[TopicPartition, int | None]:
    # The texts are Kafka Connect's: the REST API answers with them.
    partition = cast("Mapping[str, Any] | None", item.partition)
    if partition is None:
        raise BadRequestError(f"The partition {_WHERE} cannot be null or missing")
    if not {"kafka_topic", "kafka_partition"} <= partition.keys():
        raise BadRequestError(
            f"The partition {_WHERE} must contain the keys 'kafka_topic' and 'kafka_partition'"
        )
    if partition["kafka_topic"] is None:
        raise BadRequestError("Kafka topic names must be valid strings and may not be null")
    if partition["kafka_partition"] is None:
        raise BadRequestError("Kafka partitions must be valid numbers and may not be null")
    number = _whole(partition["kafka_partition"], "partition", _INT_MAX)
    target = TopicPartition(str(partition["kafka_topic"]), number)
    if item.offset is None:
        return target, None
    if "kafka_offset" not in item.offset:
        raise BadRequestError(
            "The offset for a sink connector should either be null or contain the key"
            " 'kafka_offset'"
        )
    return target, _whole(item.offset["kafka_offset"], "offset", _LONG_MAX)


def _whole(value: Any, what: str, most: int) -> int:
    shown = "null" if value is None else str(value)
    wrong = f"Failed to parse the following Kafka {what} value in the provided offsets: '{shown}'."
    rule = f"{what.capitalize()} values for sink connectors need to be integers"
    number = int(shown) if _WHOLE.fullmatch(shown) else None
    if number is None or not -most - 1 <= number <= most:
        raise BadRequestError(f"{wrong} {rule}.")
    if number < 0:
        # Connect passes it to its client, whose error is a 500; the broker would store it.
        raise BadRequestError(f"{wrong} {rule} of at least 0.")
    return number
