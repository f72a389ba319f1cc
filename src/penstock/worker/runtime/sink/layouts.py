"""Sorts records into runs of one layout, each for one plan, and records that can't be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from penstock.api.converter import Converter, Layout
from penstock.columns.types import arrow_type
from penstock.kernel.errors import DataError
from penstock.worker.pipeline.faults import Fault
from penstock.worker.pipeline.inline_records import Retry, once, why

if TYPE_CHECKING:
    from penstock.kernel.data.record import KafkaRecord
    from penstock.worker.pipeline.pipeline import Converters


@dataclass(frozen=True, slots=True)
class Layouts:
    """The layouts of the keys and the values of a batch."""

    key: Layout
    value: Layout

    @property
    def regular(self) -> bool:
        return self.key.regular and self.value.regular


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive records that have the same layouts."""

    layouts: Layouts
    records: Sequence[KafkaRecord]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A record that no converter can read, and why."""

    record: KafkaRecord
    fault: Fault


@dataclass(frozen=True, slots=True)
class SortedOut:
    """Records by how to read them. Those that can't be read are in no run.

    If they are not tolerated, there is at most one, and no run goes beyond it.
    """

    runs: Sequence[Run]
    unreadable: Sequence[Unreadable] = ()


def sort_out(
    records: Sequence[KafkaRecord],
    converters: Converters,
    *,
    tolerant: bool,
    retry: Retry = once,
) -> SortedOut:
    """Split records where their layouts change, in their order.

    Args:
        records: in their order.
        converters: those of the connector.
        tolerant: whether to continue after a record that can't be read.
        retry: calls a converter, and again if it raises RetriableError.
    """
    if converters.uniform:
        layouts = retry(lambda: Layouts(converters.key.layout(None), converters.value.layout(None)))
        return SortedOut([Run(layouts, records)])
    known: Layouts | None = None
    readable: list[tuple[Layouts, KafkaRecord]] = []
    unreadable: list[Unreadable] = []
    for record in records:
        found = _looked_at(record, converters, known, retry)
        if isinstance(found, Layouts):
            known = found
            readable.append((found, record))
            continue
        unreadable.append(Unreadable(record, found))
        if not tolerant:
            break
    groups = groupby(readable, key=lambda entry: entry[0])
    runs = [Run(layouts, [record for _, record in group]) for layouts, group in groups]
    return SortedOut(runs, unreadable)


def _looked_at(
    record: KafkaRecord,
    converters: Converters,
    known: Layouts | None,
    retry: Retry,
) -> Layouts | Fault:
    """The record's layouts, or why it can't be read."""
    usual_key, usual_value = (known.key, known.value) if known else (None, None)
    sides = (
        ("KEY_CONVERTER", converters.key, record.key, usual_key),
        ("VALUE_CONVERTER", converters.value, record.value, usual_value),
    )
    layouts: list[Layout] = []
    for stage, converter, data, usual in sides:
        try:
            layouts.append(retry(partial(_layout, converter, data, usual)))
        except DataError as error:
            place = (record.topic, record.partition, record.offset)
            return Fault(stage, converter.class_name(), why(error), *place)
    return Layouts(*layouts)


def _layout(converter: Converter, data: bytes | None, usual: Layout | None) -> Layout:
    # Null bytes decode to null in every layout: they need no run of their own.
    layout = usual if data is None and usual is not None else converter.layout(data)
    if layout == usual and layout.regular:
        return usual
    schema = layout.schema if layout.regular else converter.decode_one(data).schema
    if schema is not None:
        arrow_type(schema)  # Raises if no column can hold it.
    return layout
