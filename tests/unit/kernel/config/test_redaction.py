"""Passwords in addresses are hidden wherever they turn up; the text around them stays."""

from __future__ import annotations

import time

import pytest

from penstock.kernel.config.redaction import (
    has_mask,
    is_reference,
    without_passwords,
    without_value,
)
from penstock.testing.waiting import patient


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://a:b@c/d and x://y", "http://a:[hidden]@c/d and x://y"),
        ("postgresql://u:p@ss@host/db", "postgresql://u:[hidden]@host/db"),
        ("mysql://u:p/ss@h", "mysql://u:[hidden]@h"),
        ("mysql://u:p?token=x@h", "mysql://u:[hidden]@h"),
        ("redis://:secret@h:6379/0", "redis://:[hidden]@h:6379/0"),
        ("amqp://u:p@h1,amqp://v:q@h2", "amqp://u:[hidden]@h1,amqp://v:[hidden]@h2"),
        ("mongodb://u:p@h1:27017,h2:27017/x", "mongodb://u:[hidden]@h1:27017,h2:27017/x"),
        ("jdbc:oracle:thin:scott/tiger@//h:1521/x", "jdbc:oracle:thin:scott/[hidden]@//h:1521/x"),
        ("jdbc:pg://h/db?user=a&password=x&b=c", "jdbc:pg://h/db?user=a&password=[hidden]&b=c"),
        ("jdbc:pg://h:5432/db?password=a@b/c", "jdbc:pg://h:5432/db?password=[hidden]"),
        ("jdbc:sqlserver://h;Password=p;x=y", "jdbc:sqlserver://h;Password=[hidden];x=y"),
        ("jdbc:sqlserver://h:1;password={a b;c};x=y", "jdbc:sqlserver://h:1;password=[hidden];x=y"),
        ("jdbc:mysql://h/d?trustStorePassword=x", "jdbc:mysql://h/d?trustStorePassword=[hidden]"),
        ('{"url":"jdbc:pg://h?pwd=a\'b","x":1}', '{"url":"jdbc:pg://h?pwd=[hidden]","x":1}'),
        ("https://h?api_key=abc&q=1", "https://h?api_key=[hidden]&q=1"),
    ],
)
def test_they_are_hidden(text: str, shown: str) -> None:
    assert without_passwords(text) == shown
    assert without_passwords(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "http://127.0.0.1:8083/connectors/a@b",
        "http://[::1]:8083/connectors/a@b",
        "jdbc:mysql://h1:3306,h2:3306/db?user=a@b",
        "mail somebody@example.com about http://h:80",
        "jdbc:pg://h/db?user=a&password=${env:PASSWORD}&x=y",
        "http://${env:USER}:${file:/etc/x:password}@h",
        "SELECT a FROM b WHERE c = 'd?e' AND f = :g",
    ],
)
def test_what_is_no_password_stays(text: str) -> None:
    assert without_passwords(text) == text


def test_what_follows_in_a_trace_stays() -> None:
    trace = (
        "x.ConnectError: no connection to jdbc:pg://h/db?user=a&password=abc\n"
        "\tat x.Y.z(Y.java:7)\n"
        "Caused by: y.SqlError: postgresql://u:p@ss/w@host refused: no route; 3 tries\n"
        "\tat x.Y.a(Y.java:8)"
    )
    hidden = trace.replace("=abc", "=[hidden]").replace(":p@ss/w@", ":[hidden]@")
    assert without_passwords(trace) == hidden


@pytest.mark.parametrize("part", ["://a:", "://a:b@", "?password=", "&token", "x" * 50, "://"])
def test_long_texts_take_no_long_time(part: str) -> None:
    began = time.monotonic()
    without_passwords(part * (1_000_000 // len(part)))
    assert time.monotonic() - began < patient(5)


@pytest.mark.parametrize("part", ["${-}", "x=${a} ", "token=${a} ", "$", " ", "a", "key"])
def test_long_values_take_no_long_time(part: str) -> None:
    began = time.monotonic()
    assert not is_reference(f"a required {part * 2000}'${{")
    assert time.monotonic() - began < patient(2)


@pytest.mark.parametrize(
    ("value", "has"),
    [
        ("jdbc:mysql://u:[hidden]@h/db", True),
        ("jdbc:x://h?password=[hidden]&a=b", True),
        ("jdbc:mysql://u:p@h/db", False),
        ("jdbc:mysql://h/[hidden]", False),
        ("[hidden]", False),
    ],
)
def test_masks_in_addresses(value: str, has: bool) -> None:
    assert has_mask(value) is has


@pytest.mark.parametrize(
    ("value", "text", "shown"),
    [
        ("x", "Invalid value x for 0x00, x", "Invalid value [hidden] for 0x00, [hidden]"),
        ("a.b*", "is a.b* there? a.b", "is [hidden] there? a.b"),
        ("long enough", "not long enoughs", "not [hidden]s"),
        ("", "text", "text"),
    ],
)
def test_values_in_a_text(value: str, text: str, shown: str) -> None:
    assert without_value(text, value) == shown
