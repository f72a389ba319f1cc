"""Standard input as a source of lines: a thread reads ahead, a little."""

from __future__ import annotations

import os
import select
import threading
from typing import Final

from penstock.connectors.file.lines import complete_length

_READ_BYTES: Final = 64 << 10
_LOOK_SECONDS: Final = 0.2


class StandardInput:
    """Whole lines of a file descriptor. It is read by one thread, which close() ends.

    Holds at most about `limit` bytes, or one line if that is longer; more stays in the pipe.
    """

    def __init__(self, descriptor: int, limit: int) -> None:
        self._descriptor = descriptor
        self._limit = limit
        self._held = bytearray()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="file-source-stdin", daemon=True)
        self._thread.start()

    def take(self) -> bytes:
        """All whole lines that are there; empty if there is none."""
        with self._changed:
            data = bytes(self._held)
            complete = complete_length(data)
            del self._held[:complete]
            self._changed.notify_all()
        return data[:complete]

    @property
    def ready(self) -> bool:
        """True if another line is there already."""
        with self._changed:
            return complete_length(bytes(self._held)) > 0

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(timeout=5 * _LOOK_SECONDS)

    def _run(self) -> None:
        while self._may_read():
            # select() first, so that close() never leaves a thread that takes the next one's lines.
            if not select.select([self._descriptor], [], [], _LOOK_SECONDS)[0]:
                continue
            data = os.read(self._descriptor, _READ_BYTES)
            if not data:
                return
            with self._changed:
                self._held += data

    def _may_read(self) -> bool:
        with self._changed:
            while not self._closed and self._is_full():
                self._changed.wait(_LOOK_SECONDS)
            return not self._closed

    def _is_full(self) -> bool:
        return len(self._held) >= self._limit and complete_length(bytes(self._held)) > 0
