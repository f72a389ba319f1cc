"""Each expectation was read from Kafka 4.1's own parser."""

from __future__ import annotations

import math

import pytest

from penstock.kernel.config import Password, Type
from penstock.kernel.config.values import java_text, parse_value, render
from penstock.kernel.errors import ConfigError

GOOD = [
    (Type.BOOLEAN, "TRUE ", True),
    (Type.BOOLEAN, " false", False),
    (Type.STRING, "  a b ", "a b"),
    (Type.STRING, "\u00a0a", "\u00a0a"),
    (Type.INT, " 2 ", 2),
    (Type.INT, "+4", 4),
    (Type.INT, "-2147483648", -2147483648),
    (Type.INT, "\u0661", 1),
    (Type.SHORT, "32767", 32767),
    (Type.LONG, "2147483648", 2147483648),
    (Type.DOUBLE, "1e3", 1000.0),
    (Type.DOUBLE, "1.5f", 1.5),
    (Type.DOUBLE, "1d", 1.0),
    (Type.DOUBLE, ".5", 0.5),
    (Type.DOUBLE, "5.", 5.0),
    (Type.DOUBLE, "0x1p3", 8.0),
    (Type.DOUBLE, "1e400", math.inf),
    (Type.DOUBLE, "-Infinity", -math.inf),
    (Type.LIST, "a,b , c,", ["a", "b", "c", ""]),
    (Type.LIST, ",", ["", ""]),
    (Type.LIST, "  ", []),
    (Type.CLASS, " a.B ", "a.B"),
    (Type.PASSWORD, " s ", Password("s")),
    (Type.INT, None, None),
]

BAD = [
    (Type.BOOLEAN, "yes", "Expected value to be either true or false"),
    (Type.BOOLEAN, "", "Expected value to be either true or false"),
    (Type.INT, "1_0", "Not a number of type INT"),
    (Type.INT, "0x10", "Not a number of type INT"),
    (Type.INT, "", "Not a number of type INT"),
    (Type.INT, "2147483648", "Not a number of type INT"),
    (Type.INT, "1.5", "Not a number of type INT"),
    (Type.SHORT, "32768", "Not a number of type SHORT"),
    (Type.LONG, "99999999999999999999", "Not a number of type LONG"),
    (Type.LONG, "9" * 5000, "Not a number of type LONG"),
    (Type.LONG, "1L", "Not a number of type LONG"),
    (Type.DOUBLE, "inf", "Not a number of type DOUBLE"),
    (Type.DOUBLE, "1_0", "Not a number of type DOUBLE"),
    (Type.DOUBLE, "\u0661", "Not a number of type DOUBLE"),
    (Type.LIST, 5, "Expected a comma separated list."),
    (Type.CLASS, 5, "Expected a Class instance or class name."),
]


@pytest.mark.parametrize(("type_", "text", "value"), GOOD)
def test_text_becomes_the_value_java_reads(type_: Type, text: object, value: object) -> None:
    assert parse_value("k", text, type_) == value


def test_not_a_number_is_a_number() -> None:
    assert math.isnan(parse_value("k", "NaN", Type.DOUBLE))


@pytest.mark.parametrize(("type_", "text", "rule"), BAD)
def test_bad_text_is_refused_in_kafkas_words(type_: Type, text: object, rule: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_value("k", text, type_)
    assert str(caught.value) == f"Invalid value {text} for configuration k: {rule}"
    assert caught.value.errors == {"k": (str(caught.value),)}


def test_a_class_that_the_resolver_does_not_know() -> None:
    def nothing(name: str) -> str:
        raise LookupError(name)

    with pytest.raises(ConfigError, match=r"^Invalid value x\.Y for .* k: Class x\.Y could not be"):
        parse_value("k", "x.Y", Type.CLASS, nothing)


def test_a_password_shows_itself_to_nobody() -> None:
    secret = parse_value("k", "hunter2", Type.PASSWORD)
    assert "hunter2" not in f"{secret} {secret!r} {[secret]} {render(secret, Type.PASSWORD)}"
    assert secret.value == "hunter2"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (["a", None], "[a, null]"),
        (1.0, "1.0"),
        (0.001, "0.001"),
        (1e7, "1.0E7"),
        (1.5e-5, "1.5E-5"),
        (123456789.125, "1.23456789125E8"),
        (-2.5e20, "-2.5E20"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
    ],
)
def test_values_read_as_in_java(value: object, text: str) -> None:
    assert java_text(value) == text


def test_a_list_is_joined_for_the_rest_api() -> None:
    assert render(["a", "b"], Type.LIST) == "a,b"
    assert render([], Type.LIST) == ""
    assert render(None, Type.LIST) is None
