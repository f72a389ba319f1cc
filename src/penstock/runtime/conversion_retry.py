"""errors.retry.*: how long a conversion or transformation that asks for it is repeated."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from random import random
from typing import Final, TypeVar

from penstock.clock import Clock, SystemClock
from penstock.errors import DataError, RetriableError, ServiceAwayError, SessionLostError
from penstock.runtime.task_host import TaskControl
from penstock.runtime.tolerance import ErrorSettings

log = logging.getLogger(__name__)

Result = TypeVar("Result")

FIRST_DELAY_SECONDS: Final = 0.3


class ConversionRetry:
    """Repeats what raises RetriableError, as long as `errors.retry.timeout` allows.

    As in Connect it is for converters and transformations only. What a task's own read or write
    asks to repeat is repeated without end, and so is everything while Kafka, Spark or a schema
    registry are away.

    The waits double from 0.3 s on; where that is more than `errors.retry.delay.max.ms` they are
    random ones below it. The last attempt is made when the time is over.
    """

    def __init__(
        self,
        settings: ErrorSettings,
        control: TaskControl,
        clock: Clock | None = None,
        random: Callable[[], float] = random,
    ) -> None:
        self._settings = settings
        self._control = control
        self._clock = clock or SystemClock()
        self._random = random

    def run(self, call: Callable[[], Result]) -> Result:
        """What the call returns.

        Raises:
            DataError: it did not work within the time.
            RetriableError: the task is to stop before the time is over; nothing is known then.
        """
        begun = self._clock.now()
        attempt = 0
        while True:
            try:
                return call()
            except (SessionLostError, ServiceAwayError):
                raise
            except RetriableError as error:
                left = self._left(begun)
                if left > 0 and self._control.stopping:
                    raise
                if left <= 0:
                    raise DataError(f"Tolerance exceeded in error handler: {error}") from error
                delay = min(self._delay(attempt), left)
                log.warning("%s; trying again in %.1f s", error, delay)
            self._control.wait(delay)
            attempt += 1

    def _left(self, begun: float) -> float:
        timeout = self._settings.common.errors_retry_timeout
        return math.inf if timeout < 0 else begun + timeout / 1000 - self._clock.now()

    def _delay(self, attempt: int) -> float:
        longest = self._settings.common.errors_retry_delay_max_ms / 1000
        # No double has more than 1023 doublings.
        delay = FIRST_DELAY_SECONDS * 2.0 ** min(attempt, 1000)
        return delay if delay <= longest else self._random() * longest
