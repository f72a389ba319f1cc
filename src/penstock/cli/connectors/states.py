"""`penstock pause`, `resume`, `stop`, `restart` and `delete`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.connectors.choice import Chosen, Names, Yes, choose, confirm
from penstock.cli.connectors.results import Results, remark
from penstock.cli.formats import Output, OutputOption
from penstock.cli.options import grouped
from penstock.cli.target import ConnectCluster
from penstock.cli.wait_options import SECONDS, Timeout, Wait, patience
from penstock.kernel.errors import ConfigError, PenstockError

if TYPE_CHECKING:
    from penstock.kernel.wire.models import ConnectorStatus
    from penstock.tools.client import Client

app = typer.Typer(rich_markup_mode=None)


@app.command()
@grouped
def pause(
    names: Names,
    wait: Wait = True,
    timeout: Timeout = None,
    *,
    cluster: ConnectCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Pause connectors: their tasks stay on their workers and keep their resources.

    \b
    penstock pause orders-sink
    penstock pause 'jdbc_*' 'files_*' --timeout 120
    """
    seconds = patience(timeout, wait=wait)
    with cluster.client() as client:
        chosen = choose(client, names)
        results = Results(output, "paused")
        _carry_out(client, chosen, results, client.pause, "PAUSED", seconds)


@app.command()
@grouped
def resume(
    names: Names,
    wait: Wait = True,
    timeout: Timeout = None,
    *,
    cluster: ConnectCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Run connectors again after a pause or a stop.

    Failed tasks stay failed; `penstock restart NAME --failed` starts them again.

    \b
    penstock resume orders-sink
    penstock resume '*' --no-wait
    """
    seconds = patience(timeout, wait=wait)
    with cluster.client() as client:
        chosen = choose(client, names)
        results = Results(output, "resumed")
        _carry_out(client, chosen, results, client.resume, "RUNNING", seconds)


@app.command()
@grouped
def stop(
    names: Names,
    wait: Wait = True,
    timeout: Timeout = None,
    yes: Yes = False,
    *,
    cluster: ConnectCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Stop connectors: their tasks end, their configs and offsets stay.

    With a pattern, shows the connectors and asks first.

    \b
    penstock stop orders-sink
    penstock stop 'jdbc_*' --yes
    """
    seconds = patience(timeout, wait=wait)
    with cluster.client() as client:
        chosen = choose(client, names)
        confirm(f"Stop these {len(chosen.names)} connectors?", chosen, yes=yes)
        results = Results(output, "stopped")
        _carry_out(client, chosen, results, client.stop, "STOPPED", seconds)


@app.command()
@grouped
def restart(
    names: Names,
    tasks: Annotated[bool, typer.Option("--tasks", help="Its tasks too.")] = False,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only what failed: connector and tasks.")
    ] = False,
    task: Annotated[
        list[int] | None, typer.Option(min=0, help="Only this task; repeatable.")
    ] = None,
    wait: Wait = False,
    timeout: Timeout = None,
    *,
    cluster: ConnectCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Restart connectors; without an option the connector alone, while its tasks run on.

    \b
    penstock restart orders-sink --tasks --wait
    penstock restart 'jdbc_*' --failed          whatever failed, and nothing else
    penstock restart orders-sink --task 0 --task 2
    """
    if task and (tasks or failed):
        raise ConfigError("--task restarts single tasks; leave out --tasks and --failed")
    seconds = patience(timeout, wait=wait)
    with cluster.client() as client:
        chosen = choose(client, names)
        results = Results(output, "restarted")
        verb = _Restart(client, results, tasks=tasks or failed, failed=failed, numbers=task or [])
        again = results.attempt(chosen.names, verb)
        again = [name for name in again if name in verb.done]
        done = verb.done.__getitem__
        _report(client, again, results, done, "RUNNING", seconds, again=True)
        results.missing(chosen.missing)
        results.finish()


class _Restart:
    """Restarts one connector after another; `done` says what was restarted."""

    def __init__(
        self,
        client: Client,
        results: Results,
        *,
        tasks: bool,
        failed: bool,
        numbers: list[int],
    ) -> None:
        self._client = client
        self._results = results
        self._tasks = tasks
        self._failed = failed
        self._numbers = numbers
        self.done: dict[str, str] = {}

    def __call__(self, name: str) -> None:
        if self._numbers:
            for number in self._numbers:
                self._client.restart_task(name, number)
            self.done[name] = f"restarted task {', '.join(map(str, self._numbers))}"
            return
        status = self._client.restart(name, include_tasks=self._tasks, only_failed=self._failed)
        if not self._tasks:
            self.done[name] = "restarted the connector, not its tasks (see --tasks)"
            return
        parts = _restarting(status)
        if parts:
            self.done[name] = f"restarted {', '.join(parts)}"
        else:
            message = "nothing has failed" if self._failed else "nothing to restart"
            self._results.unchanged(name, message)


def _restarting(status: ConnectorStatus | None) -> list[str]:
    if status is None:
        return ["the connector"]
    connector = ["the connector"] if status.connector.state == "RESTARTING" else []
    return connector + [f"task {each.id}" for each in status.tasks if each.state == "RESTARTING"]


@app.command()
@grouped
def delete(
    names: Names,
    offsets: Annotated[
        bool,
        typer.Option("--offsets", help="Forget its offsets too: stop it, reset them, delete it."),
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Seconds to wait until it has stopped, with --offsets.",
            show_default=f"{SECONDS:g}",
        ),
    ] = None,
    yes: Yes = False,
    *,
    cluster: ConnectCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Delete connectors. Their offsets stay: a new one of the same name continues there.

    With a pattern, shows the connectors and asks first.

    \b
    penstock delete orders-sink
    penstock delete 'test_*' --offsets --yes
    """
    seconds = patience(timeout, wait=offsets, option="--offsets")
    with cluster.client() as client:
        chosen = choose(client, names)
        more = " and their offsets" if offsets else ""
        confirm(f"Delete these {len(chosen.names)} connectors{more}?", chosen, yes=yes)
        results = Results(output, "deleted")
        if seconds is None:
            results.each(chosen.names, lambda name: _delete(client, name))
        else:
            results.each(chosen.names, lambda name: _delete_with_offsets(client, name, seconds))
        results.missing(chosen.missing)
        results.finish()


def _delete(client: Client, name: str) -> str:
    client.delete(name)
    return "deleted"


def _delete_with_offsets(client: Client, name: str, seconds: float) -> str:
    """Stop, reset, delete; an error says which steps were done."""
    from penstock.tools.client.arrival import GOALS, arrivals

    client.stop(name)
    for _, found in arrivals(client, {name: GOALS["STOPPED"]}, seconds):
        if found.error:
            raise PenstockError(f"it did not stop, and was not deleted: {found.summary}")
    try:
        client.reset_offsets(name)
    except PenstockError as error:
        raise PenstockError(f"it was stopped, but not deleted: {error}") from error
    try:
        client.delete(name)
    except PenstockError as error:
        raise PenstockError(f"its offsets were reset, but it was not deleted: {error}") from error
    return "deleted, with its offsets"


def _carry_out(
    client: Client,
    chosen: Chosen,
    results: Results,
    verb: Callable[[str], None],
    goal: str,
    seconds: float | None,
) -> None:
    """Send the request for all, then wait for all, and end the command."""
    asked = results.attempt(chosen.names, verb)
    done = "asked for" if seconds is None else goal.lower()
    _report(client, asked, results, lambda _: done, goal, seconds)
    results.missing(chosen.missing)
    results.finish()


def _report(
    client: Client,
    names: list[str],
    results: Results,
    done: Callable[[str], str],
    goal: str,
    seconds: float | None,
    *,
    again: bool = False,
) -> None:
    """Report what was done to each; with seconds to wait, once it has reached the goal."""
    if seconds is None:
        for name in names:
            results.ok(name, done(name))
        return
    from penstock.tools.client.arrival import GOALS, arrivals, lasting

    wanted = lasting(GOALS[goal]) if again else GOALS[goal]
    for name, found in arrivals(client, dict.fromkeys(names, wanted), seconds):
        if found.error:
            results.fail(name, found.summary)
            continue
        more = remark(client, name, found)
        results.ok(name, f"{done(name)}{', running' if again and more else ''}{more}")
