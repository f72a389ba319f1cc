"""`penstock offsets`: how far connectors are, and how to change that. Commands import the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.completion import connector_names
from penstock.cli.offsets.change import Change, tell_notes
from penstock.cli.offsets.place import Place, Way
from penstock.cli.shown import Output, OutputOption
from penstock.cli.target import CommandConfig, Connect, ContextName, Servers, Target
from penstock.errors import ConfigError

if TYPE_CHECKING:
    from penstock.data.record import TopicPartition
    from penstock.offsets import Wish

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
        tell_notes(offsets)
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
    Change(place, name, "set", recreate, dry_run, yes, output).run(wish)


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
    Change(place, name, "reset", recreate, dry_run, yes, output).run(wish(partition or ()))


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
    Change(place, name, "rewind", recreate, dry_run, yes, output).run(goal)


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
        Change(place, name, "undo", recreate, dry_run, yes, output).run(None)
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
) -> Place:
    target = Target.of(connect, context, servers, command_config)
    return Place(target, via, offset_topic, timeout)
