"""A dead letter: the original record, and the story of its failure from the context headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from penstock.kernel.data import dead_letters as names
from penstock.kernel.data.record import KafkaRecord


@dataclass(frozen=True, slots=True)
class Letter:
    """A record of a dead letter topic.

    Attributes:
        headers: the record's own, without the context headers.
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
    def size(self) -> int:
        """The size in bytes of the record to write back."""
        headers = sum(len(name) + len(value or b"") for name, value in self.headers)
        return len(self.key or b"") + len(self.value or b"") + headers

    @property
    def place(self) -> str:
        """Its partition and offset in the dead letter topic."""
        return f"{self.topic}-{self.partition}, offset {self.offset}"


def _is_story(name: str) -> bool:
    return name.startswith(names.HEADER_PREFIX)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None


@dataclass(frozen=True, slots=True)
class LetterFilter:
    """Which letters to use; an empty field matches all."""

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


_Alike = tuple[str, str, str, str]
_OTHERS: Final[_Alike] = ("", "", "", "(other errors)")


class Tally:
    """Counts letters by connector, topic, stage and error, without keeping them.

    If there are more than `most` groups, the rare ones are merged into one, so the sum stays right.
    """

    def __init__(self, most: int = 1000) -> None:
        self._most = most
        self._found: dict[_Alike, tuple[int, int]] = {}
        self._others = (0, 0)

    def add(self, letter: Letter) -> None:
        alike = (
            _short(letter.connector),
            _short(letter.original_topic),
            _short(letter.stage),
            error_kind(letter.error),
        )
        self._found[alike] = _both(self._found.get(alike, (0, 0)), (1, letter.timestamp))
        if len(self._found) > self._most:
            self._fold()

    def _fold(self) -> None:
        # Half of them at once: otherwise each new kind would sort them all.
        by_count = sorted(self._found, key=lambda alike: self._found[alike][0])
        for alike in by_count[: (len(by_count) + 1) // 2]:
            self._others = _both(self._others, self._found.pop(alike))

    @property
    def groups(self) -> list[Group]:
        """The most frequent first; the merged rare ones last."""
        groups = [Group(*alike, count, last) for alike, (count, last) in self._found.items()]
        groups.sort(key=lambda group: (-group.count, group.connector, group.error))
        return [*groups, Group(*_OTHERS, *self._others)] if self._others[0] else groups


def _both(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], max(one[1], other[1])


_OF_ONE_RECORD: Final = re.compile(
    r"(?<!\w)'[^']*'|\"[^\"]*\"|\([^()]*\)|\d+"  # not after a letter: can't is no quote
)
_LONGEST: Final = 160
_LONGEST_NAME: Final = 249  # of a topic, in Kafka


def _short(name: str) -> str:
    return name[:_LONGEST_NAME]


def error_kind(message: str) -> str:
    """An error without what differs from record to record: numbers, and texts in quotes."""
    line = message.strip().partition("\n")[0]
    return _OF_ONE_RECORD.sub("…", line)[:_LONGEST]
