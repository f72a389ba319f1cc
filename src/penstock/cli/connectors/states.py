"""`penstock pause`, `resume`, `stop`, `restart` and `delete`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.connectors.choice import Chosen, Names, Yes, choose, confirm
from penstock.cli.connectors.results import Results
from penstock.cli.shown import Output, OutputOption
from penstock.cli.target import Connect, ContextName, Target
from penstock.cli.waiting import SECONDS, Timeout, Wait, patience
from penstock.errors import ConfigError, PenstockError

if TYPE_CHECKING:
    from penstock.client import Client
    from penstock.wire.models import ConnectorStatus

app = typer.Typer(rich_markup_mode=None)


@app.command()
def pause(
    names: Names,
    wait: Wait = True,
    timeout: Timeout = None,
    connect: Connect = None,
    context: ContextName = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Pause connectors: their tasks stay where they are and keep what they hold.

    \b
    penstock pause orders-sink
    penstock pause 'jdbc_*' 'files_*' --timeout 120
    """
    seconds = patience(timeout, wait=wait)
    with Target.of(connect, context).client() as client:
        chosen = choose(client, names)
        results = Results(output, "paused")
        _carry_out(client, chosen, results, client.pause, "PAUSED", seconds)


@app.command()
def resume(
    names: Names,
    wait: Wait = True,
    timeout: Timeout = None,
    connect: Connect = None,
    context: ContextName = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Run connectors again after a pause or a stop.

    Tasks that failed stay so; `penstock restart NAME --failed` starts them again.

    \b
    penstock resume orders-sink
    penstock resume '*' --no-wait
    """
    seconds = patience(timeout, wait=wait)
    with Target.of(connect, context).client() as client:
        chosen = choose(client, names)
        results = Results(output, "resumed")
        _carry_out(client, chosen, results, client.resume, "RUNNING", seconds)


@app.command()
def stop(
    names: Names,
    wait: Wait = True,
    timeout: Timeout = None,
    yes: Yes = False,
    connect: Connect = None,
    context: ContextName = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Stop connectors: their tasks are given up, their configs and offsets stay.

    With a pattern, shows what is hit and asks first.

    \b
    penstock stop orders-sink
    penstock stop 'jdbc_*' --yes
    """
    seconds = patience(timeout, wait=wait)
    with Target.of(connect, context).client() as client:
        chosen = choose(client, names)
        confirm(f"Stop these {len(chosen.names)} connectors?", chosen, yes=yes)
        results = Results(output, "stopped")
        _carry_out(client, chosen, results, client.stop, "STOPPED", seconds)


@app.command()
def restart(
    names: Names,
    tasks: Annotated[bool, typer.Option("--tasks", help="Its tasks too.")] = False,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only what failed: connector and tasks.")
    ] = False,
    task: Annotated[
        list[int] | None, typer.Option(min=0, help="Only this task; may be given several times.")
    ] = None,
    wait: Wait = False,
    timeout: Timeout = None,
    connect: Connect = None,
    context: ContextName = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Restart connectors; without an option the connector alone, and its tasks go on.

    \b
    penstock restart orders-sink --tasks --wait
    penstock restart 'jdbc_*' --failed          whatever failed, and nothing else
    penstock restart orders-sink --task 0 --task 2
    """
    if task and (tasks or failed):
        raise ConfigError("--task restarts these tasks; it does not go with --tasks or --failed")
    seconds = patience(timeout, wait=wait)
    with Target.of(connect, context).client() as client:
        chosen = choose(client, names)
        results = Results(output, "restarted")
        verb = _Restart(client, results, tasks=tasks or failed, failed=failed, numbers=task or [])
        again = results.attempt(chosen.names, verb)
        again = [name for name in again if name in verb.told]
        told = verb.told.__getitem__
        _tell(client, again, results, told, "RUNNING", seconds, again=True)
        results.missing(chosen.missing)
        results.finish()


class _Restart:
    """Restarts one connector after another; `told` has what was restarted."""

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
        self.told: dict[str, str] = {}

    def __call__(self, name: str) -> None:
        if self._numbers:
            for number in self._numbers:
                self._client.restart_task(name, number)
            self.told[name] = f"restarted task {', '.join(map(str, self._numbers))}"
            return
        status = self._client.restart(name, include_tasks=self._tasks, only_failed=self._failed)
        if not self._tasks:
            self.told[name] = "restarted the connector, not its tasks (see --tasks)"
            return
        parts = _restarting(status)
        if parts:
            self.told[name] = f"restarted {', '.join(parts)}"
        else:
            told = "nothing has failed" if self._failed else "nothing to restart"
            self._results.unchanged(name, told)


def _restarting(status: ConnectorStatus | None) -> list[str]:
    if status is None:
        return ["the connector"]
    connector = ["the connector"] if status.connector.state == "RESTARTING" else []
    return connector + [f"task {each.id}" for each in status.tasks if each.state == "RESTARTING"]


@app.command()
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
    connect: Connect = None,
    context: ContextName = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Delete connectors. Their offsets stay, so that one of the same name goes on from there.

    With a pattern, shows what is hit and asks first.

    \b
    penstock delete orders-sink
    penstock delete 'test_*' --offsets --yes
    """
    seconds = patience(timeout, wait=offsets, option="--offsets")
    with Target.of(connect, context).client() as client:
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
    """Stop, reset, delete; an error says how far it came."""
    from penstock.client.waiting import GOALS, arrivals

    client.stop(name)
    for _, found in arrivals(client, {name: GOALS["STOPPED"]}, seconds):
        if found.error:
            raise PenstockError(f"it did not stop, and was not deleted: {found.told}")
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
    """Ask it of all, then wait for all, and end the command."""
    asked = results.attempt(chosen.names, verb)
    told = "asked for" if seconds is None else goal.lower()
    _tell(client, asked, results, lambda _: told, goal, seconds)
    results.missing(chosen.missing)
    results.finish()


def _tell(
    client: Client,
    names: list[str],
    results: Results,
    told: Callable[[str], str],
    goal: str,
    seconds: float | None,
    *,
    again: bool = False,
) -> None:
    """Say what was done to each; if there are seconds to wait, once the goal is reached."""
    if seconds is None:
        for name in names:
            results.ok(name, told(name))
        return
    from penstock.client.waiting import GOALS, arrivals, lasting

    wanted = lasting(GOALS[goal]) if again else GOALS[goal]
    for name, found in arrivals(client, dict.fromkeys(names, wanted), seconds):
        if found.error:
            results.fail(name, found.told)
        else:
            results.ok(name, told(name))
