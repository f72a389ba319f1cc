"""Names and patterns of topics and groups: `orders` is one name, `jdbc_*` all that match."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from typing import Final

from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import BadRequestError, NotFoundError

_WILD: Final = re.compile(r"[*?\[]")
_OWN: Final = re.compile(r"__|_schemas$|_confluent")
_LEGAL: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")


def is_pattern(text: str) -> bool:
    """Whether it has wildcards."""
    return bool(_WILD.search(text))


def is_internal(topic: str) -> bool:
    """Whether a topic belongs to Kafka or a service of it, by its name."""
    return bool(_OWN.match(topic))


def chosen(names: Collection[str], patterns: Iterable[str], what: str) -> list[str]:
    """The names that match the patterns, sorted, each once.

    A pattern that is an existing name matches that alone: group names may have any characters.

    Raises:
        NotFoundError: a name or a pattern matches none of them.
    """
    found: set[str] = set()
    for pattern in patterns:
        matching = {pattern} if pattern in names else _like(names, pattern)
        if not matching:
            raise NotFoundError(
                f"no {what} matches {pattern}"
                if is_pattern(pattern)
                else f"there is no {what} {pattern}"
            )
        found |= matching
    return sorted(found)


def _like(names: Collection[str], pattern: str) -> set[str]:
    return {name for name in names if is_pattern(pattern) and fnmatchcase(name, pattern)}


def check_topic_name(name: str) -> None:
    """Raise BadRequestError if a topic can't have this name."""
    if not _LEGAL.fullmatch(name) or name in (".", ".."):
        raise BadRequestError(
            f"{name!r} can't be the name of a topic: use only letters, digits, '.', '_' and '-',"
            " at most 249"
        )


def topic_partitions(text: str) -> tuple[str, tuple[int, ...] | None]:
    """A topic, and the partitions named behind a colon: `orders` or `orders:0,2`.

    Raises:
        BadRequestError: the part after the colon is not a list of numbers.
    """
    topic, colon, rest = text.partition(":")
    if not colon:
        return topic, None
    numbers = rest.split(",")
    if not topic or not all(number.strip().isdecimal() for number in numbers):
        raise BadRequestError(f"{text!r} must be TOPIC or TOPIC:0,1,2 with numbers of partitions")
    return topic, tuple(sorted({int(number) for number in numbers}))


def in_order(partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
    """By topic, then by number."""
    return sorted(partitions, key=lambda each: (each.topic, each.partition))
