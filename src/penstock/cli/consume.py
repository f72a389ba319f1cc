"""`penstock consume`: the records of a topic."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.completion import group_names, topic_names
from penstock.cli.kafka import Forms, KafkaCluster
from penstock.cli.options import Options, grouped
from penstock.kernel.errors import ConfigError

if TYPE_CHECKING:
    from penstock.cli.consumed import Decoders, Printed
    from penstock.kafka.clients import RawRecord
    from penstock.tools.broker import Goal

app = typer.Typer(rich_markup_mode=None)

_EXAMPLES = """\b
Examples:
  penstock consume orders                              from the beginning to the end
  penstock consume orders --follow                     new records only
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


@dataclass(frozen=True, slots=True)
class Start(Options):
    """Where to begin."""

    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="The first record; the default without -F.")
    ] = False
    offset: Annotated[
        str,
        typer.Option("--offset", metavar="N|-N|earliest|latest", help="-N: the last N records."),
    ] = ""
    from_time: Annotated[
        str, typer.Option("--from-time", metavar="TIME", help="2026-03-01T12:00, UTC; or ms.")
    ] = ""
    since: Annotated[
        str, typer.Option("--since", metavar="DURATION", help="The last 10m, 2h or PT2H.")
    ] = ""

    def check(self, *, group: str, partitions: bool) -> None:
        starts = {
            "--from-beginning": self.from_beginning and not group,
            "--offset": bool(self.offset),
            "--from-time": bool(self.from_time),
            "--since": bool(self.since),
        }
        given = [name for name, is_given in starts.items() if is_given]
        if len(given) > 1:
            raise ConfigError(f"give only one of {' and '.join(given)}")
        if group and (given or partitions):
            raise ConfigError(
                "a group starts at its own offsets; leave out --offset, --from-time, --since and"
                " --partition with --group"
            )

    def goal(self, *, follow: bool) -> Goal:
        from penstock.kernel.times import duration_ms, moment_ms
        from penstock.tools.broker import goals

        if self.from_time:
            return goals.to_time(moment_ms(self.from_time))
        if self.since:
            return goals.by_duration(duration_ms(self.since))
        match self.offset.strip().lower():
            case "":
                at_end = follow and not self.from_beginning
                return goals.to_latest if at_end else goals.to_earliest
            case "earliest" | "beginning":
                return goals.to_earliest
            case "latest" | "end":
                return goals.to_latest
        try:
            number = int(self.offset)
        except ValueError as error:
            raise ConfigError(
                f"--offset must be a number, earliest or latest, not {self.offset!r}"
            ) from error
        return goals.to_last(-number) if number < 0 else goals.to_offset(number)


@dataclass(frozen=True, slots=True)
class Printing(Options):
    """How records are printed."""

    output: Annotated[
        Shape | None,
        typer.Option(
            "--output", "-o", help="A table, JSON lines, or raw bytes. Default: a table, or raw."
        ),
    ] = None
    format_: Annotated[
        str,
        typer.Option("--format", "-f", help="As kcat's: %k %s %p %o %t %T %h %K %S %R and \\n."),
    ] = ""
    keys: Annotated[bool, typer.Option("--keys", help="Raw output: keys too.")] = False
    key_separator: Annotated[
        str, typer.Option("--key-separator", "-K", help="Raw output: the key, this, the value.")
    ] = ""
    headers: Annotated[bool, typer.Option("--headers", help="Tables: headers too.")] = False
    null: Annotated[
        bool, typer.Option("--null", "-Z", help="Raw output and formats: print NULL for null.")
    ] = False

    def of(self, decoders: Decoders) -> Printed:
        from penstock.cli.consumed import Formatted, JsonLines, Table

        separator, output = self.key_separator or ("\\t" if self.keys else ""), self.output
        if output is None:
            output = Shape.RAW if separator or self.null or self.format_ else Shape.TABLE
        elif self.format_:
            raise ConfigError("give --format or --output, not both")
        if output is not Shape.RAW and (separator or self.null):
            raise ConfigError("--keys, --key-separator and --null are for --output raw")
        if output is Shape.RAW:
            if self.headers or (self.format_ and separator):
                raise ConfigError(
                    "--headers is for tables; in a --format, %k is the key and %h the headers"
                )
            plain = separator.replace("%", "%%")
            raw = f"%k{plain}%s\\n" if separator else "%s\\n"
            return Formatted(self.format_ or raw, decoders, null=self.null)
        if output is Shape.JSON:
            return JsonLines(decoders)
        return Table(decoders, headers=self.headers)


@app.command(epilog=_EXAMPLES, context_settings={"max_content_width": 100})
@grouped
def consume(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", autocompletion=topic_names)],
    start: Start,
    partition: Annotated[
        list[int] | None, typer.Option("--partition", "-p", min=0, help="Repeatable; default all.")
    ] = None,
    max_messages: Annotated[
        int | None, typer.Option("--max-messages", "-n", min=1, help="End after this number.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-F", help="Wait for new records; starts at the end.")
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
    uncommitted: Annotated[
        bool, typer.Option("--uncommitted", help="Also records of open or aborted transactions.")
    ] = False,
    *,
    printing: Printing,
    forms: Forms,
    cluster: KafkaCluster,
) -> None:
    """Show the records of a topic.

    Ends at the current end of the topic, unless --follow is given. Records of one partition are
    in their order.
    """
    start.check(group=group, partitions=bool(partition))
    printed = printing.of(forms.decoders(cluster.target))
    with cluster.broker() as broker:
        if group:
            records = broker.messages.read_as(
                group,
                topic,
                from_beginning=start.from_beginning,
                follow=follow,
                uncommitted=uncommitted,
            )
        else:
            goal = start.goal(follow=follow)
            records = broker.messages.read(
                topic, goal, partitions=partition or (), follow=follow, uncommitted=uncommitted
            )
        with closing(records):
            _write(islice(records, max_messages), printed, follow=follow)


def _write(records: Iterator[RawRecord], printed: Printed, *, follow: bool) -> None:
    """Write to standard output's bytes: the console would wrap and style them."""
    stream = sys.stdout.buffer
    try:
        for piece in printed.pieces(records, at_once=follow):
            stream.write(piece)
            if follow:
                stream.flush()
        stream.flush()
    except BrokenPipeError:
        # The reader of our output, such as `head`, has ended.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
