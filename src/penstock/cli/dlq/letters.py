"""A dead letter: the record as it was, and the story that its headers tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from penstock.data import dead_letters as names
from penstock.data.record import KafkaRecord


@dataclass(frozen=True, slots=True)
class Letter:
    """A record of a dead letter topic.

    Attributes:
        headers: without those of the story.
        story: what the context headers say, by their names without the prefix; empty if the
            connector did not write any.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    story: Mapping[str, str]

    @classmethod
    def of(cls, record: KafkaRecord) -> Letter:
        own = [(name, value) for name, value in record.headers or () if not _is_story(name)]
        story = {
            name.removeprefix(names.HEADER_PREFIX): (value or b"").decode(errors="replace")
            for name, value in record.headers or ()
            if _is_story(name)
        }
        place = (record.topic, record.partition, record.offset, record.timestamp)
        return cls(*place, record.key, record.value, tuple(own), story)

    @property
    def connector(self) -> str:
        return self.story.get(names.CONNECTOR, "")

    @property
    def stage(self) -> str:
        return self.story.get(names.STAGE, "")

    @property
    def error(self) -> str:
        return self.story.get(names.MESSAGE, "")

    @property
    def original_topic(self) -> str:
        return self.story.get(names.TOPIC, "")

    @property
    def original_partition(self) -> int | None:
        return _number(self.story.get(names.PARTITION))

    @property
    def original_offset(self) -> int | None:
        return _number(self.story.get(names.OFFSET))

    @property
    def of_source(self) -> bool:
        """Whether a source wrote it: such a record never had a place in Kafka."""
        return bool(self.story) and self.original_offset is None

    @property
    def place(self) -> str:
        """Where in the dead letter topic it stands."""
        return f"{self.topic}-{self.partition}, offset {self.offset}"


def _is_story(name: str) -> bool:
    return name.startswith(names.HEADER_PREFIX)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which letters are meant; what is empty does not matter."""

    connector: str = ""
    stage: str = ""
    original_topic: str = ""
    error: str = ""

    def __contains__(self, letter: Letter) -> bool:
        return (
            self.connector in ("", letter.connector)
            and self.stage.upper() in ("", letter.stage)
            and self.original_topic in ("", letter.original_topic)
            and self.error.casefold() in letter.error.casefold()
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Letters that are alike."""

    connector: str
    original_topic: str
    stage: str
    error: str
    count: int
    last: int


class Tally:
    """Counts letters by connector, topic, stage and error, without keeping them."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, str], tuple[int, int]] = {}

    def add(self, letter: Letter) -> None:
        alike = (letter.connector, letter.original_topic, letter.stage, error_kind(letter.error))
        count, last = self._found.get(alike, (0, 0))
        self._found[alike] = (count + 1, max(last, letter.timestamp))

    @property
    def groups(self) -> list[Group]:
        """The most frequent first."""
        groups = [Group(*alike, count, last) for alike, (count, last) in self._found.items()]
        return sorted(groups, key=lambda group: (-group.count, group.connector, group.error))


_OF_ONE_RECORD: Final = re.compile(
    r"(?<!\w)'[^']*'|\"[^\"]*\"|\([^()]*\)|\d+"  # not after a letter: can't is no quote
)
_LONGEST: Final = 160


def error_kind(message: str) -> str:
    """An error without what differs from record to record: numbers, and texts in quotes."""
    line = message.strip().partition("\n")[0]
    return _OF_ONE_RECORD.sub("…", line)[:_LONGEST]
