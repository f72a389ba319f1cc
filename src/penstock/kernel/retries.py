"""errors.retry.*: how long a step that raises RetriableError is repeated, and the waits between."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import random as random_number
from typing import Final

from penstock.kernel.config.values import Type, parse_value

FIRST_DELAY_SECONDS: Final = 0.3
DEFAULT_TIMEOUT_MS: Final = 0
DEFAULT_LONGEST_DELAY_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Retries:
    """The waits double from 0.3 s on; above the longest delay they are random ones below it.
    The last attempt is made when the time is over.
    """

    timeout_ms: int
    longest_delay_ms: int

    @classmethod
    def of(cls, config: Mapping[str, str]) -> Retries:
        """The settings of a connector's configuration."""

        def number(key: str, default: int) -> int:
            return int(parse_value(key, config.get(key, str(default)), Type.LONG))

        return cls(
            number("errors.retry.timeout", DEFAULT_TIMEOUT_MS),
            number("errors.retry.delay.max.ms", DEFAULT_LONGEST_DELAY_MS),
        )

    def left(self, seconds: float) -> float:
        """The time that is left after so many seconds."""
        return math.inf if self.timeout_ms < 0 else self.timeout_ms / 1000 - seconds

    def delay(self, attempt: int, random: Callable[[], float] = random_number) -> float:
        """Seconds to wait after an attempt; the first is 0."""
        longest = self.longest_delay_ms / 1000
        # A double overflows after 1023 doublings.
        delay = FIRST_DELAY_SECONDS * 2.0 ** min(attempt, 1000)
        return delay if delay <= longest else random() * longest
