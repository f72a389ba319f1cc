"""`penstock offsets`: shows and changes offsets of connectors. Commands import the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.completion import connector_names
from penstock.cli.formats import Output, OutputOption
from penstock.cli.offsets.change import Change, ChangeOptions, print_notes
from penstock.cli.offsets.place import Place, RouteName
from penstock.cli.options import grouped
from penstock.kernel.errors import ConfigError

if TYPE_CHECKING:
    from penstock.kernel.data.record import TopicPartition
    from penstock.tools.offsets import ChangeRequest

_EXAMPLES = """\b
Examples:
  penstock offsets show                                  all connectors of the cluster
  penstock offsets show jdbc_src_1 -o json | jq .offset
  penstock offsets show jdbc_src_1 --history 20          older offsets in the topic
  penstock offsets set jdbc_src_1 --offset incrementing=369034
  penstock offsets set jdbc_src_1 --partition '{"query":"query"}' \\
      --offset '{"timestamp_nanos":817000000,"timestamp":1669701595817}'
  penstock offsets set orders_sink orders:0=1200 orders:1=1187
  penstock offsets rewind orders_sink --by 2h            read the last two hours again
  penstock offsets rewind jdbc_src_3 --to 2026-11-16T10:00 --dry-run
  penstock offsets reset jdbc_src_1                      all from the start
  penstock offsets undo jdbc_src_1                       restore the old offsets
"""
app = typer.Typer(
    name="offsets",
    help="Offsets of sources and sinks: show, set, rewind, reset, undo.\n\n"
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
        help="Connectors, or patterns such as 'jdbc_*'; default all.",
        autocompletion=connector_names,
    ),
]
_Partitions = Annotated[
    list[str] | None,
    typer.Option(
        "--partition",
        help="Only this one; repeatable. Sources: JSON or key=value. Sinks: topic or topic:0.",
    ),
]


@app.command()
@grouped
def show(
    names: _Names = None,
    history: Annotated[
        int, typer.Option(min=0, help="Sources: the last N offsets that the topic still holds.")
    ] = 0,
    output: OutputOption = Output.TABLE,
    *,
    place: Place,
) -> None:
    """Show the stored offsets of sources and sinks, their age and the lag.

    Without Kafka, only what the REST API returns is shown.
    """
    from penstock.cli.offsets.views import show_held

    if history and place.via is RouteName.REST:
        raise ConfigError("only the offsets topic has a history; leave out --via rest")
    with place.offsets() as offsets:
        found = offsets.show_many(place.names(names), history)
        print_notes(offsets)
    show_held(found, output)


@app.command("set")
@grouped
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
    *,
    place: Place,
    options: ChangeOptions,
) -> None:
    """Set offsets to values."""
    request = _values(positions, partition, offset, new=new)
    Change(place, name, "set", options).run(request)


def _values(
    positions: list[str] | None, partition: str | None, offset: str | None, *, new: bool
) -> ChangeRequest:
    from penstock.tools.offsets import set_sink, set_source
    from penstock.tools.offsets.texts import sink_position, source_offset

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
@grouped
def reset(
    name: _Name,
    partition: _Partitions = None,
    *,
    place: Place,
    options: ChangeOptions,
) -> None:
    """Delete offsets: the connector starts again from the beginning, in all partitions or some."""
    from penstock.tools.offsets import reset as request

    Change(place, name, "reset", options).run(request(partition or ()))


@app.command()
@grouped
def rewind(
    name: _Name,
    by: Annotated[str | None, typer.Option(help="By 90s, 2h or 1d12h.")] = None,
    to: Annotated[
        str | None, typer.Option(help="To a time: 2026-11-16T10:00 (UTC, or with a zone).")
    ] = None,
    to_start: Annotated[bool, typer.Option("--to-start", help="To the beginning.")] = False,
    partition: _Partitions = None,
    *,
    place: Place,
    options: ChangeOptions,
) -> None:
    """Go back in time, never forward.

    Sinks use the times of the records. Sources with a time in their offset (JDBC) use that;
    others use the offset that was stored then, if the offsets topic still has it.
    """
    from penstock.tools.offsets import rewind as request

    goal = request(_moment(by, to, to_start), partition or ())
    Change(place, name, "rewind", options).run(goal)


def _moment(by: str | None, to: str | None, to_start: bool) -> int | None:
    from penstock.kernel.clock import SystemClock
    from penstock.kernel.times import duration_ms, moment_ms

    if sum((by is not None, to is not None, to_start)) != 1:
        raise ConfigError("give one of --by, --to and --to-start")
    if by is not None:
        return SystemClock().wall_ms() - abs(duration_ms(by))
    return None if to is None else moment_ms(to)


@app.command()
@grouped
def undo(
    name: _Name,
    list_: Annotated[bool, typer.Option("--list", help="Only list the recorded changes.")] = False,
    *,
    place: Place,
    options: ChangeOptions,
) -> None:
    """Undo the last change; called again, the change before it.

    This machine keeps the last twenty changes of each connector that these commands made.
    """
    from penstock.cli.offsets.views import show_entries

    if not list_:
        Change(place, name, "undo", options).run(None)
        return
    if options.dry_run or options.yes or options.recreate:
        raise ConfigError("--list changes nothing; leave out --dry-run, --yes and --recreate")
    with place.offsets() as offsets:
        show_entries(offsets.changes(name), options.output)
