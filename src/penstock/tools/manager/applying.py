"""Carries a plan out: validates everything first, then makes the changes step by step."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, TypeVar

from penstock.kernel.config.redaction import without_passwords
from penstock.kernel.errors import ConflictError, NotFoundError, PenstockError, SetupError
from penstock.kernel.wire.states import Wanted
from penstock.tools.client import Client
from penstock.tools.manager.changes import Action, Change, Plan
from penstock.tools.manager.connector import NAME, Problem, ProblemsError
from penstock.tools.manager.secrets import SecretKeys

PARALLEL: Final = 8
_INITIAL_STATE_SINCE: Final = (3, 7)
_VERSION: Final = re.compile(r"(\d+)\.(\d+)")
_WRITTEN: Final = (Action.CREATE, Action.UPDATE)

T = TypeVar("T")


class Result(StrEnum):
    """How a change ended."""

    DONE = "done"
    FAILED = "failed"
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A change and how it ended."""

    change: Change
    result: Result
    error: str = ""


@dataclass(slots=True)
class Report:
    """What was done, what failed and what was not tried."""

    outcomes: list[Outcome] = field(default_factory=list)

    def of(self, result: Result) -> list[Outcome]:
        """The outcomes with this result."""
        return [each for each in self.outcomes if each.result is result]

    @property
    def ok(self) -> bool:
        """Whether everything was done."""
        return all(each.result is Result.DONE for each in self.outcomes)


def check(
    plan: Plan,
    client: Client,
    *,
    parallel: int = PARALLEL,
    strict: bool = False,
    on_each: Callable[[Change], None] = lambda _: None,
) -> Plan:
    """The same plan, with the cluster's errors in each config that would be stored.

    Keys that no plugin declares are notes; with `strict` they are problems.
    """
    written = [each for each in plan.pending if each.action in _WRITTEN]
    checked: dict[str, Change] = {}
    with _pool(parallel) as pool:
        for change, future in _completed(
            pool, written, lambda each: _checked(client, each, strict=strict)
        ):
            checked[change.name] = future.result()
            on_each(change)
    return replace(
        plan,
        changes=[checked.get(each.name) or _noted(each, strict=strict) for each in plan.changes],
    )


def validate(
    plan: Plan,
    client: Client,
    *,
    parallel: int = PARALLEL,
    strict: bool = False,
    on_each: Callable[[Change], None] = lambda _: None,
    noted: Callable[[Problem], None] = lambda _: None,
) -> None:
    """Let the cluster check every config that would be stored; `noted` gets the warnings.

    Raises:
        ProblemsError: with all errors of all configs.
    """
    checked = check(plan, client, parallel=parallel, strict=strict, on_each=on_each)
    for change in checked.changes:
        for problem in change.unknown_keys:
            noted(problem)
    if checked.problems:
        raise ProblemsError(checked.problems)


def apply(
    plan: Plan,
    client: Client,
    *,
    parallel: int = PARALLEL,
    fail_fast: bool = False,
    strict: bool = False,
    noted: Callable[[Problem], None] = lambda _: None,
    checked: Callable[[Change], None] = lambda _: None,
    on_each: Callable[[Outcome], None] = lambda _: None,
) -> Report:
    """Validate all, then make the changes, `parallel` at once.

    A failed change does not stop the others, unless `fail_fast`; but nothing is deleted after a
    failure, because the replacement of a connector may be the one that failed.

    Raises:
        ProblemsError: something is not valid; nothing was changed.
    """
    validate(plan, client, parallel=parallel, strict=strict, on_each=checked, noted=noted)
    report = Report()
    if not plan.pending:
        return report
    maker = _Maker(client, _has_initial_state(client), fail_fast)
    with _pool(parallel) as pool:
        for step in plan.steps:
            if step[0].action is Action.DELETE and report.of(Result.FAILED):
                maker.over.set()
            for _, future in _completed(pool, step, maker.make):
                report.outcomes.append(future.result())
                on_each(report.outcomes[-1])
    return report


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes one change; an error becomes its outcome. After `over` is set, it tries no more."""

    client: Client
    starts_in_state: bool
    fail_fast: bool
    over: threading.Event = field(default_factory=threading.Event)

    def make(self, change: Change) -> Outcome:
        if self.over.is_set():
            return Outcome(change, Result.NOT_TRIED)
        try:
            self._make(change)
        except PenstockError as error:
            # If no server answers, the next change would only wait for the same error.
            if self.fail_fast or isinstance(error, SetupError):
                self.over.set()
            return Outcome(change, Result.FAILED, without_passwords(str(error)))
        return Outcome(change, Result.DONE)

    def _make(self, change: Change) -> None:
        match change.action:
            case Action.CREATE:
                self._create(change)
            case Action.UPDATE:
                self._update(change)
            case Action.DELETE:
                self._delete(change)
            case Action.UNCHANGED:
                return
            case Action.PAUSE | Action.RESUME | Action.STOP:
                self._bring_to(change)

    def _create(self, change: Change) -> None:
        if change.state is None or self.starts_in_state:
            state = None if change.state is None else change.state.upper()
            self.client.create(change.name, change.config, state)
            return
        self.client.create(change.name, change.config)
        if change.state is not Wanted.RUNNING:
            self._bring_to(change)

    def _update(self, change: Change) -> None:
        self._check_unchanged(change)
        if change.state in (Wanted.PAUSED, Wanted.STOPPED):
            self._bring_to(change)
        self.client.put_config(change.name, change.config)
        if change.state is Wanted.RUNNING:
            self._bring_to(change)

    def _delete(self, change: Change) -> None:
        try:
            self._check_unchanged(change)
            self.client.delete(change.name)
        except NotFoundError:
            return  # somebody else deleted it

    def _bring_to(self, change: Change) -> None:
        match change.state:
            case Wanted.PAUSED:
                self.client.pause(change.name)
            case Wanted.STOPPED:
                self.client.stop(change.name)
            case Wanted.RUNNING:
                self.client.resume(change.name)
            case None:
                return

    def _check_unchanged(self, change: Change) -> None:
        """Raise if somebody changed it since the plan was made: that must not be undone unseen."""
        now = self.client.connector(change.name).config
        if change.running is not None and dict(now) != dict(change.running.config):
            raise ConflictError("somebody changed it after the plan was made; plan again")


def _checked(client: Client, change: Change, *, strict: bool) -> Change:
    config = {**change.config, NAME: change.name}
    plugin = config.get("connector.class", "")
    try:
        found = client.validate(plugin, config)
    except SetupError:
        raise
    except PenstockError as error:
        problem = change.problem(without_passwords(str(error)), "connector.class")
        return replace(change, problems=(problem,))
    secrets = SecretKeys.of(plugin, found)
    problems = [
        change.problem(secrets.redacted(key, message, config), key)
        for key, messages in found.errors.items()
        for message in messages
    ]
    if found.error_count and not problems:
        problems.append(change.problem(f"the config has {found.error_count} errors"))
    unknown = [
        change.problem(message, key if strict else None, at=key)
        for key, message in found.unknown(config).items()
    ]
    if strict:
        return replace(change, problems=(*problems, *unknown))
    return replace(change, problems=tuple(problems), unknown_keys=tuple(unknown))


def _noted(change: Change, *, strict: bool) -> Change:
    """With the worker's notes on a connector whose config stays as it is."""
    if change.action is Action.DELETE or change.running is None or not change.running.notes:
        return change
    unknown = tuple(change.problem(note) for note in change.running.notes)
    if strict:
        return replace(change, problems=unknown)
    return replace(change, unknown_keys=unknown)


def _has_initial_state(client: Client) -> bool:
    """A server whose version can't be read is taken for a new one."""
    found = _VERSION.match(client.server().version)
    return found is None or tuple(map(int, found.groups())) >= _INITIAL_STATE_SINCE


@contextmanager
def _pool(parallel: int) -> Iterator[ThreadPoolExecutor]:
    """A thread pool that drops pending work on an unexpected error, such as Ctrl-C."""
    pool = ThreadPoolExecutor(max(1, parallel), thread_name_prefix="penstock-manager")
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _completed(
    pool: ThreadPoolExecutor, changes: Sequence[Change], work: Callable[[Change], T]
) -> Iterator[tuple[Change, Future[T]]]:
    futures = {pool.submit(work, change): change for change in changes}
    for future in as_completed(futures):
        yield futures[future], future
