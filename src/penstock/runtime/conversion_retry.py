"""errors.retry.*: how long a conversion or transformation that asks for it is repeated."""

from __future__ import annotations

import logging
from collections.abc import Callable
from random import random
from typing import TypeVar

from penstock.clock import Clock, SystemClock
from penstock.errors import DataError, RetriableError, ServiceAwayError, SessionLostError
from penstock.runtime.task_host import TaskControl
from penstock.runtime.tolerance import ErrorSettings
from penstock.settings.retries import Retries

log = logging.getLogger(__name__)

Result = TypeVar("Result")


class ConversionRetry:
    """Repeats what raises RetriableError, as long as `errors.retry.timeout` allows.

    As in Connect it is for converters and transformations only. What a task's own read or write
    asks to repeat is repeated without end, and so is everything while Kafka, Spark or a schema
    registry are away.

    Transformations of records are repeated record by record where they run, in Spark's processes.
    """

    def __init__(
        self,
        settings: ErrorSettings,
        control: TaskControl,
        clock: Clock | None = None,
        random: Callable[[], float] = random,
    ) -> None:
        common = settings.common
        self._retries = Retries(common.errors_retry_timeout, common.errors_retry_delay_max_ms)
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
                left = self._retries.left(self._clock.now() - begun)
                if left > 0 and self._control.stopping:
                    raise
                if left <= 0:
                    raise DataError(f"Tolerance exceeded in error handler: {error}") from error
                delay = min(self._retries.delay(attempt, self._random), left)
                log.warning("%s; trying again in %.1f s", error, delay)
            self._control.wait(delay)
            attempt += 1
