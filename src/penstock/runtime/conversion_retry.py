"""errors.retry.*: how long a conversion or transformation that asks for it is repeated."""

from __future__ import annotations

import logging
from collections.abc import Callable
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
    """

    def __init__(
        self, settings: ErrorSettings, control: TaskControl, clock: Clock | None = None
    ) -> None:
        self._settings = settings
        self._control = control
        self._clock = clock or SystemClock()

    def run(self, call: Callable[[], Result]) -> Result:
        """What the call returns.

        Raises:
            DataError: it did not work within the time; the task fails.
        """
        begun = self._clock.now()
        delay = FIRST_DELAY_SECONDS
        while True:
            try:
                return call()
            except (SessionLostError, ServiceAwayError):
                raise
            except RetriableError as error:
                if not self._may_wait(begun, delay):
                    raise DataError(f"Tolerance exceeded in error handler: {error}") from error
                log.warning("%s; trying again in %.1f s", error, delay)
            self._control.wait(delay)
            delay = min(delay * 2, self._settings.common.errors_retry_delay_max_ms / 1000)

    def _may_wait(self, begun: float, delay: float) -> bool:
        timeout = self._settings.common.errors_retry_timeout
        if timeout == 0 or self._control.stopping:
            return False
        return timeout < 0 or self._clock.now() + delay <= begun + timeout / 1000
