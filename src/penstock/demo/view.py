"""The live view: a table on a terminal, else a line every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table

from penstock.demo.flow import Flow

_PLAIN_EVERY_SECONDS = 2.0


@contextmanager
def live_view(console: Console, caption: str) -> Iterator[Callable[[Flow], None]]:
    """A function that shows the flow of one moment; the view ends with the block."""
    if not console.is_terminal:
        yield _PlainView(console)
        return
    with Live(console=console, refresh_per_second=8) as live:
        yield lambda flow: live.update(_table(flow, caption))


class _PlainView:
    """One line every few seconds, if there is no terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._next = 0.0

    def __call__(self, flow: Flow) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _PLAIN_EVERY_SECONDS
        self._console.print(
            f"in {flow.records_in:>8,}   out {flow.records_out:>8,}   "
            f"lag {flow.lag:>7,}   {flow.rate:>7,.0f} records/s"
        )


def _table(flow: Flow, caption: str) -> Table:
    table = Table(title="in.txt → demo-lines → out.txt", caption=caption)
    for heading in ("records in", "records out", "lag", "records/s"):
        table.add_column(heading, justify="right", min_width=12)
    cells = (flow.records_in, flow.records_out, flow.lag, round(flow.rate))
    table.add_row(*(f"{value:,}" for value in cells))
    return table
