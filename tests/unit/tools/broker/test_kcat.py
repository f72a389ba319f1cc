from __future__ import annotations

import pytest

from penstock.kafka.clients import RawRecord
from penstock.kernel.errors import BadRequestError
from penstock.tools.broker.kcat import compile_format, unescaped

RECORD = RawRecord("t", 3, 7, 1_700_000_000_000, 1, b"key", b"value", [("a", b"1"), ("b", None)])
EMPTY = RawRecord("t", 3, 8, -1, 0, None, None, None)


def rendered(text: str, record: RawRecord = RECORD, null: bytes = b"") -> bytes:
    return compile_format(text, lambda raw: raw or b"", lambda raw: raw or b"", null)(record)


def test_the_format_strings_of_people_who_use_kcat() -> None:
    assert rendered(r"Key:%k Partitions: %p \n") == b"Key:key Partitions: 3 \n"
    text = r'{"Key": %k , "Payload": %s, "Partition": %p,  "Offset": %o }\n'
    assert rendered(text) == b'{"Key": key , "Payload": value, "Partition": 3,  "Offset": 7 }\n'


def test_every_field() -> None:
    assert rendered("%t|%T|%K|%S|%h|%%") == b"t|1700000000000|3|5|a=1,b=NULL|%"
    assert rendered("%R%s") == b"\0\0\0\5value"
    assert rendered("%k|%s|%K|%S|%T|%h", EMPTY) == b"||-1|-1|-1|"
    assert rendered("%k|%s", EMPTY, b"NULL") == b"NULL|NULL"
    assert rendered("%R", EMPTY) == b"\xff\xff\xff\xff"


def test_escapes() -> None:
    assert rendered(r"\t\r\n\x41\\ü") == b"\t\r\nA\\\xc3\xbc"
    assert unescaped(r"\t") == "\t"
    assert unescaped("###") == "###"
    assert unescaped(r"%\x1f") == "%\x1f"


def test_what_is_unknown_is_named() -> None:
    with pytest.raises(BadRequestError, match="%q is unknown in a format; there are %k %s"):
        compile_format("%k %q", lambda raw: raw or b"", lambda raw: raw or b"")
