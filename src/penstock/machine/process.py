"""Child processes that never outlive this process.

Each child has a session of its own, so that Ctrl-C reaches only this process, which stops its
children in the right order. On Linux the kernel kills a child when this process dies.
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

from penstock.kernel.clock import Deadline
from penstock.kernel.errors import SetupError

STOP_SECONDS = 30.0
_STACKS_SECONDS = 1.0
_TAIL_BYTES = 4_000

# Runs before the real program: asks for SIGKILL on the parent's death, then executes the program.
# A program of its own, because code between fork and exec in a threaded parent may deadlock.
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
        self._stopped = False
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
    def stopped(self) -> bool:
        """Whether stop() ended it, or is about to."""
        return self._stopped

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    def wait(self, seconds: float) -> bool:
        """Return whether the child ended within so many seconds."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Send SIGTERM, and SIGKILL if it does not end in time; return once it has ended."""
        if self.running:
            self._stopped = True
            self._process.terminate()
        if not self.wait(seconds):
            # Java and our workers write the stacks of their threads to the log: why they hang.
            self._process.send_signal(signal.SIGQUIT)
            self.wait(_STACKS_SECONDS)
            self.kill()

    def kill(self) -> None:
        """Send SIGKILL; return once it has ended."""
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
            SetupError: the child ended first, or the time is over; the text has the log's end,
                unless stop() ended it.
        """
        deadline = Deadline.after(seconds)
        while not ready():
            if not self.running:
                if self.stopped:
                    raise SetupError(f"{self.name} was stopped before {what}")
                raise SetupError(
                    f"{self.name} ended with status {self.exit_code} before {what}; "
                    f"its log is {self.log} and ends with:\n{self.tail()}"
                )
            if deadline.expired:
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
    """A server in a child process. It may be started again after a stop or kill."""

    _child: Child | None = None

    @abstractmethod
    def start(self) -> None:
        """Start the server; it answers when this returns.

        Raises:
            SetupError: it did not start; the text has the end of its log.
        """

    @property
    def running(self) -> bool:
        """Whether there is a process."""
        return self._child is not None and self._child.running

    @property
    def stopped(self) -> bool:
        """Whether stop() ended the process that was started last, or is about to."""
        return self._child is not None and self._child.stopped

    @property
    def child(self) -> Child:
        """The process that was started last."""
        if self._child is None:
            raise SetupError(f"{type(self).__name__} is not running; call start() first")
        return self._child

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Let the server shut down cleanly; kill it if that takes too long."""
        if self._child is not None:
            self._child.stop(seconds)

    def kill(self) -> None:
        """Kill the server, as in a crash."""
        self.child.kill()

    def launch(self, child: Child, ready: Callable[[], bool], seconds: float, what: str) -> None:
        """Wait for the child with `Child.wait_until`; kill it if it does not get ready."""
        self._child = child
        self.await_child(ready, seconds, what)

    def await_child(self, ready: Callable[[], bool], seconds: float, what: str) -> None:
        """The second half of launch(), for a server whose caller waits later."""
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
    """Start a process that the kernel kills when this process dies."""
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


# The kernel kills a child when the thread that forked it ends, not the process. This thread lasts
# as long as the process, so children do not die with short-lived threads.
_forker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="forker")
