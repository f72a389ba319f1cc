from __future__ import annotations

import pytest

from penstock.kafka.clients import NewRecord
from penstock.kernel.errors import DataError
from penstock.tools.broker.encodings import Form, encoder
from penstock.tools.broker.lines import Lines

TEXT = encoder(Form.AUTO)


def records(lines: Lines, *texts: str) -> list[NewRecord]:
    return list(lines.records(texts))


def test_lines_are_values() -> None:
    lines = Lines("t", TEXT, TEXT, key="k", headers=[("h", b"1")], partition=2)
    assert records(lines, "a", "") == [
        NewRecord("t", b"k", b"a", (("h", b"1"),), 2),
        NewRecord("t", b"k", b"", (("h", b"1"),), 2),
    ]


def test_a_separator_stands_behind_the_key() -> None:
    lines = Lines("t", TEXT, TEXT, separator="##")
    assert records(lines, "a##b##c", "##", "k##") == [
        NewRecord("t", b"a", b"b##c"),
        NewRecord("t", b"", b""),
        NewRecord("t", b"k", b""),
    ]


def test_what_is_empty_may_be_null() -> None:
    lines = Lines("t", TEXT, TEXT, separator=":", null_empty=True)
    assert records(lines, "a:", ":b") == [NewRecord("t", b"a", None), NewRecord("t", None, b"b")]


def test_objects_have_it_all() -> None:
    found = records(
        Lines("t", TEXT, TEXT, is_json=True),
        '{"value": {"id": 1.10}}',
        '{"key": null, "value": null, "partition": 0, "timestamp": 5, "headers": {"a": "x"}}',
        '{"key": [1], "value": "text", "topic": "u", "offset": 9, "timestamp_type": "CreateTime",'
        ' "headers": [{"key": "a", "value": null}, {"key": "a", "value": {"$base64": "/w=="}}]}',
    )
    assert found == [
        NewRecord("t", None, b'{"id":1.10}'),
        NewRecord("t", None, None, (("a", b"x"),), 0, 5),
        NewRecord("t", b"[1]", b"text", (("a", None), ("a", b"\xff"))),
    ]


def test_the_key_and_partition_of_all_win_over_those_of_an_object() -> None:
    lines = Lines("t", TEXT, TEXT, key="k", headers=[("h", b"1")], partition=1, is_json=True)
    assert records(lines, '{"key": "own", "value": 1, "partition": 0}', '{"value": 2}') == [
        NewRecord("t", b"k", b"1", (("h", b"1"),), 1),
        NewRecord("t", b"k", b"2", (("h", b"1"),), 1),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{broken", "line 2: '{broken' is not JSON"),
        ("[1]", "line 2: not an object with key and value"),
        ('{"valeu": 1}', "line 2: valeu is unknown; there are key, value, headers"),
        ('{"partition": "0"}', "line 2: partition must be a whole number"),
        ('{"timestamp": -1}', "line 2: timestamp must be a whole number"),
        ('{"headers": "a=b"}', "line 2: headers must be"),
        ('{"headers": [{"name": "a"}]}', "line 2: a header must be"),
        ('{"headers": {"a": 1}}', "line 2: header a must be a text"),
    ],
)
def test_a_wrong_line_is_named(text: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        records(Lines("t", TEXT, TEXT, is_json=True), '{"value": 1}', text)


def test_a_line_without_a_separator_is_named() -> None:
    with pytest.raises(DataError, match=r"f\.txt, line 2: no separator '#' between key and value"):
        list(Lines("t", TEXT, TEXT, separator="#").records(["a#b", "c"], "f.txt, "))
