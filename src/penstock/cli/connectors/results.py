"""The result for each connector: printed as it happens, or at the end for scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from penstock.cli.formats import Output, show_document
from penstock.cli.output import complain, say, warn
from penstock.kernel.errors import PenstockError

if TYPE_CHECKING:
    from penstock.tools.client import Client
    from penstock.tools.client.arrival import Verdict


class Results:
    """One entry for each connector. A failure of one does not stop the others."""

    def __init__(self, output: Output, done: str) -> None:
        """`done` is the word of the summary: deleted, paused."""
        self._output = output
        self._done = done
        self._rows: list[dict[str, Any]] = []
        self._failed = 0
        self._unchanged = 0
        self._notes: dict[str, list[str]] = {}

    def note(self, name: str, message: str) -> None:
        """Add a warning."""
        self._notes.setdefault(name, []).append(message)
        if self._output is Output.TABLE:
            warn(f"{name}: {message}")

    def ok(self, name: str, message: str) -> None:
        """It worked."""
        notes = {"notes": self._notes[name]} if name in self._notes else {}
        self._rows.append({"name": name, "result": message, **notes})
        if self._output is Output.TABLE:
            say(f"{name}: {message}")

    def unchanged(self, name: str, message: str) -> None:
        """There was nothing to do."""
        self._unchanged += 1
        self.ok(name, message)

    def fail(self, name: str, error: str) -> None:
        """It failed; passwords in addresses, which errors of drivers may have, are hidden."""
        from penstock.kernel.config.redaction import without_passwords

        error = without_passwords(error)
        self._rows.append({"name": name, "error": error})
        self._failed += 1
        if self._output is Output.TABLE:
            complain(f"{name}: {error}")

    def missing(self, missing: Iterable[tuple[str, str]]) -> None:
        """Names and patterns that match no connector."""
        for name, message in missing:
            self._rows.append({"name": name, "error": message})
            self._failed += 1
            if self._output is Output.TABLE:
                complain(message)

    def attempt(self, names: Sequence[str], act: Callable[[str], None]) -> list[str]:
        """Do it for each. Returns those for which it worked, not yet reported as `ok`."""
        done: list[str] = []
        for name in names:
            try:
                act(name)
            except PenstockError as error:
                self.fail(name, str(error))
            else:
                done.append(name)
        return done

    def each(self, names: Sequence[str], act: Callable[[str], str]) -> None:
        """Do it for each; `act` returns the message."""
        for name in names:
            try:
                message = act(name)
            except PenstockError as error:
                self.fail(name, str(error))
            else:
                self.ok(name, message)

    def finish(self) -> NoReturn:
        """Sum up, and end the command: 0 if all worked, else 1."""
        if self._output is not Output.TABLE:
            show_document(self._rows, self._output)
        elif len(self._rows) > 1:
            done = len(self._rows) - self._failed - self._unchanged
            counts = {self._done: done, "as before": self._unchanged, "failed": self._failed}
            totals = (f"{count} {what}" for what, count in counts.items() if count)
            say(", ".join(totals))
        raise typer.Exit(1 if self._failed else 0)


def remark(client: Client, name: str, found: Verdict) -> str:
    """To be added to "running": why it has no tasks, or what it waits for; empty if all is well."""
    if found.without_tasks:
        return f" without tasks: {found.waits_for or _last_warning(client, name)}"
    return f", {found.waits_for}" if found.waits_for else ""


def _last_warning(client: Client, name: str) -> str:
    try:
        lines = client.logs(name, level="WARN").lines
    except PenstockError:
        lines = []  # Only Penstock's workers keep logs.
    return lines[-1].message if lines else "there is nothing for them to do yet"
