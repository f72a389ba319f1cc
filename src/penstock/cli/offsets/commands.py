"""`penstock offsets`: how far connectors are, and how to change that. Commands import the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.completion import connector_names
from penstock.cli.confirmation import confirm
from penstock.cli.output import err
from penstock.cli.shown import Output, OutputOption
from penstock.cli.target import CommandConfig, Connect, ContextName, Servers, Target
from penstock.errors import ConfigError

if TYPE_CHECKING:
    from penstock.data.record import TopicPartition
    from penstock.offsets import Kind, Offsets, Outcome, Plan, Wish

_EXAMPLES = """\b
Examples:
  penstock offsets show                                  all connectors of the cluster
  penstock offsets show jdbc_src_1 -o json | jq .offset
  penstock offsets show jdbc_src_1 --history 20          what the topic still holds
  penstock offsets set jdbc_src_1 --offset incrementing=369034
  penstock offsets set jdbc_src_1 --partition '{"query":"query"}' \\
      --offset '{"timestamp_nanos":817000000,"timestamp":1669701595817}'
  penstock offsets set orders_sink orders:0=1200 orders:1=1187
  penstock offsets rewind orders_sink --by 2h            read the last two hours again
  penstock offsets rewind jdbc_src_3 --to 2026-11-16T10:00 --dry-run
  penstock offsets reset jdbc_src_1                      all from the start
  penstock offsets undo jdbc_src_1                       put the old offsets back
"""
app = typer.Typer(
    name="offsets",
    help="How far sources and sinks are: show it, set it, go back, and undo that.\n\n"
    "A change stops the connector, changes, checks, and starts it in the state it had.",
    epilog=_EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"max_content_width": 100},
)


class Way(StrEnum):
    """The way to the offsets."""

    AUTO = "auto"
    REST = "rest"
    TOPIC = "topic"


_Name = Annotated[
    str, typer.Argument(metavar="NAME", help="A connector.", autocompletion=connector_names)
]
_Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME]...",
        help="Connectors, or patterns as 'jdbc_*'; else all.",
        autocompletion=connector_names,
    ),
]
_Via = Annotated[
    Way,
    typer.Option(
        help="rest: Connect's REST API. topic: Kafka itself, the offsets topic of sources and the"
        " consumer group of sinks. auto: rest where the server has it."
    ),
]
_Topic = Annotated[
    str | None,
    typer.Option("--offset-topic", help="The workers' offset.storage.topic [connect-offsets]."),
]
_Partitions = Annotated[
    list[str] | None,
    typer.Option(
        "--partition",
        help="Only this one; may be repeated. Sources: JSON or key=value. Sinks: topic or topic:0.",
    ),
]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be read again.")]
_Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before the change.")]
_Recreate = Annotated[
    bool,
    typer.Option(
        "--recreate",
        help="Where the server can't stop connectors (before 3.5): delete it, and create it again.",
    ),
]
_Timeout = Annotated[float, typer.Option(min=1, help="Seconds for each step.")]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where to work, and how."""

    target: Target
    via: Way
    topic: str | None
    seconds: float

    @contextmanager
    def offsets(self) -> Iterator[Offsets]:
        from penstock.offsets import Offsets, Via

        kafka = self.target.kafka()
        topic = self.topic or self.target.offset_topic
        with (
            self.target.client(self.seconds) as client,
            Offsets(
                client, kafka, topic=topic, via=Via(self.via.value), seconds=self.seconds
            ) as offsets,
        ):
            yield offsets

    def names(self, patterns: list[str] | None) -> list[str]:
        """Those that match; a name that no connector has may still have offsets in Kafka."""
        from penstock.broker.names import chosen, is_pattern

        if patterns and not any(map(is_pattern, patterns)):
            return patterns
        with self.target.client(self.seconds) as client:
            known = client.connectors()
        return chosen(known, patterns, "connector") if patterns else known


@app.command()
def show(
    names: _Names = None,
    history: Annotated[
        int, typer.Option(min=0, help="Sources: the last N offsets that the topic still holds.")
    ] = 0,
    connect: Connect = None,
    context: ContextName = None,
    servers: Servers = None,
    command_config: CommandConfig = None,
    offset_topic: _Topic = None,
    via: _Via = Way.AUTO,
    timeout: _Timeout = 60,
    output: OutputOption = Output.TABLE,
) -> None:
    """What is stored: offsets of sources and sinks, where they stand and since when, and the lag.

    Without Kafka the REST API alone is asked, and the rest is left out.
    """
    from penstock.cli.offsets.shown import show_held

    if history and via is Way.REST:
        raise ConfigError("only the offsets topic has a history; leave out --via rest")
    place = _place(connect, context, servers, command_config, via, offset_topic, timeout)
    with place.offsets() as offsets:
        found = offsets.show_many(place.names(names), history)
        _notes(offsets)
    show_held(found, output)


@app.command("set")
def set_(
    name: _Name,
    positions: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TOPIC:PARTITION=OFFSET]...", help="Sinks: what to read next."),
    ] = None,
    partition: Annotated[
        str | None,
        typer.Option(help="Sources: JSON or key=value; the only one there is may be left out."),
    ] = None,
    offset: Annotated[
        str | None, typer.Option(help="Sources: the new offset, JSON or key=value.")
    ] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Also for a partition that has no offset so far.")
    ] = False,
    connect: Connect = None,
    context: ContextName = None,
    servers: Servers = None,
    command_config: CommandConfig = None,
    offset_topic: _Topic = None,
    via: _Via = Way.AUTO,
    recreate: _Recreate = False,
    timeout: _Timeout = 60,
    dry_run: _DryRun = False,
    yes: _Yes = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Set offsets to values."""
    place = _place(connect, context, servers, command_config, via, offset_topic, timeout)
    wish = _values(positions, partition, offset, new=new)
    _Change(place, name, "set", recreate, dry_run, yes, output).run(wish)


def _values(
    positions: list[str] | None, partition: str | None, offset: str | None, *, new: bool
) -> Wish:
    from penstock.offsets import set_sink, set_source
    from penstock.offsets.texts import sink_position, source_offset

    if bool(positions) == (offset is not None) or (positions and partition is not None):
        raise ConfigError(
            "give TOPIC:PARTITION=OFFSET for a sink, or --offset (and --partition) for a source"
        )
    if positions:
        if new:
            raise ConfigError("--new is for sources; a sink's partitions are those of its topics")
        found = [sink_position(text) for text in positions]
        _check_once(found)
        return set_sink(dict(found))
    return set_source(partition, source_offset(offset or ""), new=new)


def _check_once(positions: Sequence[tuple[TopicPartition, int]]) -> None:
    counts = Counter(place for place, _ in positions)
    if twice := [place for place, count in counts.items() if count > 1]:
        raise ConfigError(f"{twice[0].topic}:{twice[0].partition} is given more than once")


@app.command()
def reset(
    name: _Name,
    partition: _Partitions = None,
    connect: Connect = None,
    context: ContextName = None,
    servers: Servers = None,
    command_config: CommandConfig = None,
    offset_topic: _Topic = None,
    via: _Via = Way.AUTO,
    recreate: _Recreate = False,
    timeout: _Timeout = 60,
    dry_run: _DryRun = False,
    yes: _Yes = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Forget offsets: the connector starts anew, with all partitions or with some."""
    from penstock.offsets import reset as wish

    place = _place(connect, context, servers, command_config, via, offset_topic, timeout)
    _Change(place, name, "reset", recreate, dry_run, yes, output).run(wish(partition or ()))


@app.command()
def rewind(
    name: _Name,
    by: Annotated[str | None, typer.Option(help="What came in the last 90s, 2h, 1d12h.")] = None,
    to: Annotated[
        str | None, typer.Option(help="What came since 2026-11-16T10:00 (UTC, or with a zone).")
    ] = None,
    to_start: Annotated[bool, typer.Option("--to-start", help="All there is.")] = False,
    partition: _Partitions = None,
    connect: Connect = None,
    context: ContextName = None,
    servers: Servers = None,
    command_config: CommandConfig = None,
    offset_topic: _Topic = None,
    via: _Via = Way.AUTO,
    recreate: _Recreate = False,
    timeout: _Timeout = 60,
    dry_run: _DryRun = False,
    yes: _Yes = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Go back in time, never forward.

    Sinks go by the times of the records. Sources with a time in their offset (JDBC) go by that;
    others to the offset that was stored then, if the offsets topic still holds it.
    """
    from penstock.offsets import rewind as wish

    place = _place(connect, context, servers, command_config, via, offset_topic, timeout)
    goal = wish(_moment(by, to, to_start), partition or ())
    _Change(place, name, "rewind", recreate, dry_run, yes, output).run(goal)


def _moment(by: str | None, to: str | None, to_start: bool) -> int | None:
    from penstock.clock import SystemClock
    from penstock.times import duration_ms, moment_ms

    if sum((by is not None, to is not None, to_start)) != 1:
        raise ConfigError("give one of --by, --to and --to-start")
    if by is not None:
        return SystemClock().wall_ms() - abs(duration_ms(by))
    return None if to is None else moment_ms(to)


@app.command()
def undo(
    name: _Name,
    list_: Annotated[
        bool, typer.Option("--list", help="Only show the changes that are remembered.")
    ] = False,
    connect: Connect = None,
    context: ContextName = None,
    servers: Servers = None,
    command_config: CommandConfig = None,
    offset_topic: _Topic = None,
    via: _Via = Way.AUTO,
    recreate: _Recreate = False,
    timeout: _Timeout = 60,
    dry_run: _DryRun = False,
    yes: _Yes = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Put back what was stored before the last change; once more, before the one before it.

    Changes made by these commands are remembered on this machine, the last twenty of a connector.
    """
    from penstock.cli.offsets.shown import show_entries

    place = _place(connect, context, servers, command_config, via, offset_topic, timeout)
    if not list_:
        _Change(place, name, "undo", recreate, dry_run, yes, output).run(None)
        return
    if dry_run or yes or recreate:
        raise ConfigError("--list changes nothing; leave out --dry-run, --yes and --recreate")
    with place.offsets() as offsets:
        show_entries(offsets.changes(name), output)


def _place(
    connect: str | None,
    context: str | None,
    servers: str | None,
    command_config: Path | None,
    via: Way,
    offset_topic: str | None,
    timeout: float,
) -> _Place:
    target = Target.of(connect, context, servers, command_config)
    return _Place(target, via, offset_topic, timeout)


@dataclass(frozen=True, slots=True)
class _Change:
    """One change: shown, asked for, made."""

    place: _Place
    name: str
    action: str
    recreate: bool
    dry_run: bool
    yes: bool
    output: Output

    def run(self, wish: Wish | None) -> None:
        """Carry the wish out; None undoes the last change."""
        with self.place.offsets() as offsets:
            plan = offsets.plan(self.name, wish or self._undoing(offsets))
            if not self._wanted(offsets, plan):
                return
            outcome = (
                offsets.undo(self.name, recreate=self.recreate)
                if wish is None
                else offsets.apply(self.name, wish, action=self.action, recreate=self.recreate)
            )
            self._report(plan.kind, outcome)

    def _undoing(self, offsets: Offsets) -> Wish:
        from penstock.offsets import put_back

        return put_back(offsets.last_change(self.name).moves)

    def _wanted(self, offsets: Offsets, plan: Plan) -> bool:
        from penstock.cli.offsets.shown import show_moves

        people = self.output is Output.TABLE
        _notes(offsets)
        if people or self.dry_run:
            show_moves(plan.kind, plan.moves, self.output)
        if self.dry_run:
            return False
        if plan.final and not plan.changes:
            _tell(f"{self.name}: there is nothing to change.")
            # Such a change counts as undone, so that the one before it is next.
            return self.action == "undo"
        if not self.yes:
            confirm(_question(plan))
        return True

    def _report(self, kind: Kind, outcome: Outcome) -> None:
        from penstock.cli.offsets.shown import show_moves

        if self.output is not Output.TABLE:
            show_moves(kind, outcome.moves, self.output)
        state = f"; the connector is {outcome.state}" if outcome.state else ""
        _tell(f"{self.name}: {_count(outcome.moves)} changed{state}.")
        if self.action != "undo" and outcome.moves:
            _tell(f"`penstock offsets undo {self.name}` puts the old back.")


def _question(plan: Plan) -> str:
    if plan.final:
        return f"Change {_count(plan.changes)} of {plan.connector}?"
    if plan.changes:
        return f"Stop {plan.connector}, change {_count(plan.changes)}, start it again?"
    return (
        f"Nothing that is stored would change; but {plan.connector} may have read more than it has"
        " stored. Stop it, look again, start it again?"
    )


def _count(moves: Sequence[object]) -> str:
    return "1 offset" if len(moves) == 1 else f"{len(moves) or 'no'} offsets"


def _tell(text: str) -> None:
    """For people: not among what scripts read."""
    err.print(text, markup=False)


def _notes(offsets: Offsets) -> None:
    for note in offsets.notes:
        _tell(f"Note: {note}")
