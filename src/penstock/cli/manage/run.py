"""Carries plans out and shows progress: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from penstock.cli.manage.plan_views import done, print_plan
from penstock.cli.output import complain, err, out, say, warn
from penstock.tools.client import Client
from penstock.tools.client.arrival import reason
from penstock.tools.manager import (
    Failure,
    Outcome,
    Plan,
    Problem,
    Report,
    Result,
    Watch,
    apply,
    validate,
    wait,
)
from penstock.tools.manager.arrivals import targets


def run_plan(
    plan: Plan,
    client: Client,
    *,
    dry_run: bool,
    wait_seconds: float | None,
    parallel: int,
    fail_fast: bool,
    strict: bool,
) -> bool:
    """Whether everything was done and, with `wait_seconds`, runs."""
    if not plan.pending:
        validate(plan, client, strict=strict, noted=_note)
        return True
    total = len(plan.pending)
    if dry_run:
        with _bar(total) as moved:
            validate(
                plan,
                client,
                parallel=parallel,
                strict=strict,
                on_each=lambda _: moved("validating"),
                noted=_note,
            )
        say("Everything is valid; nothing was changed.")
        return True
    with _bar(total) as moved:

        def report_outcome(outcome: Outcome) -> None:
            moved("applying")
            if outcome.result is Result.DONE:
                say(done(outcome.change))

        report = apply(
            plan,
            client,
            parallel=parallel,
            fail_fast=fail_fast,
            strict=strict,
            noted=_note,
            checked=lambda _: moved("validating"),
            on_each=report_outcome,
        )
    _print_report(report)
    return _has_arrived(client, report, wait_seconds) and report.ok


def _note(problem: Problem) -> None:
    warn(str(problem))


def _has_arrived(client: Client, report: Report, seconds: float | None) -> bool:
    wanted = targets(report)
    if seconds is None or not wanted:
        return True
    with _bar(len(wanted)) as moved:
        moved("waiting", steps=0)
        found = wait(client, wanted, seconds, on_each=lambda _: moved("waiting"))
    for failure in found.failures:
        _print_failure(failure)
    say(f"{len(found.arrived)} of {len(wanted)} are in the state they should have.")
    return not found.failures


def _print_report(report: Report) -> None:
    for outcome in report.of(Result.FAILED):
        change = outcome.change
        text = f"failed to {change.action} {change.name}: {outcome.error}"
        err.print(text, style="red", markup=False)
    counts = {result: len(report.of(result)) for result in Result}
    totals = ", ".join(f"{count} {result}" for result, count in counts.items() if count)
    out.print(f"Applied: {totals}.", style="bold", markup=False)
    skipped = [each.change.name for each in report.of(Result.NOT_TRIED)]
    if skipped:
        complain(f"not tried, because others failed: {', '.join(skipped)}")


def _print_failure(failure: Failure) -> None:
    err.print(f"{failure.name}: {failure.message}", style="red", markup=False)
    lines = reason(failure.trace)
    for line in lines:
        err.print(f"    {line}", markup=False)
    more = len(failure.trace.rstrip().splitlines()) - len(lines)
    if more > 0:
        text = f"    … {more} more lines: penstock describe {failure.name} --trace"
        err.print(text, markup=False)


class _Bar:
    """Moves with each step; another title begins anew."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total = progress, total
        self._task, self._title = progress.add_task("", total=total), ""

    def __call__(self, title: str, steps: int = 1) -> None:
        if title != self._title:
            self._title = title
            self._progress.reset(self._task, total=self._total, description=title)
        self._progress.advance(self._task, steps)


@contextmanager
def _bar(total: int) -> Iterator[_Bar]:
    """A bar below the printed lines; none without a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    # On the console that prints the lines: two consoles would overwrite each other.
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        yield _Bar(progress, total)


def run_watch(client: Client, paths: Sequence[Path], interval: float, **scope: Any) -> None:
    """Watch until SIGINT or SIGTERM; a change under way is finished first."""
    stopped = threading.Event()
    watch = Watch(
        client=client,
        paths=paths,
        planned=print_plan,
        applied=_print_watched,
        complained=complain,
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
