"""Child processes that never outlive us.

A child is started in a session of its own, so that Ctrl-C reaches only us and we stop our children
in the right order. On Linux the kernel kills it when we die, however we die.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from penstock.errors import SetupError

STOP_SECONDS = 30.0
_TAIL_BYTES = 4_000

# Runs between fork and the real program: asks for SIGKILL on the parent's death, then becomes it.
# A program of its own because code between fork and exec in a threaded parent may deadlock.
_TETHER = """
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != int(sys.argv[1]):
        sys.exit(1)
os.execvp(sys.argv[2], sys.argv[2:])
"""


class Child:
    """One child process, its log file and its end."""

    def __init__(
        self, name: str, command: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._process = spawn(
                command,
                env=os.environ if env is None else env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    def wait(self, seconds: float) -> bool:
        """Whether the child ended within that time."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """SIGTERM, and SIGKILL if it has not ended in time. Returns once it is gone."""
        if self.running:
            self._process.terminate()
        if not self.wait(seconds):
            self.kill()

    def kill(self) -> None:
        """SIGKILL. Returns once it is gone."""
        self._process.kill()
        self._process.wait(STOP_SECONDS)

    def signal(self, number: signal.Signals) -> None:
        """Send any signal, such as SIGSTOP in a fault test."""
        self._process.send_signal(number)

    def tail(self) -> str:
        """The end of the log, for error messages."""
        if not self.log.exists():
            return ""
        return self.log.read_bytes()[-_TAIL_BYTES:].decode(errors="replace").strip()

    def wait_until(self, ready: Callable[[], bool], seconds: float, what: str) -> None:
        """Return once `ready()` is true.

        Raises:
            SetupError: the child ended first, or the time is over; the text has the log's end.
        """
        end = time.monotonic() + seconds
        while not ready():
            if not self.running:
                raise SetupError(
                    f"{self.name} ended with status {self.exit_code} before {what}; "
                    f"its log is {self.log} and ends with:\n{self.tail()}"
                )
            if time.monotonic() > end:
                raise SetupError(
                    f"{self.name}: {what} took more than {seconds:.0f} s; "
                    f"its log is {self.log} and ends with:\n{self.tail()}"
                )
            time.sleep(0.05)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


class Server(ABC):
    """A server in a child process. One that was stopped or killed may be started again."""

    _child: Child | None = None

    @abstractmethod
    def start(self) -> None:
        """Start the server; it answers when this returns.

        Raises:
            SetupError: it did not come up; the text has the end of its log.
        """

    @property
    def running(self) -> bool:
        """Whether there is a process."""
        return self._child is not None and self._child.running

    @property
    def child(self) -> Child:
        """The process that was started last."""
        if self._child is None:
            raise SetupError(f"{type(self).__name__} is not running; call start() first")
        return self._child

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Let the server shut down in order; kill it when that takes too long."""
        if self._child is not None:
            self._child.stop(seconds)

    def kill(self) -> None:
        """End the server as a crash would."""
        self.child.kill()

    def launch(self, child: Child, ready: Callable[[], bool], seconds: float, what: str) -> None:
        """Keep the child once it is ready, as `Child.wait_until` has it; end it if it is not."""
        self._child = child
        self.await_child(ready, seconds, what)

    def await_child(self, ready: Callable[[], bool], seconds: float, what: str) -> None:
        """The second half of launch(), for a server that can do without waiting for a while."""
        try:
            self.child.wait_until(ready, seconds, what)
        except BaseException:
            self.child.kill()
            raise

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def spawn(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    stdin: int,
    stdout: IO[bytes] | None = None,
    stderr: int | None = None,
) -> subprocess.Popen[bytes]:
    """Start a process that the kernel kills when we die."""
    tethered = [sys.executable, "-I", "-S", "-c", _TETHER, str(os.getpid()), *command]
    started = _forker.submit(
        subprocess.Popen,
        tethered,
        env=dict(env),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )
    return started.result(STOP_SECONDS)


# The kernel ties a child to the thread that forked it, not to the process. This thread lasts as
# long as the process, so a child started from a short-lived thread does not die with that thread.
_forker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="forker")
