"""`penstock logs`: the lines that connectors logged on a worker."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

import typer

from penstock.cli.connectors.choice import Names, choose
from penstock.cli.formats import Output, OutputOption, show_document
from penstock.cli.options import grouped
from penstock.cli.output import complain, out, say
from penstock.cli.target import ConnectCluster
from penstock.kernel.clock import SystemClock
from penstock.kernel.errors import ConfigError, NotFoundError, PenstockError
from penstock.kernel.times import duration_ms, moment_ms, shown_moment

if TYPE_CHECKING:
    from penstock.kernel.wire.models import LogLine
    from penstock.tools.client import Client

app = typer.Typer(rich_markup_mode=None)

_EVERY_SECONDS: Final = 1.0
_PAGE: Final = 1000
_STYLES: Final = {"ERROR": "red", "FATAL": "red", "WARN": "yellow"}


class Level(StrEnum):
    """The lowest level to show."""

    ERROR = "ERROR"
    WARN = "WARN"
    INFO = "INFO"
    DEBUG = "DEBUG"


@app.command()
@grouped
def logs(
    names: Names,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="And new lines.")] = False,
    tail: Annotated[int, typer.Option(min=0, max=10_000, help="The last lines of each.")] = 100,
    level: Annotated[
        Level | None,
        typer.Option(help="Only lines of this level and worse.", case_sensitive=False),
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Only lines since then: 10m, 2h, 1d or 2026-01-31T12:00:00Z.")
    ] = None,
    *,
    cluster: ConnectCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Show the last lines that connectors and their tasks have logged, oldest first.

    A Penstock worker keeps the last 1000 lines of each connector in memory; other Connect workers
    keep none. A worker has only the lines that it logged itself.

    \b
    penstock logs orders-sink
    penstock logs 'jdbc_*' --level warn --since 10m
    penstock logs orders-sink --follow
    """
    if follow and output is not Output.TABLE:
        raise ConfigError("--follow prints only lines; leave it out, or leave out --output")
    since_ms = None if since is None else _moment(since)
    with cluster.client() as client:
        chosen = choose(client, names)
        reader = _Reader(client, chosen.names, None if level is None else level.value)
        lines = reader.first(tail, since_ms)
        if output is not Output.TABLE:
            show_document([_document(*each) for each in lines], output)
            chosen.finish()
        several = len(chosen.names) > 1
        _print(lines, several=several)
        if follow and chosen.names:
            chosen.complain()
            _follow(reader, several=several)
    chosen.finish()


_Line = tuple[str, "LogLine"]


def _follow(reader: _Reader, *, several: bool) -> NoReturn:
    from penstock.tools.client.transport import may_pass

    while True:
        time.sleep(_EVERY_SECONDS)
        try:
            _print(reader.next(), several=several)
        except PenstockError as error:
            if not may_pass(error):
                raise
            # After a restart, the worker's log begins anew and is read from there.
            complain(f"{error}; trying again")


class _Reader:
    """Reads the last lines of some connectors, and then new ones."""

    def __init__(self, client: Client, names: Sequence[str], level: str | None) -> None:
        self._client = client
        self._level = level
        self._cursors: dict[str, str | None] = dict.fromkeys(names)

    def first(self, tail: int, since_ms: int | None) -> list[_Line]:
        """The last lines, by time."""
        found: list[_Line] = []
        for name in self._cursors:
            # The server returns at least one line; with --tail 0 it is not shown.
            page = self._page(name, limit=max(tail, 1), since_ms=since_ms)
            found += [(name, line) for line in page.lines][:tail]
            self._cursors[name] = page.cursor
        return sorted(found, key=_time)

    def next(self) -> list[_Line]:
        """All lines since the last call."""
        return sorted((line for name in self._cursors for line in self._new(name)), key=_time)

    def _new(self, name: str) -> Iterator[_Line]:
        while True:
            page = self._page(name, limit=_PAGE, after=self._cursors[name])
            self._cursors[name] = page.cursor
            yield from ((name, line) for line in page.lines)
            if len(page.lines) < _PAGE:
                return

    def _page(self, name: str, **wanted: Any) -> Any:
        try:
            return self._client.logs(name, level=self._level, **wanted)
        except NotFoundError as error:
            if "Connector" in str(error):
                raise
            raise NotFoundError(
                f"{self._client.url} keeps no logs of connectors: only Penstock's workers do;"
                " read the log of the worker itself"
            ) from error


def _time(entry: _Line) -> int:
    return entry[1].timestamp


def _print(lines: Sequence[_Line], *, several: bool) -> None:
    for name, line in lines:
        task = "" if line.task is None else f"task-{line.task} "
        who = f"[{name}] " if several else ""
        text = f"{shown_moment(line.timestamp)} {line.level:<5} {who}{task}{line.message}"
        style = _STYLES.get(line.level)
        if style is None:
            say(text)
        else:
            out.print(text, style=style, markup=False)


def _document(name: str, line: LogLine) -> dict[str, Any]:
    return {"connector": name, **line.to_json(), "time": shown_moment(line.timestamp)}


def _moment(text: str) -> int:
    """Milliseconds since the epoch.

    Raises:
        ConfigError: it is neither a span nor a time.
    """
    try:
        return SystemClock().wall_ms() - duration_ms(text)
    except ConfigError:
        pass
    try:
        return moment_ms(text)
    except ConfigError:
        raise ConfigError(
            f"--since is {text}; it must be a span such as 30s, 10m, 2h or 1d, or a time such as"
            " 2026-01-31T12:00:00Z"
        ) from None
