"""Which connector a log line is about, and the last lines of each connector.

Threads that work for a connector do so within a `Scope`. Lines on the console begin with it, as
in Kafka Connect, and the worker keeps a bounded number of them for the REST API.
"""

from __future__ import annotations

import logging
import re
import threading
import traceback
from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from typing import Final

from penstock.kernel.clock import Clock, SystemClock
from penstock.kernel.config.redaction import without_passwords
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import ConfigError, DataError, NotFoundError, PenstockError, PluginError
from penstock.kernel.wire.models import LogLine, LogPage

LEVELS: Final = {
    "OFF": logging.CRITICAL + 10,
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": 5,
    "ALL": 1,
}

_LONGEST: Final = 16_384
_LONGEST_REASON: Final = 600
#: Where Spark's long texts have the reason: in the last cause, after py4j's first line, or in the
#: last line of a Python worker's traceback.
_REASONS_IN_TRACES: Final = (
    re.compile(r"^Caused by: (?:[\w$]+\.)*(.+)$", re.MULTILINE),
    re.compile(r"^: (?:[\w$]+\.)*(.+)$", re.MULTILINE),
    re.compile(r"^Traceback [^\n]*\n(?:[ \t][^\n]*\n)+(\S[^\n]*)", re.MULTILINE),
)
_REMEDIES: Final = (
    (ConfigError, "What to do: change the config (penstock patch); that starts it again."),
    (
        DataError,
        "What to do: check that the converters fit the records (StringConverter is for plain"
        " text); correct the producer of the record, or let the task skip such records"
        " (errors.tolerance=all, with errors.deadletterqueue.topic.name to keep them); then restart"
        " it (penstock restart NAME --failed).",
    ),
    (
        (PluginError, NotFoundError),
        "What to do: fix or install the plugin, then restart what failed (penstock restart"
        " NAME --failed).",
    ),
    (
        BaseException,
        "What to do: remove the cause, then restart what failed (penstock restart NAME --failed);"
        " the traceback is below.",
    ),
)
_TOTAL_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Scope:
    """A connector, or one of its tasks."""

    connector: str
    task: int | None = None

    @classmethod
    def of(cls, task: TaskId) -> Scope:
        return cls(task.connector, task.number)

    def __str__(self) -> str:
        return f"[{self.connector}|{'worker' if self.task is None else f'task-{self.task}'}] "


_scope: ContextVar[Scope | None] = ContextVar("penstock-log-scope", default=None)


@contextmanager
def logged_as(scope: Scope) -> Iterator[None]:
    """Mark what this thread logs in the block as about that connector or task."""
    token = _scope.set(scope)
    try:
        yield
    finally:
        _scope.reset(token)


def level_name(number: int) -> str:
    """Connect's name of a level, or of the next more verbose one that has a name."""
    return next((name for name, level in LEVELS.items() if level <= number), "ALL")


class ScopeFilter(logging.Filter):
    """Passes all records, and sets their `scope`, which is empty outside of connectors."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.scope = str(_scope.get() or "")
        return True


class RedactingFormatter(logging.Formatter):
    """Hides the passwords of addresses, which errors of drivers may contain."""

    def format(self, record: logging.LogRecord) -> str:
        return without_passwords(super().format(record))


def trace_of(error: BaseException) -> str:
    """The text of an error for a status: the reason, what to do, and the traceback.

    Passwords of addresses are hidden.
    """
    where = "".join(traceback.format_exception(error))
    return without_passwords(f"{reason_of(error)}\n{_what_to_do(error)}\n\n{where}")


def reason_of(error: BaseException) -> str:
    """The reason of an error, in one line."""
    text = str(error)
    if isinstance(error, PenstockError) and text:
        return _one_line(text)
    for pattern in _REASONS_IN_TRACES:
        found = pattern.findall(text)
        if found:
            return _one_line(found[-1])
    return _one_line(f"{type(error).__name__}: {text}".removesuffix(": "))


def _what_to_do(error: BaseException) -> str:
    return next(remedy for kind, remedy in _REMEDIES if isinstance(error, kind))


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_REASON else f"{line[: _LONGEST_REASON - 1]}…"


@dataclass(slots=True)
class _Ring:
    lines: deque[LogLine]
    size: int = 0


class ConnectorLogs(logging.Handler):
    """Keeps the last lines of each connector, with a limit for each and for all together.

    When all together are too long, the connector that was silent longest loses its lines.
    """

    def __init__(
        self,
        lines: int = 1000,
        size: int = 1024 * 1024,
        total: int = _TOTAL_BYTES,
        clock: Clock | None = None,
    ) -> None:
        """`size` and `total` are characters, of one connector and of all."""
        super().__init__()
        self.setFormatter(RedactingFormatter("%(message)s"))
        self._most, self._size, self._total = lines, size, total
        # Cursors of another run of the worker are ignored.
        self._run = (clock or SystemClock()).wall_ms()
        self._rings: OrderedDict[str, _Ring] = OrderedDict()
        self._kept = 0
        self._number = 0
        self._guard = threading.Lock()

    def emit(self, record: logging.LogRecord) -> None:
        scope = _scope.get()
        if scope is None or self._most == 0:
            return
        try:
            text = self.format(record)[:_LONGEST]
        except Exception:  # noqa: BLE001 - as logging does: a wrong line must not fail its task
            self.handleError(record)
            return
        with self._guard:
            self._number += 1
            line = LogLine(
                int(record.created * 1000),
                level_name(record.levelno),
                scope.task,
                record.name,
                text,
                self._number,
            )
            self._add(scope.connector, line)

    def read(
        self,
        connector: str,
        *,
        limit: int,
        after: str | None = None,
        since_ms: int = 0,
        level: str = "ALL",
    ) -> LogPage:
        """The last lines; with a cursor, the first ones after it, so that none is lost.

        The answer's cursor is after its last line, and after lines that the level left out.
        """
        run, _, number = (after or "").partition("-")
        follows = run == str(self._run) and number.isdigit()
        first = int(number) if follows else 0
        with self._guard:
            last = self._number
            ring = self._rings.get(connector)
            lines = [
                line
                for line in (ring.lines if ring else ())
                if line.number > first
                and line.timestamp >= since_ms
                and LEVELS[line.level] >= LEVELS[level]
            ]
        shown = list(islice(lines, limit)) if follows else lines[max(0, len(lines) - limit) :]
        reached = shown[-1].number if follows and len(shown) < len(lines) else last
        return LogPage(shown, f"{self._run}-{reached}")

    def _add(self, connector: str, line: LogLine) -> None:
        ring = self._rings.setdefault(connector, _Ring(deque()))
        self._rings.move_to_end(connector)
        ring.lines.append(line)
        self._count(ring, line, 1)
        while len(ring.lines) > self._most or ring.size > self._size:
            self._count(ring, ring.lines.popleft(), -1)
        while self._kept > self._total and len(self._rings) > 1:
            _, oldest = self._rings.popitem(last=False)
            self._kept -= oldest.size

    def _count(self, ring: _Ring, line: LogLine, sign: int) -> None:
        size = sign * (len(line.message) + len(line.logger))
        ring.size += size
        self._kept += size
