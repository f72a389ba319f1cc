"""errors.retry.*: repeats conversions and transformations that raise RetriableError."""

from __future__ import annotations

import logging
from collections.abc import Callable
from random import random
from typing import TypeVar

from penstock.kernel.clock import Clock, SystemClock
from penstock.kernel.errors import DataError, RetriableError, ServiceAwayError, SessionLostError
from penstock.kernel.retries import Retries
from penstock.worker.runtime.task_host import TaskControl
from penstock.worker.runtime.tolerance import ErrorSettings

log = logging.getLogger(__name__)

Result = TypeVar("Result")


class ConversionRetry:
    """Repeats what raises RetriableError, as long as `errors.retry.timeout` allows.

    As in Connect it is for converters and transformations only. A task's own read or write that
    raises RetriableError is repeated without end, and so is everything while Kafka, Spark or a
    schema registry is away.

    Spark's Python processes repeat transformations of single records themselves.
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
        """Return what the call returns.

        Raises:
            DataError: it still failed when the time was over.
            RetriableError: the task stops before the time is over.
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
                    raise DataError(f"{error}; Tolerance exceeded in error handler") from error
                delay = min(self._retries.delay(attempt, self._random), left)
                log.warning("%s; trying again in %.1f s", error, delay)
            self._control.wait(delay)
            attempt += 1
