"""Each text was read from Kafka 4.1's own validators."""

from __future__ import annotations

import pytest

from penstock.kernel.config import (
    Validator,
    all_of,
    at_least,
    at_most_of_size,
    between,
    each_of,
    matches,
    no_control_characters,
    no_duplicates,
    non_empty,
    non_empty_list,
    non_null,
    one_of,
    one_of_ignoring_case,
)
from penstock.kernel.errors import ConfigError

REFUSED = [
    (at_least(1), None, "Value must be non-null"),
    (at_least(1), 0, "Value must be at least 1"),
    (between(1, 5), 6, "Value must be no more than 5"),
    (between(0.5, 2.0), 0, "Value must be at least 0.5"),
    (between(0.5, 2.0), 2.5, "Value must be no more than 2.0"),
    (one_of("x", "y"), None, "String must be one of: x, y"),
    (one_of("x", "y"), "X", "String must be one of: x, y"),
    (one_of_ignoring_case("x", "Y"), "z", "String must be one of (case insensitive): X, Y"),
    (non_null, None, "entry must be non null"),
    (non_empty, "", "String must be non-empty"),
    (non_empty, [], "Empty list"),
    (non_empty_list, None, "Empty list"),
    (no_control_characters, "", "String may not be empty"),
    (
        no_control_characters,
        "a\u0001b",
        "String may not contain control sequences but had the following ASCII chars: 1",
    ),
    (at_most_of_size(2), ["a", "a", "b"], "exceeds maximum list size of [2]."),
    (all_of(non_null, one_of("x")), None, "entry must be non null"),
    (all_of(non_null, one_of("x")), "z", "String must be one of: x"),
    (matches("[a-z]+", "lower case only"), "A", "lower case only"),
    (no_duplicates, ["a", "a"], "Duplicate alias provided."),
]

ALLOWED = [
    (at_least(1), 6),
    (between(1, 5), 2.5),
    (one_of("x", None), None),
    (one_of_ignoring_case("x"), "X"),
    (each_of("a", "b"), []),
    (each_of("a", "b"), ["b", "b"]),
    (non_null, ""),
    (non_empty, None),
    (non_empty, " "),
    (no_control_characters, None),
    (at_most_of_size(2), ["a", "b"]),
    (matches("[a-z]+"), None),
    (no_duplicates, ["a", "b"]),
]

SHOWN = [
    (at_least(1), "[1,...]"),
    (between(1, 5), "[1,...,5]"),
    (between(0.5, 2.0), "[0.5,...,2.0]"),
    (one_of("x", "y"), "[x, y]"),
    (one_of_ignoring_case("X", "y"), "(case insensitive) [X, Y]"),
    (non_empty, "non-empty string"),
    (all_of(non_null, one_of("x")), "non-null string, [x]"),
    (at_most_of_size(2), "List containing maximum of 2 elements"),
]


@pytest.mark.parametrize(("rule", "value", "text"), REFUSED)
def test_refused(rule: Validator, value: object, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        rule("k", value)
    assert str(caught.value).startswith("Invalid value ")
    assert str(caught.value).endswith(f" for configuration k: {text}")


@pytest.mark.parametrize(("rule", "value"), ALLOWED)
def test_allowed(rule: Validator, value: object) -> None:
    rule("k", value)


@pytest.mark.parametrize(("rule", "text"), SHOWN)
def test_shown(rule: Validator, text: str) -> None:
    assert str(rule) == text


def test_an_item_that_is_not_allowed_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^Invalid value c for configuration k: String must be"):
        each_of("a", "b")("k", ["a", "c"])
