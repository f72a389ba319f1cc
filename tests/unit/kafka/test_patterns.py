from __future__ import annotations

import pytest

from penstock.kafka.topic_patterns import java_pattern
from penstock.kernel.errors import ConfigError


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("orders", "orders", "orders2"),
        (r"orders-\d+", "orders-12", "orders-x"),
        (r"\Qa.b\E.*", "a.b-c", "aXb"),
        (r"\p{Alpha}+", "abc", "ab1"),
        (r"[\p{Lower}_]+", "a_b", "A"),
        (r"\P{Digit}+", "abc", "ab1"),
        (r"(?<n>a)\k<n>", "aa", "ab"),
        (r"a|b", "b", "ab"),
        (r"x\z", "x", "xx"),
        (r"[\]a]+", "a]", "b"),
        (r"(?!__).*", "a", "__a"),
    ],
)
def test_whole_names(pattern: str, matching: str, other: str) -> None:
    compiled = java_pattern(pattern, "topics.regex")
    assert compiled.fullmatch(matching)
    assert not compiled.fullmatch(other)


@pytest.mark.parametrize("pattern", ["(", "[a-z&&[^b]]", r"\p{IsGreek}", "(a+)+b"])
def test_what_can_not_be_translated_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigError, match=r"topics\.regex"):
        java_pattern(pattern, "topics.regex")
