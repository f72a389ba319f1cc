"""Expressions that may run away are found; those that people write are not taken for such."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.kernel.java.runaway_regex import runaway_error
from penstock.testing.waiting import patient

HARMLESS = [
    *(".*", "", "orders", "shop-(orders|users)-\\d+", "(?!__).*", "^(?!_).+$", "(foo|bar)+"),
    *("(?:[a-z]+\\.)*orders", "([^-]+-)*[^-]+", "(a|b|c)*d", "\\Qa.b\\E.*", "a{2,5}b?c*"),
    *("(.*)\\.(.*)\\.(.*)\\.(.*)", "(.*)\\.(.*)\\.(.*)\\.(.*)\\.(.*)", "(?<name>.*)-v\\k<name>"),
    *("[a-z]{1,63}(\\.[a-z]{1,63}){1,4}", "(\\d{1,4}-?){1,4}", "[[a-z]&&[^x]]+", "\\p{Alpha}+-.*"),
    *("(?i)orders_.*", "([\\w-]+)\\.([\\w-]+)\\.([\\w-]+)", "\\d{1,3}(\\.\\d{1,3}){3}"),
    *(
        "(\\w{1,5}-)?(\\w{1,5}-)?orders",
        "a?b?c?d?e?f?g?h?i?j?",
        "(eu|us|asia)?-?(dev|prod)?-?orders",
    ),
    *("(topic|topics|top)-(a|ab|abc)-(x|xy)", "[a-z]{1,8}-?[a-z]{0,8}-?[0-9]{0,6}"),
    "|".join(f"server-{number}\\.shop\\.orders" for number in range(40)),
]
RUNAWAY = [
    *("(a+)+b", "(a*)*b", "(a|aa)+", "(a|a)*b", "(\\w+-?)*x", "([a-z]+[0-9]*)*x", "(x+x+)+y"),
    *("(.*)*x", "(.+)+x", "(?:.+,)*x", "(?i)(A|a)+x", "(?=(a+)+b)x", "(a?){100}a{100}"),
    *("([a-z\\-]+|-)+x", "(a[ab]*)+b", "((ab)*)*c", "(a{1,50}){1,50}b", "a{1,50}{1,50}b"),
]


@pytest.mark.parametrize("pattern", HARMLESS)
def test_harmless(pattern: str) -> None:
    assert runaway_error(pattern) is None


@pytest.mark.parametrize("pattern", RUNAWAY)
def test_runaway(pattern: str) -> None:
    assert "in too many ways" in (runaway_error(pattern) or "")


@pytest.mark.parametrize("pattern", [".*.*.*.*.*b", "\\w+\\w+\\w+\\w+\\w+-", ".*a.*a.*a.*a.*a.*b"])
def test_slow(pattern: str) -> None:
    assert "more than 4 unlimited repetitions" in (runaway_error(pattern) or "")


@pytest.mark.parametrize("pattern", ["a?" * 30 + "a" * 30 + "b", "(a|b|ab)?" * 25 + "c"])
def test_many_optional_parts(pattern: str) -> None:
    assert "too many optional parts in a row" in (runaway_error(pattern) or "")


def test_what_is_too_long_to_be_judged_is_refused() -> None:
    assert runaway_error("(" * 5000 + "a" + ")" * 5000) == "it is too long"
    assert runaway_error("[a-z]" * 5000) == "it is too long"


def _repeat(body: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    counts = st.sampled_from(["*", "+", "?", "{2,}", "{1,30}", "{3}"])
    return st.one_of(
        st.tuples(body, counts).map(lambda parts: f"(?:{parts[0]}){parts[1]}"),
        st.lists(body, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.lists(body, min_size=2, max_size=3).map("".join),
    )


PATTERNS = st.recursive(st.sampled_from(["a", "b", "[ab]", ".", "-", "a?"]), _repeat, max_leaves=6)
TEXTS = ["a" * 60, "ab" * 30, "a-" * 30, "aab" * 20, "b" * 60]

_MATCH = """
import json, re, sys
for pattern in json.load(sys.stdin):
    for text in json.loads(sys.argv[1]):
        re.fullmatch(pattern + "x", text)
"""


@settings(max_examples=4, deadline=None)
@given(st.lists(PATTERNS, min_size=150, max_size=150))
def test_what_is_accepted_comes_back(patterns: list[str]) -> None:
    """In a process of its own: one that does not come back could not be stopped here."""
    accepted = [pattern for pattern in patterns if runaway_error(f"{pattern}x") is None]
    subprocess.run(
        [sys.executable, "-c", _MATCH, json.dumps(TEXTS)],
        input=json.dumps(accepted),
        text=True,
        check=True,
        timeout=patient(20),
    )
