"""Request bodies: what is taken, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import BadRequestError
from penstock.wire.json import MalformedRequestError, Number, decode, encode, plain, strings
from penstock.wire.models import ConnectorOffsets, CreateConnector, OffsetEntry, named_config


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
