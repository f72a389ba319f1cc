"""What became of each connector: told as it happens, or in the end for scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import typer

from penstock.cli.output import complain, say, warn
from penstock.cli.shown import Output, show_document
from penstock.errors import PenstockError


class Results:
    """One entry for each connector. What fails for one does not stop the others."""

    def __init__(self, output: Output, done: str) -> None:
        """`done` is a word for the summary: deleted, paused."""
        self._output = output
        self._done = done
        self._rows: list[dict[str, Any]] = []
        self._failed = 0
        self._unchanged = 0
        self._notes: dict[str, list[str]] = {}

    def note(self, name: str, told: str) -> None:
        """Something to look at, which stops nothing."""
        self._notes.setdefault(name, []).append(told)
        if self._output is Output.TABLE:
            warn(f"{name}: {told}")

    def ok(self, name: str, told: str) -> None:
        """It worked."""
        notes = {"notes": self._notes[name]} if name in self._notes else {}
        self._rows.append({"name": name, "result": told, **notes})
        if self._output is Output.TABLE:
            say(f"{name}: {told}")

    def unchanged(self, name: str, told: str) -> None:
        """There was nothing to do."""
        self._unchanged += 1
        self.ok(name, told)

    def fail(self, name: str, error: str) -> None:
        """It did not; passwords in addresses, which errors of drivers may have, are hidden."""
        from penstock.config.redaction import without_passwords

        error = without_passwords(error)
        self._rows.append({"name": name, "error": error})
        self._failed += 1
        if self._output is Output.TABLE:
            complain(f"{name}: {error}")

    def missing(self, missing: Iterable[tuple[str, str]]) -> None:
        """What was asked for and is not there."""
        for name, told in missing:
            self._rows.append({"name": name, "error": told})
            self._failed += 1
            if self._output is Output.TABLE:
                complain(told)

    def attempt(self, names: Sequence[str], act: Callable[[str], None]) -> list[str]:
        """Do it for each; those for which it worked, about which nothing is told yet."""
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
        """Do it for each; `act` returns what to tell."""
        for name in names:
            try:
                told = act(name)
            except PenstockError as error:
                self.fail(name, str(error))
            else:
                self.ok(name, told)

    def finish(self) -> NoReturn:
        """Sum up, and end the command: 0 if all worked, else 1."""
        if self._output is not Output.TABLE:
            show_document(self._rows, self._output)
        elif len(self._rows) > 1:
            done = len(self._rows) - self._failed - self._unchanged
            counts = {self._done: done, "as before": self._unchanged, "failed": self._failed}
            told = (f"{count} {what}" for what, count in counts.items() if count)
            say(", ".join(told))
        raise typer.Exit(1 if self._failed else 0)
