"""`penstock consume`: the records of a topic."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.completion import group_names, topic_names
from penstock.cli.kafka import (
    FormName,
    KeyForm,
    Registry,
    Timeout,
    ValueForm,
    opened,
    registry_forms,
)
from penstock.cli.target import CommandConfig, ContextName, Servers, Target
from penstock.errors import ConfigError

if TYPE_CHECKING:
    from penstock.broker import Goal
    from penstock.cli.consumed import Decoders, Printed
    from penstock.kafka.clients import RawRecord

app = typer.Typer(rich_markup_mode=None)

_EXAMPLES = """\b
Examples:
  penstock consume orders                              from the beginning to the end
  penstock consume orders --follow                     what comes from now on
  penstock consume orders --offset -5 -o json          the last five of each partition
  penstock consume orders --from-time 2026-03-01T12:00 -p 0 -n 100
  penstock consume orders --value-format avro --schema-registry http://localhost:8081
  penstock consume connect-offsets -f 'Key:%k Partition:%p\\n' | sort -u
  penstock consume orders --group billing --from-beginning
"""


class Shape(StrEnum):
    """The forms of output."""

    TABLE = "table"
    JSON = "json"
    RAW = "raw"


@app.command(epilog=_EXAMPLES, context_settings={"max_content_width": 100})
def consume(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", autocompletion=topic_names)],
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="The first record; the default, but for -F.")
    ] = False,
    offset: Annotated[
        str,
        typer.Option("--offset", metavar="N|-N|earliest|latest", help="-N: the last N of each."),
    ] = "",
    from_time: Annotated[
        str, typer.Option("--from-time", metavar="TIME", help="2026-03-01T12:00, UTC; or ms.")
    ] = "",
    since: Annotated[
        str, typer.Option("--since", metavar="DURATION", help="As 10m, 2h or PT2H, back from now.")
    ] = "",
    partition: Annotated[
        list[int] | None, typer.Option("--partition", "-p", min=0, help="Repeatable; else all.")
    ] = None,
    max_messages: Annotated[
        int | None, typer.Option("--max-messages", "-n", min=1, help="End after so many.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-F", help="Go on at the end; begins there by default.")
    ] = False,
    group: Annotated[
        str,
        typer.Option(
            "--group",
            "-G",
            help="Read as a member of this group, and commit.",
            autocompletion=group_names,
        ),
    ] = "",
    output: Annotated[
        Shape | None,
        typer.Option(
            "--output", "-o", help="A table, a JSON object a line, or bytes. Else a table, or raw."
        ),
    ] = None,
    format_: Annotated[
        str,
        typer.Option("--format", "-f", help="As kcat's: %k %s %p %o %t %T %h %K %S %R and \\n."),
    ] = "",
    keys: Annotated[bool, typer.Option("--keys", help="Raw output: keys too.")] = False,
    key_separator: Annotated[
        str, typer.Option("--key-separator", "-K", help="Raw output: the key, this, the value.")
    ] = "",
    headers: Annotated[bool, typer.Option("--headers", help="Tables: headers too.")] = False,
    null: Annotated[
        bool, typer.Option("--null", "-Z", help="Raw output and formats: null as NULL.")
    ] = False,
    key_form: KeyForm = FormName.AUTO,
    value_form: ValueForm = FormName.AUTO,
    schema_registry: Registry = None,
    uncommitted: Annotated[
        bool, typer.Option("--uncommitted", help="Records of open and aborted transactions too.")
    ] = False,
    context: ContextName = None,
    servers: Servers = None,
    command_config: CommandConfig = None,
    timeout: Timeout = 30,
) -> None:
    """Show the records of a topic.

    Ends where the topic ends now, unless it is to --follow. Records of one partition come in
    their order.
    """
    _check(
        {
            "--from-beginning": from_beginning and not group,
            "--offset": bool(offset),
            "--from-time": bool(from_time),
            "--since": bool(since),
        },
        group=group,
        other=bool(partition),
    )
    target = Target.of(context=context, servers=servers, command_config=command_config)
    decoders = _decoders(target, schema_registry, key_form, value_form)
    separator = key_separator or ("\\t" if keys else "")
    shape = _shape(output, format_, separator, decoders, null=null, headers=headers)
    with opened(context, servers, command_config, timeout) as broker:
        if group:
            records = broker.messages.read_as(
                group,
                topic,
                from_beginning=from_beginning,
                follow=follow,
                uncommitted=uncommitted,
            )
        else:
            start = _start(offset, from_time, since, at_end=follow and not from_beginning)
            records = broker.messages.read(
                topic, start, partitions=partition or (), follow=follow, uncommitted=uncommitted
            )
        with closing(records):
            _write(islice(records, max_messages), shape, follow=follow)


def _check(starts: dict[str, bool], *, group: str, other: bool) -> None:
    given = [name for name, is_given in starts.items() if is_given]
    if len(given) > 1:
        raise ConfigError(f"give one of {' and '.join(given)}")
    if group and (given or other):
        raise ConfigError(
            "a group decides where it reads: --group goes with none of --offset, --from-time,"
            " --since and --partition"
        )


def _decoders(
    target: Target, url: str | None, key_form: FormName, value_form: FormName
) -> Decoders:
    from penstock.broker.forms import Decoder, Form

    registry = registry_forms(target, url, key_form, value_form)
    return Decoder(Form(key_form), registry), Decoder(Form(value_form), registry)


def _shape(
    output: Shape | None,
    format_: str,
    separator: str,
    decoders: Decoders,
    *,
    null: bool,
    headers: bool,
) -> Printed:
    from penstock.cli.consumed import Formatted, JsonLines, Table

    if output is None:
        output = Shape.RAW if separator or null or format_ else Shape.TABLE
    elif format_:
        raise ConfigError("give --format or --output, not both")
    if output is not Shape.RAW and (separator or null):
        raise ConfigError("--keys, --key-separator and --null are for --output raw")
    if output is Shape.RAW:
        if headers or (format_ and separator):
            raise ConfigError("--headers is for tables; in a --format, %k is the key, %h headers")
        plain = separator.replace("%", "%%")
        raw = f"%k{plain}%s\\n" if separator else "%s\\n"
        return Formatted(format_ or raw, decoders, null=null)
    return JsonLines(decoders) if output is Shape.JSON else Table(decoders, headers=headers)


def _start(offset: str, from_time: str, since: str, *, at_end: bool) -> Goal:
    from penstock.broker import goals
    from penstock.times import duration_ms, moment_ms

    if from_time:
        return goals.to_time(moment_ms(from_time))
    if since:
        return goals.by_duration(duration_ms(since))
    match offset.strip().lower():
        case "":
            return goals.to_latest if at_end else goals.to_earliest
        case "earliest" | "beginning":
            return goals.to_earliest
        case "latest" | "end":
            return goals.to_latest
    try:
        number = int(offset)
    except ValueError as error:
        raise ConfigError(
            f"--offset must be a number, earliest or latest, not {offset!r}"
        ) from error
    return goals.to_last(-number) if number < 0 else goals.to_offset(number)


def _write(records: Iterator[RawRecord], shape: Printed, *, follow: bool) -> None:
    """Through the bytes of standard output: the console would wrap and style it."""
    stream = sys.stdout.buffer
    try:
        for piece in shape.pieces(records, at_once=follow):
            stream.write(piece)
            if follow:
                stream.flush()
        stream.flush()
    except BrokenPipeError:
        # Whoever read our output has enough, as `head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
