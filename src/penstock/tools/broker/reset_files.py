"""Files of offsets, as kafka-consumer-groups exports and imports them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import BadRequestError
from penstock.tools.broker.reset import Change


def to_csv(changes: Sequence[Change]) -> str:
    """The new offsets as Kafka's tool exports them; with the group if there are several."""
    return _csv(changes, [(each, each.new) for each in changes])


def old_csv(changes: Sequence[Change]) -> str:
    """The old offsets in the same form; partitions without one are left out."""
    return _csv(changes, [(each, each.old) for each in changes if each.old is not None])


def _csv(changes: Sequence[Change], offsets: Sequence[tuple[Change, int]]) -> str:
    several = len({each.group for each in changes}) > 1
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for each, offset in offsets:
        row = (each.topic, each.partition, offset)
        writer.writerow((each.group, *row) if several else row)
    return text.getvalue()


def from_csv(text: str, groups: Sequence[str], where: str) -> dict[str, dict[TopicPartition, int]]:
    """The offsets of such a file, for each group.

    Args:
        text: lines of `topic,partition,offset`, or `group,topic,partition,offset`.
        groups: the groups that were named; lines without one are for the only one of them.
        where: the name of the file, for errors.

    Raises:
        BadRequestError: a line can't be used; the text names it.
    """
    found: dict[str, dict[TopicPartition, int]] = {}
    reader = csv.reader(io.StringIO(text), skipinitialspace=True)
    for row in reader:
        if not row or row[0].lstrip().startswith("#"):
            continue
        group, topic, partition, offset = _line(row, groups, f"{where}, line {reader.line_num}")
        found.setdefault(group, {})[TopicPartition(topic, partition)] = offset
    if not found:
        raise BadRequestError(f"{where} has no offsets")
    return found


def _line(row: Sequence[str], groups: Sequence[str], where: str) -> tuple[str, str, int, int]:
    cells = [cell.strip() for cell in row]
    if len(cells) == 3 and len(groups) == 1:
        cells = [groups[0], *cells]
    if len(cells) != 4 or not (cells[2].isdecimal() and cells[3].lstrip("-").isdecimal()):
        form = "topic,partition,offset" if len(groups) == 1 else "group,topic,partition,offset"
        raise BadRequestError(f"{where}: expected {form}, got {','.join(row)}")
    group, topic, partition, offset = cells
    if groups and group not in groups:
        raise BadRequestError(f"{where}: group {group} was not named on the command line")
    return group, topic, int(partition), int(offset)
