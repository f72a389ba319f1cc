from __future__ import annotations

import logging

import pytest

from penstock.kernel.errors import NotFoundError, PenstockError
from penstock.kernel.logs import LEVELS
from penstock.kernel.wire.models import LoggerLevel
from penstock.testing.fakes import ManualClock
from penstock.worker.herder.loggers import Loggers


@pytest.fixture
def loggers() -> Loggers:
    """Loggers of their own, so that no test changes how others log."""
    root = logging.RootLogger(logging.INFO)
    manager = logging.Manager(root)
    for name in ("a", "a.b", "a.b.c", "ab"):
        manager.getLogger(name).parent = manager.getLogger(name).parent or root
    return Loggers(ManualClock(wall_ms=5), manager)


def test_all_loggers_are_listed_with_the_levels_they_have(loggers: Loggers) -> None:
    loggers.set("a.b", "WARN")
    shown = {name: level.level for name, level in loggers.all().items()}
    assert shown == {"a": "INFO", "a.b": "WARN", "a.b.c": "WARN", "ab": "INFO", "root": "INFO"}


def test_a_level_reaches_all_loggers_below_and_only_them(loggers: Loggers) -> None:
    assert loggers.set("a", "debug") == ["a", "a.b", "a.b.c"]
    assert loggers.one("ab") == LoggerLevel("INFO", None)
    assert loggers.one("a.b") == LoggerLevel("DEBUG", 5)


def test_only_loggers_that_change_are_named_and_marked(loggers: Loggers) -> None:
    loggers.set("a.b", "ERROR")
    assert loggers.set("a", "ERROR") == ["a"]
    assert loggers.set("a", "ERROR") == []


def test_root_stands_for_all(loggers: Loggers) -> None:
    assert loggers.set("root", "WARN") == ["a", "a.b", "a.b.c", "ab", "root"]


def test_a_new_logger_comes_to_be(loggers: Loggers) -> None:
    assert loggers.set("new.one", "INFO") == []
    assert loggers.one("new.one") == LoggerLevel("INFO", None)


@pytest.mark.parametrize("level", list(LEVELS))
def test_every_level_reads_back_as_it_was_set(loggers: Loggers, level: str) -> None:
    loggers.set("a", level)
    assert loggers.one("a").level == level


def test_unknown_loggers_and_levels(loggers: Loggers) -> None:
    with pytest.raises(NotFoundError, match=r"^Logger nope not found\.$"):
        loggers.one("nope")
    with pytest.raises(NotFoundError, match=r"^invalid log level 'loud'\.$"):
        loggers.set("a", "loud")
    with pytest.raises(PenstockError, match="Illegal null or empty Level name"):
        loggers.set("a", "")


def test_libraries_keep_their_own_levels_unless_they_are_named(loggers: Loggers) -> None:
    loggers._named("ab").setLevel(logging.CRITICAL)
    loggers._named("ab.c")
    assert loggers.set("root", "INFO") == []
    assert loggers.one("ab.c").level == "FATAL"
    assert loggers.set("root", "DEBUG") == ["a", "a.b", "a.b.c", "root"]
    assert loggers.set("ab", "DEBUG") == ["ab", "ab.c"]
    loggers.set("root", "INFO")
    assert loggers.one("ab.c").level == "DEBUG"


def test_a_level_for_all_reaches_those_that_had_one_from_here(loggers: Loggers) -> None:
    loggers.set("a.b", "DEBUG")
    assert loggers.set("root", "INFO") == ["a.b", "a.b.c"]


def test_levels_can_be_taken_back(loggers: Loggers) -> None:
    loggers._named("ab").setLevel(logging.CRITICAL)
    before = loggers.all()
    for name, level in (("ab", "DEBUG"), ("a.b", "ERROR"), ("root", "TRACE"), ("a.b.c", "OFF")):
        loggers.set(name, level)
    assert loggers.take_back("ab") == ["ab"]
    assert loggers.take_back("a") == ["a.b.c"]
    assert loggers.one("a.b.c") == LoggerLevel("TRACE", None)
    assert loggers.take_back("root") == ["a", "a.b", "a.b.c", "root"]
    assert loggers.all() == before
    assert loggers.take_back("root") == []
    with pytest.raises(NotFoundError, match=r"^Logger nope not found\.$"):
        loggers.take_back("nope")
