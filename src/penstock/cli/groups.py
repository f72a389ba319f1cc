"""`penstock groups`: consumer groups, their lag, and moving their offsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.completion import group_names
from penstock.cli.confirmation import confirm
from penstock.cli.formats import Output, OutputOption, show, show_document
from penstock.cli.group_reset import RESETS, reset
from penstock.cli.kafka import KafkaCluster, Yes
from penstock.cli.options import grouped
from penstock.cli.output import say
from penstock.kernel.errors import ConfigError

if TYPE_CHECKING:
    from penstock.tools.broker import Group

_EXAMPLES = """\b
Examples:
  penstock groups list                                    'connect-*' belong to sinks
  penstock groups describe connect-orders-sink
  penstock groups reset connect-orders-sink --topic orders --to-earliest
                                                          what would be read again
  penstock groups delete 'test-*' --yes
"""
app = typer.Typer(
    name="groups",
    help="Consumer groups: list, describe, move their offsets, delete.",
    epilog=_EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"max_content_width": 100},
)

_Names = Annotated[list[str], typer.Argument(metavar="GROUP|PATTERN", autocompletion=group_names)]


@app.command("list")
@grouped
def list_groups(
    patterns: Annotated[
        list[str] | None, typer.Argument(metavar="GROUP|PATTERN", autocompletion=group_names)
    ] = None,
    *,
    cluster: KafkaCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Groups with their state, members and type."""
    with cluster.broker() as broker:
        groups = broker.groups.find(*patterns or ())
    rows = [
        {
            "group": each.name,
            "state": each.state,
            "members": each.members,
            "type": each.type,
            "protocol": each.protocol,
        }
        for each in groups
    ]
    show(rows, output)


@app.command()
@grouped
def describe(
    patterns: _Names,
    members: Annotated[
        bool, typer.Option("--members", help="The members, and the partitions of each.")
    ] = False,
    state: Annotated[
        bool, typer.Option("--state", help="State, coordinator and assignment strategy.")
    ] = False,
    *,
    cluster: KafkaCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """The offset, lag and reader of each partition of a group."""
    if members and state:
        raise ConfigError("give --members or --state, not both")
    with cluster.broker() as broker:
        groups = [broker.groups.describe(name) for name in broker.groups.names(*patterns)]
    if state:
        show([_state(group) for group in groups], output)
    elif members:
        _show_members(groups, output)
    elif output is not Output.TABLE:
        show_document([_document(group) for group in groups], output)
    else:
        show([row for group in groups for row in _partitions(group)], output)
        for group in groups:
            say(f"{group.name} is {group.state}; {group.lag} records behind.")


def _show_members(groups: Sequence[Group], output: Output) -> None:
    rows = [each for group in groups for each in _members(group)]
    if output is not Output.TABLE:
        show(rows, output)
    elif rows:
        show([{**each, "partitions": " ".join(each["partitions"])} for each in rows], output)
    else:
        say("There are no members.")


def _state(group: Group) -> dict[str, Any]:
    return {
        "group": group.name,
        "state": group.state,
        "type": group.type,
        "assignor": group.assignor,
        "members": len(group.members),
        "coordinator": group.coordinator,
        "lag": group.lag,
    }


def _members(group: Group) -> list[dict[str, Any]]:
    return [
        {
            "group": group.name,
            "member": each.id,
            "instance": each.instance_id,
            "client": each.client_id,
            "host": each.host,
            "partitions": [str(tp) for tp in each.partitions],
        }
        for each in group.members
    ]


def _partitions(group: Group) -> list[dict[str, Any]]:
    return [
        {
            "group": group.name,
            "topic": each.topic,
            "partition": each.partition,
            "current": each.current,
            "end": each.end,
            "lag": each.lag,
            "member": each.member.id if each.member else None,
            "client": each.member.client_id if each.member else None,
            "host": each.member.host if each.member else None,
        }
        for each in group.partitions
    ]


def _document(group: Group) -> dict[str, Any]:
    return {**_state(group), "members": _members(group), "partitions": _partitions(group)}


@app.command()
@grouped
def delete(
    patterns: _Names,
    yes: Yes = False,
    *,
    cluster: KafkaCluster,
) -> None:
    """Delete groups and the offsets they have committed. Asks first."""
    with cluster.broker() as broker:
        names = broker.groups.names(*patterns)
        if not yes:
            for name in names:
                say(f"  {name}")
            confirm("Delete these groups and their offsets?")
        broker.groups.delete(*names)
    say(f"Deleted: {', '.join(names)}")


@app.command("delete-offsets")
@grouped
def delete_offsets(
    group: Annotated[str, typer.Argument(metavar="GROUP", autocompletion=group_names)],
    topic: Annotated[
        list[str], typer.Option("--topic", "-t", help="TOPIC or TOPIC:0,1; repeatable.")
    ],
    yes: Yes = False,
    *,
    cluster: KafkaCluster,
) -> None:
    """Delete the offsets that a group has committed for some topics. Asks first."""
    with cluster.broker() as broker:
        if not yes:
            confirm(f"Delete the offsets of {group} for {', '.join(topic)}?")
        gone = broker.groups.delete_offsets(group, topic)
    say(f"Deleted the offsets of {group} for: {', '.join(map(str, gone))}")


app.command(epilog=RESETS)(reset)
