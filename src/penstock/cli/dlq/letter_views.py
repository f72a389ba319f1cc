"""Letters as people and scripts read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from penstock.cli.dlq.letters import Group, Letter
from penstock.cli.formats import Output, show
from penstock.cli.output import say
from penstock.kernel.data import dead_letters as names

_LONGEST: Final = 2000
_UNKNOWN: Final = "-"


def counted(letters: int) -> str:
    """A number of letters in words."""
    return "1 letter" if letters == 1 else f"{letters} letters"


def moment(milliseconds: int) -> str:
    """A time in UTC; a dash if there is none."""
    if milliseconds < 0:
        return _UNKNOWN
    return datetime.fromtimestamp(milliseconds // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def data_json(data: bytes | None) -> dict[str, str] | None:
    """Bytes for scripts: `text` if they are UTF-8, else `hex`."""
    if data is None:
        return None
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"hex": data.hex()}


def data_text(data: bytes | None) -> str:
    """Bytes for people: text, or hexadecimal if they are not printable text."""
    if data is None:
        return "null"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = ""
    if not all(letter.isprintable() or letter in "\t\n" for letter in text) or (data and not text):
        text = f"0x{data.hex()}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(data)} bytes)"


def letter_json(letter: Letter) -> dict[str, Any]:
    """A letter for scripts."""
    return {
        "topic": letter.topic,
        "partition": letter.partition,
        "offset": letter.offset,
        "timestamp": letter.timestamp,
        "connector": letter.connector or None,
        "task": letter.story.get(names.TASK),
        "stage": letter.stage or None,
        "class": letter.story.get(names.CLASS),
        "error": letter.error or None,
        "original": {
            "topic": letter.original_topic or None,
            "partition": letter.original_partition,
            "offset": letter.original_offset,
        },
        "key": data_json(letter.key),
        "value": data_json(letter.value),
        "headers": [{"key": name, "value": data_json(value)} for name, value in letter.headers],
    }


def letter_lines(letter: Letter) -> list[str]:
    """A letter for people."""
    rows = [("from", _origin(letter))]
    if letter.story:
        plugin, task = letter.story.get(names.CLASS, ""), letter.story.get(names.TASK, _UNKNOWN)
        rows += [
            ("connector", f"{letter.connector}, task {task}"),
            ("step", f"{letter.stage} {plugin}"),
            ("error", letter.error),
        ]
    rows += [("key", data_text(letter.key)), ("value", data_text(letter.value))]
    rows += [("header", f"{name}: {data_text(value)}") for name, value in letter.headers]
    return [
        f"{letter.place}   {moment(letter.timestamp)}",
        *(f"  {name:<10} {text}" for name, text in rows),
    ]


def _origin(letter: Letter) -> str:
    if not letter.story:
        return "unknown: it has no context headers"
    if letter.of_source:
        return f"a source, on its way to topic {letter.original_topic}"
    return f"{letter.original_topic}-{letter.original_partition}, offset {letter.original_offset}"


def print_groups(groups: Sequence[Group]) -> None:
    rows = [
        {
            "connector": group.connector or _UNKNOWN,
            "original_topic": group.original_topic or _UNKNOWN,
            "step": group.stage or _UNKNOWN,
            "letters": group.count,
            "last (UTC)": moment(group.last),
            "error": group.error or _UNKNOWN,
        }
        for group in groups
    ]
    show(rows, Output.TABLE)


def print_topics(topics: Iterable[Mapping[str, Any]]) -> None:
    rows = [
        {
            "dead_letter_topic": each["topic"],
            "connectors": ", ".join(each["connectors"]) or _UNKNOWN,
            "letters": each["letters"] if each["exists"] else "does not exist yet",
            "replayed": each["replayed"],
        }
        for each in topics
    ]
    show(rows, Output.TABLE)


def group_json(group: Group) -> dict[str, Any]:
    return asdict(group)


def print_letters(letters: Iterable[Letter]) -> int:
    """Print them as they come. Returns how many there were."""
    count = 0
    for count, letter in enumerate(letters, 1):  # noqa: B007
        say("\n".join(letter_lines(letter)))
        say("")
    return count
