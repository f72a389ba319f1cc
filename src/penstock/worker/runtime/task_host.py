"""The life of one task: a thread, its states, its end. Catches whatever a task raises."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final, Protocol

from penstock.kernel.clock import Clock, Deadline
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import (
    DeadlineExceededError,
    GivenUpError,
    RebalancedError,
    RetriableError,
)
from penstock.kernel.logs import Scope, logged_as, reason_of, trace_of
from penstock.worker.interface import State, TargetState, WorkerEvents

log = logging.getLogger(__name__)

FIRST_BACK_OFF_SECONDS: Final = 1.0
LAST_BACK_OFF_SECONDS: Final = 30.0

#: Errors that pass: a broker, target or Spark is away, or partitions moved. The host repeats
#: the call without end, as Connect does for poll() and put().
PASSING: Final = (RetriableError, DeadlineExceededError, RebalancedError)


class TaskControl:
    """What a task should do. Any thread may set it, the task's thread reads it."""

    def __init__(self, target: TargetState, clock: Clock) -> None:
        self._changed = threading.Event()
        self._stopping = False
        self._given_up = False
        self._target = target
        self.clock = clock

    @property
    def stopping(self) -> bool:
        return self._stopping

    @property
    def given_up(self) -> bool:
        """Whether another task may have replaced this one."""
        return self._given_up

    @property
    def paused(self) -> bool:
        return self._target is not TargetState.STARTED

    def stop(self) -> None:
        self._stopping = True
        self._changed.set()

    def give_up(self) -> None:
        self._given_up = True
        self.stop()

    def check(self) -> None:
        """Raise GivenUpError if the task was given up."""
        if self._given_up:
            raise GivenUpError("the task was given up and must not write or store anything")

    def set_target(self, target: TargetState) -> None:
        self._target = target
        self._changed.set()

    def wait(self, seconds: float) -> None:
        """Wait so many seconds, or until something changes."""
        self.clock.wait(self._changed, seconds)
        self._changed.clear()
        if self._stopping:
            self._changed.set()


class TaskWork(Protocol):
    """What a host runs: a source or a sink. The task's thread makes all calls except cancel().

    The host repeats a call that raises one of PASSING after a back-off, step() and idle() after
    a recover(). Any other error fails the task.
    """

    def start(self) -> None: ...

    def step(self) -> None:
        """Move one batch, or wait a little if there is none."""
        ...

    def idle(self) -> None:
        """Called repeatedly, instead of step(), while the task is paused."""
        ...

    def recover(self) -> None:
        """Undo the failed step, so that the next one begins where it began."""
        ...

    def cancel(self) -> None:
        """Make a running step() fail soon. Called from another thread."""
        ...

    def close(self, deadline: Deadline) -> None: ...


class TaskHost:
    """Runs one task on its own thread and reports its states.

    Args:
        guard: raises SessionLostError for whatever fails because Spark's JVM died.
    """

    def __init__(
        self,
        task: TaskId,
        work: TaskWork,
        control: TaskControl,
        events: WorkerEvents,
        *,
        shutdown_seconds: float,
        guard: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.task = task
        self._work = work
        self._control = control
        self._events = events
        self._shutdown_seconds = shutdown_seconds
        self._guard = guard
        self._muted = False
        self._state = State.UNASSIGNED
        self._waits_for: str | None = None
        self._back_off = FIRST_BACK_OFF_SECONDS
        self._thread = threading.Thread(target=self._run, name=f"task-{task}", daemon=True)

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()

    def set_target(self, target: TargetState) -> None:
        self._control.set_target(target)

    def show_wait(self, waits_for: str | None) -> None:
        """Show in the task's status what it waits for; None: nothing any more."""
        if waits_for != self._waits_for and self._state in (State.UNASSIGNED, State.RUNNING):
            self._report(self._state, waits_for)

    def ask_to_stop(self) -> None:
        self._control.stop()

    def wait(self, deadline: Deadline) -> bool:
        """Return whether the task ended before the deadline."""
        self._thread.join(deadline.remaining())
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """Make the running batch fail soon."""
        with logged_as(Scope.of(self.task)):
            log.warning("Task %s did not finish its batch in time; cancelling it", self.task)
            self._work.cancel()

    def give_up(self) -> None:
        """Abandon the task. Its thread may still run; whatever it reports is ignored."""
        self._muted = True
        self._control.give_up()
        with logged_as(Scope.of(self.task)):
            log.error("Task %s did not stop in time and was abandoned", self.task)

    def _run(self) -> None:
        with logged_as(Scope.of(self.task)):
            self._live()

    def _live(self) -> None:
        try:
            if self._await_start() and self._insist(self._work.start):
                self._report(State.RUNNING)
                self._loop()
        except Exception as error:
            if not self._control.stopping:
                self._fail(error)
        finally:
            self._close()

    def _await_start(self) -> bool:
        """Wait while the task is paused from the beginning; False if it should stop."""
        if self._control.paused and not self._control.stopping:
            self._report(State.PAUSED)
        while self._control.paused and not self._control.stopping:
            self._control.wait(60)
        return not self._control.stopping

    def _loop(self) -> None:
        paused = False
        while not self._control.stopping:
            if self._control.paused is not paused:
                paused = not paused
                self._report(State.PAUSED if paused else State.RUNNING)
            self._attempt(self._work.idle if paused else self._work.step)

    def _attempt(self, call: Callable[[], None]) -> None:
        try:
            with self._guard():
                call()
            self._back_off = FIRST_BACK_OFF_SECONDS
        except PASSING as error:
            self._wait_after(error)
            self._insist(self._work.recover)

    def _insist(self, call: Callable[[], None]) -> bool:
        """Call until it works; False if the task should stop before that."""
        while not self._control.stopping:
            try:
                with self._guard():
                    call()
            except PASSING as error:
                self._wait_after(error)
            else:
                return True
        return False

    def _wait_after(self, error: Exception) -> None:
        if self._control.stopping:
            return
        log.warning(
            "Task %s: %s; trying again in %.0f s", self.task, _in_short(error), self._back_off
        )
        self._control.wait(self._back_off)
        self._back_off = min(self._back_off * 2, LAST_BACK_OFF_SECONDS)

    def _fail(self, error: Exception) -> None:
        trace = trace_of(error)
        log.error("Task %s failed; restart it after fixing the cause\n%s", self.task, trace)
        self._report(State.FAILED, trace)

    def _close(self) -> None:
        try:
            self._work.close(Deadline.after(self._shutdown_seconds))
        except Exception as error:
            log.warning("Task %s did not close cleanly: %s", self.task, reason_of(error))
            log.debug("The traceback", exc_info=True)

    def _report(self, state: State, trace: str | None = None) -> None:
        if not self._muted:
            self._state = state
            self._waits_for = trace
            log.info("Task %s is %s", self.task, state.value)
            self._events.task_state(self.task, state, trace)


def stop_all(hosts: Sequence[TaskHost], deadline: Deadline) -> None:
    """Stop all at once: each finishes its batch, or is cancelled after half of the time."""
    for host in hosts:
        host.ask_to_stop()
    half = Deadline.after(deadline.remaining() / 2, deadline.clock)
    late = [host for host in hosts if not host.wait(half)]
    for host in late:
        host.cancel()
    for host in late:
        if not host.wait(deadline):
            host.give_up()


def _in_short(error: Exception) -> str:
    cause = str(error.__cause__ or "")
    text = f"{error} ({cause})" if cause and cause not in str(error) else str(error)
    return (text or type(error).__name__).splitlines()[0][:500]
