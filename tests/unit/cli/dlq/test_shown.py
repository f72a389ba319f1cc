"""Letters for people and for scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from penstock.cli.dlq.letter_views import (
    counted,
    data_json,
    data_text,
    letter_json,
    letter_lines,
    moment,
    print_groups,
    print_letters,
)
from penstock.cli.dlq.letters import Letter, Tally
from tests.unit.cli.dlq.test_letters import SINK, letter


def test_bytes() -> None:
    assert [data_json(each) for each in (None, b"", "ä".encode(), b"\xff\x00")] == [
        None,
        {"text": ""},
        {"text": "ä"},
        {"hex": "ff00"},
    ]
    shown = [data_text(each) for each in (None, b"", "ä\n".encode(), b"\xff", b"\x00\x01")]
    assert shown == ["null", "", "ä\n", "0xff", "0x0001"]
    assert data_text(b"x" * 5000).endswith("… (5000 bytes)")


def test_moments() -> None:
    assert moment(1_700_000_000_123) == "2023-11-14 22:13:20"
    assert moment(-1) == "-"


def test_a_letter_for_people() -> None:
    lines = letter_lines(letter())
    assert lines[0] == "dead-0, offset 7   1970-01-01 00:00:01"
    assert "  from       orders-2, offset 33" in lines
    assert "  step       VALUE_CONVERTER org.example.Converter" in lines
    assert "  header     trace: abc" in lines
    assert "no context headers" in "\n".join(letter_lines(letter({})))
    of_source = {name: SINK[name] for name in ("topic", "connector.name", "stage")}
    assert "a source, on its way to topic orders" in "\n".join(letter_lines(letter(of_source)))


def test_a_letter_for_scripts() -> None:
    found = json.loads(json.dumps(letter_json(letter())))
    assert found["original"] == {"topic": "orders", "partition": 2, "offset": 33}
    assert found["class"] == "org.example.Converter"
    assert found["value"] == {"text": "v"}
    assert found["headers"][1] == {"key": "empty", "value": None}


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 letters"), (1, "1 letter"), (2, "2 letters"), (1001, "1001 letters")]
)
def test_letters_are_counted_in_english(count: int, text: str) -> None:
    assert counted(count) == text


def test_letters_are_printed_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    def coming() -> Iterator[Letter]:
        yield letter()
        assert "dead-0, offset 7" in capsys.readouterr().out
        yield letter(offset=8)

    assert print_letters(coming()) == 2
    assert print_letters([]) == 0


def test_a_group_is_one_line_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    tally = Tally()
    tally.add(letter({**SINK, "exception.message": "long " * 30}))
    print_groups(tally.groups)
    title, line = capsys.readouterr().out.splitlines()
    assert title.split()[:2] == ["CONNECTOR", "ORIGINAL"]
    assert line.split()[:4] == ["sink", "orders", "VALUE_CONVERTER", "1"]
