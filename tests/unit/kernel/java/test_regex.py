"""The texts are Java's own for these expressions."""

from __future__ import annotations

import pytest

from penstock.kernel.config import java_regex
from penstock.kernel.errors import ConfigError
from penstock.kernel.java.regex import regex_error

GOOD = [
    "",
    "a.*",
    "(a|b)+?",
    "[^]a]{2,3}+",
    "[a[b-d]&&[^c]]",
    r"\Q(\E\)",
    "(?<name>x)(?:y)(?i)z(?<=q)(?<!q)",
    r"\p{Alpha}{1,}[\p{L}-]\x{1F600}",
    "^*$",
    "{2}",
    "a{2}{3}",
]
BROKEN = [
    ("(", "Unclosed group near index 1\n("),
    ("*", "Dangling meta character '*' near index 0\n*\n^"),
    ("a|+", "Dangling meta character '+' near index 2\na|+\n  ^"),
    ("[a", "Unclosed character class near index 1\n[a\n ^"),
    ("a)", "Unmatched closing ')' near index 0\na)\n^"),
    (")", "Unmatched closing ')'\n)"),
    ("a{2,1}", "Illegal repetition range near index 5\na{2,1}\n     ^"),
    ("a{2", "Unclosed counted closure near index 3\na{2"),
    ("a{x}", "Illegal repetition near index 2\na{x}\n  ^"),
    ("(?<n", "named capturing group is missing trailing '>' near index 4\n(?<n"),
]


@pytest.mark.parametrize("pattern", GOOD)
def test_javas_expressions_pass(pattern: str) -> None:
    assert regex_error(pattern) is None
    java_regex("k", pattern)


@pytest.mark.parametrize(("pattern", "text"), BROKEN)
def test_a_broken_expression_is_told_in_javas_words(pattern: str, text: str) -> None:
    assert regex_error(pattern) == text
    with pytest.raises(ConfigError) as caught:
        java_regex("k", pattern)
    assert (
        str(caught.value) == f"Invalid value {pattern} for configuration k: Invalid regex: {text}"
    )


def test_one_that_may_never_come_to_an_end_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"for configuration k: Matching it might never end"):
        java_regex("k", "(a+)+b")


def test_no_expression_at_all() -> None:
    with pytest.raises(ConfigError, match=r'"this\.pattern" is null$'):
        java_regex("k", None)
