"""`penstock groups reset`: moves the offsets of groups, after a preview."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.completion import group_names, topic_names
from penstock.cli.formats import Output, OutputOption, show
from penstock.cli.kafka import KafkaCluster
from penstock.cli.options import Options, grouped
from penstock.cli.output import complain, err, say
from penstock.kernel.errors import ConfigError

if TYPE_CHECKING:
    from penstock.tools.broker import Broker, Change, Goal


RESETS = """\b
Examples:
  penstock groups reset connect-orders-sink --topic orders --to-earliest
                                                          what would be read again
  penstock groups reset connect-orders-sink --topic orders --to-earliest --execute
  penstock groups reset billing --topic orders:0,2 --by-duration PT2H --execute
  penstock groups reset billing audit --all-topics --to-datetime 2026-03-01T00:00:00.000
  penstock groups reset billing --all-topics --to-current --export > before.csv
  penstock groups reset billing --from-file before.csv --execute
  penstock groups reset billing --all-topics --to-earliest --execute --backup before.csv
"""


@dataclass(frozen=True, slots=True)
class Where(Options):
    """The new offsets; exactly one of these options."""

    to_earliest: Annotated[bool, typer.Option("--to-earliest", help="The first record.")] = False
    to_latest: Annotated[bool, typer.Option("--to-latest", help="After the last one.")] = False
    to_current: Annotated[
        bool, typer.Option("--to-current", help="The committed offset; without one, the end.")
    ] = False
    to_offset: Annotated[
        int | None, typer.Option("--to-offset", help="An offset, in each partition.")
    ] = None
    shift_by: Annotated[
        int | None, typer.Option("--shift-by", help="Forward by this number, or back: -100.")
    ] = None
    by_duration: Annotated[
        str, typer.Option("--by-duration", metavar="PnDTnHnMnS", help="Back in time; or 2h.")
    ] = ""
    to_datetime: Annotated[
        str,
        typer.Option(
            "--to-datetime",
            metavar="YYYY-MM-DDTHH:mm:SS.sss",
            help="The first record not older than this; UTC unless a zone is given.",
        ),
    ] = ""
    from_file: Annotated[
        Path | None, typer.Option("--from-file", help="CSV of topic,partition,offset.")
    ] = None

    def given(self) -> tuple[str, Any]:
        """The option that was given, and its value."""
        values = {
            f"--{each.name.replace('_', '-')}": getattr(self, each.name) for each in fields(self)
        }
        given = [
            (name, value)
            for name, value in values.items()
            if value is not None and value is not False and value != ""
        ]
        if len(given) != 1:
            named = ", ".join(name for name, _ in given) or "none"
            raise ConfigError(f"give exactly one of {', '.join(values)}; got {named}")
        return given[0]


@grouped
def reset(
    groups: Annotated[list[str], typer.Argument(metavar="GROUP", autocompletion=group_names)],
    topic: Annotated[
        list[str] | None,
        typer.Option(
            "--topic", "-t", help="TOPIC or TOPIC:0,1; repeatable.", autocompletion=topic_names
        ),
    ] = None,
    all_topics: Annotated[
        bool, typer.Option("--all-topics", help="All topics with committed offsets.")
    ] = False,
    *,
    where: Where,
    execute: Annotated[bool, typer.Option("--execute", help="Make the change.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show the change (the default).")
    ] = False,
    backup: Annotated[
        Path | None,
        typer.Option(
            "--backup", help="With --execute: keep the old offsets in this file, for --from-file."
        ),
    ] = None,
    export: Annotated[
        bool, typer.Option("--export", help="Print the new offsets as CSV for --from-file.")
    ] = False,
    cluster: KafkaCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Move the offsets of groups. Shows what would be read again or skipped.

    Nothing changes without --execute. The groups must have no members. Offsets outside of a
    partition become its first or its last, with a warning.
    """
    if execute and dry_run:
        raise ConfigError("--execute and --dry-run can't both be given")
    if export and output is not Output.TABLE:
        raise ConfigError("--export prints CSV; leave out --output")
    if backup and not execute:
        raise ConfigError("--backup goes with --execute; nothing changes without it")
    asked = _Request(*where.given(), topic or (), all_topics=all_topics)
    asked.check()
    with cluster.broker() as broker:
        changes = asked.changes(broker, groups, times=not export)
        for change in filter(lambda each: each.warning, changes):
            complain(change.warning)
        if execute:
            _execute(broker, changes, backup)
        if export:
            _export(changes)
            return
        _show_changes(changes, output)
        if output is Output.TABLE:
            _conclude(broker, changes, done=execute)


@dataclass(frozen=True, slots=True)
class _Request:
    """Which offsets to move, and where to."""

    option: str
    value: Any
    topics: Sequence[str]
    all_topics: bool

    def check(self) -> None:
        if self.option == "--from-file":
            if self.topics or self.all_topics:
                raise ConfigError(
                    "--from-file names the topics; leave out --topic and --all-topics"
                )
        elif self.topics and self.all_topics:
            raise ConfigError("--topic and --all-topics can't both be given")
        elif not self.topics and not self.all_topics:
            raise ConfigError("give --topic, or --all-topics for all that the group has committed")

    def changes(self, broker: Broker, groups: Sequence[str], *, times: bool) -> list[Change]:
        names = _named(broker, groups)
        if isinstance(self.value, Path):
            return _of_file(broker, self.value, names, times=times)
        goal = _goal(self.option, self.value)
        plans = (
            broker.resets.plan(group, goal, self.topics, all_topics=self.all_topics, times=times)
            for group in names
        )
        return [change for plan in plans for change in plan]


def _goal(name: str, value: Any) -> Goal:
    from penstock.kernel.times import duration_ms, moment_ms
    from penstock.tools.broker import goals

    known: dict[str, Callable[[], Goal]] = {
        "--to-earliest": lambda: goals.to_earliest,
        "--to-latest": lambda: goals.to_latest,
        "--to-current": lambda: goals.to_current,
        "--to-offset": lambda: goals.to_offset(value),
        "--shift-by": lambda: goals.shift_by(value),
        "--by-duration": lambda: goals.by_duration(duration_ms(value)),
        "--to-datetime": lambda: goals.to_time(moment_ms(value)),
    }
    return known[name]()


def _named(broker: Broker, groups: Sequence[str]) -> list[str]:
    """Groups of these names and patterns. A name need not exist: Kafka makes a group when it
    commits. A pattern must match."""
    from penstock.tools.broker.names import is_pattern

    found = [
        each
        for name in groups
        for each in (broker.groups.names(name) if is_pattern(name) else [name])
    ]
    return list(dict.fromkeys(found))


def _of_file(broker: Broker, file: Path, groups: Sequence[str], *, times: bool) -> list[Change]:
    from penstock.tools.broker.reset_files import from_csv

    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file} can't be read: {error}") from error
    wanted = from_csv(text, groups, str(file))
    return [
        change
        for group, offsets in wanted.items()
        for change in broker.resets.plan_offsets(group, offsets, times=times)
    ]


def _execute(broker: Broker, changes: Sequence[Change], backup: Path | None) -> None:
    from penstock.tools.broker.reset_files import old_csv

    broker.resets.check(changes)
    if backup is not None:
        try:
            # An existing file may be somebody's only backup.
            with backup.open("x", encoding="utf-8") as stream:
                stream.write(old_csv(changes))
        except OSError as error:
            raise ConfigError(f"--backup: {backup} can't be written: {error}") from error
    broker.resets.execute(changes)


def _export(changes: Sequence[Change]) -> None:
    from penstock.tools.broker.reset_files import to_csv

    # Not through the console, which would wrap it.
    typer.echo(to_csv(changes), nl=False)


def _show_changes(changes: Sequence[Change], output: Output) -> None:
    from penstock.kernel.times import shown_moment

    rows = [
        {
            "group": each.group,
            "topic": each.topic,
            "partition": each.partition,
            "old": each.old,
            "new": each.new,
            "read_again": each.read_again,
            "skipped": each.skipped,
            "first": shown_moment(each.first) or None,
            "last": shown_moment(each.last) or None,
        }
        for each in changes
    ]
    show(rows, output)


def _conclude(broker: Broker, changes: Sequence[Change], *, done: bool) -> None:
    again, skipped = (
        sum(each.read_again for each in changes),
        sum(each.skipped for each in changes),
    )
    if done:
        say(f"Done: {again} records will be read again, {skipped} are skipped.")
        return
    say(f"{again} records would be read again, {skipped} skipped. Nothing was changed: --execute")
    for group in dict.fromkeys(each.group for each in changes):
        if reason := broker.resets.obstacle(group):
            err.print(f"Not possible now: {reason}", style="yellow", markup=False)
