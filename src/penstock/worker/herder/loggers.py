"""Log levels at run time: Python's loggers under the names and levels of Kafka Connect's API."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import Final

from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFoundError, PenstockError
from penstock.kernel.logs import LEVELS, level_name
from penstock.kernel.wire.models import LoggerLevel

ROOT: Final = "root"


class Loggers:
    """Reads and changes levels. Threads may share it."""

    def __init__(self, clock: Clock, manager: logging.Manager | None = None) -> None:
        self._clock = clock
        self._manager = manager or logging.root.manager
        self._modified: dict[str, int] = {}
        self._before: dict[str, int] = {}
        self._lock = threading.Lock()

    def all(self) -> dict[str, LoggerLevel]:
        """Every logger there is, by name."""
        found = {name: self._level(name, logger) for name, logger in self._loggers().items()}
        return dict(sorted(found.items()))

    def one(self, name: str) -> LoggerLevel:
        """A logger's level.

        Raises:
            NotFoundError: there is no logger of that name.
        """
        logger = self._loggers().get(name)
        if logger is None:
            raise NotFoundError(f"Logger {name} not found.")
        return self._level(name, logger)

    def check(self, level: str) -> int:
        """The number of a level's name.

        Raises:
            NotFoundError: there is no such level.
        """
        if not level:
            raise PenstockError("Illegal null or empty Level name.")
        if level.upper() not in LEVELS:
            raise NotFoundError(f"invalid log level '{level}'.")
        return LEVELS[level.upper()]

    def set(self, name: str, level: str) -> list[str]:
        """Set the level of a logger and of all below it; return the names of those that changed.

        A logger below keeps a level that its library set; to change that, name the logger itself.
        """
        number = self.check(level)
        with self._lock:
            self._named(name)
            before = self._levels(name)
            for found, logger in self._below(name):
                # Others inherit it, or keep their library's level.
                if found == name or self._before.get(found) == logging.NOTSET:
                    self._before.setdefault(found, logger.level)
                    logger.setLevel(number)
            changed = self._changes(name, before)
            self._modified |= dict.fromkeys(changed, self._clock.wall_ms())
        return changed

    def take_back(self, name: str) -> list[str]:
        """Give a logger and all below it their first levels back; return those that changed.

        Raises:
            NotFoundError: there is no logger of that name.
        """
        self.one(name)
        with self._lock:
            before = self._levels(name)
            for found, logger in self._below(name):
                if found in self._before:
                    logger.setLevel(self._before.pop(found))
            changed = self._changes(name, before)
            for found, _ in self._below(name):
                self._modified.pop(found, None)
        return changed

    def _below(self, name: str) -> list[tuple[str, logging.Logger]]:
        return [
            (found, logger)
            for found, logger in self._loggers().items()
            if name == ROOT or found == name or found.startswith(f"{name}.")
        ]

    def _levels(self, name: str) -> dict[str, int]:
        return {found: logger.getEffectiveLevel() for found, logger in self._below(name)}

    def _changes(self, name: str, before: Mapping[str, int]) -> list[str]:
        now = self._levels(name)
        return sorted(found for found, level in before.items() if now[found] != level)

    def _named(self, name: str) -> logging.Logger:
        return self._manager.root if name == ROOT else self._manager.getLogger(name)

    def _loggers(self) -> dict[str, logging.Logger]:
        named = {
            name: logger
            for name, logger in list(self._manager.loggerDict.items())
            if isinstance(logger, logging.Logger)
        }
        return {**named, ROOT: self._manager.root}

    def _level(self, name: str, logger: logging.Logger) -> LoggerLevel:
        return LoggerLevel(level_name(logger.getEffectiveLevel()), self._modified.get(name))
