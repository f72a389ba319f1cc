"""Waiting for the request to end: SIGTERM, SIGINT, or a failure that another thread found."""

from __future__ import annotations

import os
import select
import signal


class EndRequest:
    """Made on the main thread, which then waits for it.

    By a pipe: `threading.Event.wait()` does not see a signal that the kernel hands to another
    thread, and a handler that sets an Event may wait for a lock that its own thread has.
    """

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)

    def make(self) -> None:
        """Request the end, from any thread."""
        os.write(self._writer, b"\0")

    def wait(self, seconds: float | None = None) -> bool:
        """Return whether the end was requested, after that long at most."""
        return bool(select.select([self._reader], [], [], seconds)[0])
