"""Request bodies: what is taken, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.kernel.errors import BadRequestError, MalformedRequestError
from penstock.kernel.wire.json import Number, decode, encode, plain, strings
from penstock.kernel.wire.models import ConnectorOffsets, CreateConnector, OffsetEntry, named_config


def test_numbers_keep_their_text_until_they_are_needed_as_numbers() -> None:
    found = decode(b'{"a": 1.50, "b": [12345678901234567890], "c": true, "d": null, "e": -0}')
    assert strings({**found, "b": "x"}, "it") == {
        "a": "1.50",
        "b": "x",
        "c": "true",
        "d": None,
        "e": "-0",
    }
    assert plain(found) == {"a": 1.5, "b": [12345678901234567890], "c": True, "d": None, "e": 0}
    assert isinstance(plain(Number("7")), int)


def test_text_goes_out_as_utf8_without_blanks() -> None:
    assert encode({"a": ["ä", None]}) == '{"a":["ä",null]}'.encode()


@pytest.mark.parametrize("body", [b"", b"  \n"])
def test_an_empty_body_is_no_value(body: bytes) -> None:
    assert decode(body) is None


@pytest.mark.parametrize(
    "body",
    [b"{", b"{'a':1}", b'{"a":NaN}', b'{"a":01}', b"{} x", b'{"a":"\n"}', b"\xff", b"[" * 99999],
)
def test_what_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedRequestError, match="not valid JSON"):
        decode(body)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (None, "no body"),
        ([], "must be a JSON object"),
        ({"name": ["a"]}, "name is an array"),
        ({"config": {"a": {}}}, r'config\["a"\] is an object'),
        ({"config": "x"}, "config must be a JSON object"),
        ({"more": 1}, 'has no field "more"'),
        ({"initial_state": "ASLEEP"}, "initial_state is ASLEEP"),
    ],
)
def test_creates_that_can_not_be_read(body: Any, words: str) -> None:
    with pytest.raises(MalformedRequestError, match=words):
        CreateConnector.of(body)


def test_the_initial_state_is_a_target_state_in_any_case() -> None:
    body = {"name": "c", "config": {}, "initial_state": "running"}
    assert CreateConnector.of(body).initial_state == "STARTED"


def test_a_config_carries_its_connectors_name() -> None:
    assert named_config("c", {"a": "b"}) == {"a": "b", "name": "c"}
    with pytest.raises(BadRequestError, match=r"\(b\) doesn't match .* URL \(c\)"):
        named_config("c", {"name": "b"})
    with pytest.raises(MalformedRequestError):
        named_config("c", None)


def test_offsets_with_nulls() -> None:
    body = decode(b'{"offsets":[{"partition":{"f":1},"offset":null},{}]}')
    found = ConnectorOffsets.of(body)
    assert found.offsets == (OffsetEntry({"f": 1}, None), OffsetEntry(None, None))
    assert ConnectorOffsets.of({"offsets": None}).offsets == ()


@pytest.mark.parametrize(
    "body", [None, [], {"more": 1}, {"offsets": {}}, {"offsets": ["x"]}, {"offsets": [{"a": 1}]}]
)
def test_offsets_that_can_not_be_read(body: Any) -> None:
    with pytest.raises(MalformedRequestError):
        ConnectorOffsets.of(body)


def test_a_comment_is_named_where_it_is_in_the_way() -> None:
    body = b'{"name": "c",\n "config": {\n  # where from\n  "file": "x"}}'
    words = r"line 3 column 3 .*\. JSON has no comments; use YAML, which has them: `penstock"
    with pytest.raises(MalformedRequestError, match=words):
        decode(body)
    with pytest.raises(MalformedRequestError, match="JSON has no comments"):
        decode(b'{"name": "c" // who\n}')
    with pytest.raises(MalformedRequestError, match=r"\(char 10\)$"):
        decode(b'{"a": "#" x}')


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"a": ' + b"7" * 5000 + b"}", "a number of 5000 characters"),
        (b'{"a": 0.' + b"7" * 5000 + b"}", "a number of 5002 characters"),
        (b'{"a": "x\\ud800"}', r"has \\ud800 in a text: half a character"),
        (b'{"\\udc00": 1}', r"has \\udc00 in a text"),
    ],
)
def test_numbers_and_texts_that_nothing_can_be_done_with(body: bytes, words: str) -> None:
    with pytest.raises(BadRequestError, match=words):
        decode(body)


def test_both_halves_of_a_character_are_one() -> None:
    assert decode(b'{"a": "\\ud83d\\ude00"}') == {"a": "\N{GRINNING FACE}"}


def test_a_half_character_in_bytes_is_no_json() -> None:
    with pytest.raises(MalformedRequestError, match="not valid JSON"):
        decode(b'{"a": "\xed\xa0\x80"}')


@pytest.mark.parametrize("value", [Number("1e400"), [Number("-1E999")]])
def test_numbers_beyond_all_measure_are_refused(value: Any) -> None:
    with pytest.raises(BadRequestError, match="too large"):
        plain(value)


def test_too_many_levels_are_refused() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(BadRequestError, match="too many levels"):
        plain(deep)
