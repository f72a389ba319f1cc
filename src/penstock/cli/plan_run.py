"""Carry plans out, and say how it goes: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from penstock.cli.output import complain, err, out, say
from penstock.cli.plan_shown import done, print_plan
from penstock.client import Client
from penstock.manager import Failure, Outcome, Plan, Report, Result, Watch, apply, validate, wait
from penstock.manager.waiting import targets

_TRACE_LINES = 12


def run_plan(
    plan: Plan,
    client: Client,
    *,
    dry_run: bool,
    wait_seconds: float | None,
    parallel: int,
    fail_fast: bool,
) -> bool:
    """Whether everything was done and, if waited for, runs."""
    if not plan.pending:
        return True
    if dry_run:
        with _bar("validating", len(plan.pending)) as moved:
            validate(plan, client, parallel=parallel, told=lambda _: moved())
        say("Everything is valid; nothing was changed.")
        return True
    with _bar("applying", len(plan.pending)) as moved:

        def told(outcome: Outcome) -> None:
            moved()
            _print_outcome(outcome)

        report = apply(plan, client, parallel=parallel, fail_fast=fail_fast, told=told)
    _print_report(report)
    return _has_arrived(client, report, wait_seconds) and report.ok


def _has_arrived(client: Client, report: Report, seconds: float | None) -> bool:
    wanted = targets(report)
    if seconds is None or not wanted:
        return True
    with _bar("waiting", len(wanted)) as moved:
        found = wait(client, wanted, seconds, told=lambda _: moved())
    for failure in found.failures:
        _print_failure(failure)
    say(f"{len(found.arrived)} of {len(wanted)} are in the state they should have.")
    return not found.failures


def _print_outcome(outcome: Outcome) -> None:
    match outcome.result:
        case Result.DONE:
            say(done(outcome.change))
        case Result.FAILED:
            change = outcome.change
            text = f"failed to {change.action} {change.name}: {outcome.error}"
            err.print(text, style="red", markup=False)
        case Result.NOT_TRIED:
            pass


def _print_report(report: Report) -> None:
    counts = {result: len(report.of(result)) for result in Result}
    told = ", ".join(f"{count} {result}" for result, count in counts.items() if count)
    out.print(f"Applied: {told}.", style="bold", markup=False)
    skipped = [each.change.name for each in report.of(Result.NOT_TRIED)]
    if skipped:
        complain(f"not tried, because others failed: {', '.join(skipped)}")


def _print_failure(failure: Failure) -> None:
    err.print(f"{failure.name}: {failure.message}", style="red", markup=False)
    lines = failure.trace.strip().splitlines()
    if len(lines) > _TRACE_LINES:
        lines = ["…", *lines[-_TRACE_LINES:]]
    for line in lines:
        err.print(f"    {line}", markup=False)


@contextmanager
def _bar(title: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar that one more step moves; nothing where no terminal is."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
    with bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)


def run_watch(client: Client, paths: Sequence[Path], interval: float, **scope: Any) -> None:
    """Until SIGINT or SIGTERM; a change that is under way is finished."""
    stopped = threading.Event()
    watch = Watch(
        client=client,
        paths=paths,
        planned=print_plan,
        applied=_print_watched,
        complained=lambda text: complain(f"nothing changes while this is so:\n{text}"),
        recovered=lambda: say("All is well again."),
        **scope,
    )
    with _signals(stopped):
        say(f"Watching {', '.join(map(str, paths))} for {client.url}; Ctrl-C ends it.")
        watch.run(stopped, interval)
    say("Ended.")


def _print_watched(report: Report) -> None:
    for outcome in report.outcomes:
        if outcome.result is Result.DONE:
            say(done(outcome.change))


@contextmanager
def _signals(stopped: threading.Event) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        stopped.set()

    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
