from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.cli.kafka import FormName
from penstock.kernel.errors import BadRequestError, DataError
from penstock.tools.broker.encodings import Decoder, Form, encoder


def test_the_command_line_has_every_form() -> None:
    assert [each.value for each in FormName] == [each.value for each in Form]


@pytest.mark.parametrize(
    ("raw", "text", "document"),
    [
        (b"plain", "plain", "plain"),
        ("ü€\n".encode(), "ü€\n", "ü€\n"),
        (b"", "", ""),
        (b'{"id": 1,\n "x": 2}', '{"id": 1,\n "x": 2}', {"id": 1, "x": 2}),
        (b"[1, 2]", "[1, 2]", [1, 2]),
        (b"12", "12", "12"),
        (b'"quoted"', '"quoted"', '"quoted"'),
        (b"{broken", "{broken", "{broken"),
        (b'{"x": NaN}', '{"x": NaN}', '{"x": NaN}'),
        (b"\x00\xff", r"\x00\xff", {"$base64": "AP8="}),
        (b"a\x01b", r"a\x01b", {"$base64": "YQFi"}),
    ],
)
def test_what_is_unknown_is_guessed(raw: bytes, text: str, document: Any) -> None:
    shown = Decoder(Form.AUTO)(raw)
    assert (shown.text, json.loads(shown.json), shown.error) == (text, document, "")
    assert "\n" not in shown.json


def test_null_is_null() -> None:
    for form in (Form.AUTO, Form.STRING, Form.LONG, Form.BYTES):
        assert Decoder(form)(None).json == "null"


def test_numbers_keep_their_digits() -> None:
    raw = b'{"n": 12345678901234567890.10}'
    assert Decoder(Form.AUTO)(raw).json == raw.decode()
    assert encoder(Form.AUTO).of_node(_loaded(raw)) == b'{"n":12345678901234567890.10}'


def _loaded(raw: bytes) -> Any:
    from penstock.tools.broker.encodings import parsed_json

    return parsed_json(raw.decode())


@pytest.mark.parametrize(
    ("form", "text", "raw"),
    [
        (Form.SHORT, "-2", b"\xff\xfe"),
        (Form.INTEGER, "258", b"\x00\x00\x01\x02"),
        (Form.LONG, "1", b"\x00\x00\x00\x00\x00\x00\x00\x01"),
        (Form.FLOAT, "0.5", b"\x3f\x00\x00\x00"),
        (Form.DOUBLE, "0.5", b"\x3f\xe0\x00\x00\x00\x00\x00\x00"),
        (Form.JSON, "[1.10, null]", b"[1.10, null]"),
        (Form.STRING, "{x", b"{x"),
    ],
)
def test_forms_there_and_back(form: Form, text: str, raw: bytes) -> None:
    assert Decoder(form)(raw).text == text
    assert encoder(form).of_text(text) == raw


def test_bytes_there_and_back() -> None:
    assert json.loads(Decoder(Form.BYTES)(b"ab").json) == {"$base64": "YWI="}
    assert encoder(Form.BYTES).of_text("YWI=") == b"ab"
    assert encoder(Form.BYTES).of_node({"$base64": "YWI="}) == b"ab"
    assert encoder(Form.AUTO).of_node({"$base64": "AP8="}) == b"\x00\xff"
    assert encoder(Form.AUTO).of_text(b"\xff".decode("utf-8", "surrogateescape")) == b"\xff"


@pytest.mark.parametrize(
    ("form", "raw", "error"),
    [
        (Form.JSON, b"{broken", "not JSON"),
        (Form.STRING, b"\xff", "not UTF-8 text"),
        (Form.LONG, b"1234", "a long has 8 bytes, not 4"),
    ],
)
def test_what_is_something_else_comes_as_bytes_with_the_reason(
    form: Form, raw: bytes, error: str
) -> None:
    shown = Decoder(form)(raw)
    assert error in shown.error
    assert "$base64" in json.loads(shown.json)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (Form.JSON, "{broken"),
        (Form.JSON, "NaN"),
        (Form.SHORT, "40000"),
        (Form.INTEGER, "1.5"),
        (Form.DOUBLE, "much"),
        (Form.BYTES, "?"),
    ],
)
def test_what_does_not_fit_is_not_written(form: Form, text: str) -> None:
    with pytest.raises(DataError):
        encoder(form).of_text(text)


def test_numbers_of_documents_are_not_rounded() -> None:
    assert encoder(Form.INTEGER).of_node(7) == b"\0\0\0\7"
    for wrong in (7.5, True, None, [7]):
        with pytest.raises(DataError):
            encoder(Form.INTEGER).of_node(wrong)


def test_infinity_is_a_text_in_json() -> None:
    assert json.loads(Decoder(Form.DOUBLE)(b"\x7f\xf0" + bytes(6)).json) == "Infinity"


@pytest.mark.parametrize("form", [Form.AVRO, Form.PROTOBUF, Form.JSON_SCHEMA])
def test_some_forms_need_a_registry(form: Form) -> None:
    with pytest.raises(BadRequestError, match="needs a schema registry"):
        Decoder(form)
    with pytest.raises(BadRequestError, match="needs a schema registry"):
        encoder(form)
