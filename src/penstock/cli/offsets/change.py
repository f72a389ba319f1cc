"""A change of offsets: shown, asked for, made and reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.confirmation import confirm
from penstock.cli.formats import Output, OutputOption
from penstock.cli.offsets.place import Place
from penstock.cli.options import Options
from penstock.cli.output import err

if TYPE_CHECKING:
    from penstock.tools.offsets import ChangeRequest, Kind, Offsets, Outcome, Plan


@dataclass(frozen=True, slots=True)
class ChangeOptions(Options):
    """How a change is made."""

    recreate: Annotated[
        bool,
        typer.Option(
            "--recreate",
            help="If the server can't stop connectors (before 3.5): delete it, and create it"
            " again.",
        ),
    ] = False
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be read again.")
    ] = False
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before the change.")] = False
    output: OutputOption = Output.TABLE


@dataclass(frozen=True, slots=True)
class Change:
    """One change: shown, asked for, made."""

    place: Place
    name: str
    action: str
    options: ChangeOptions

    def run(self, request: ChangeRequest | None) -> None:
        """Carry the request out; None undoes the last change."""
        with self.place.offsets() as offsets:
            plan = offsets.plan(self.name, request or self._undoing(offsets))
            if not self._wanted(offsets, plan):
                return
            outcome = (
                offsets.undo(self.name, recreate=self.options.recreate)
                if request is None
                else offsets.apply(
                    self.name, request, action=self.action, recreate=self.options.recreate
                )
            )
            self._report(plan.kind, outcome)

    def _undoing(self, offsets: Offsets) -> ChangeRequest:
        from penstock.tools.offsets import put_back

        return put_back(offsets.last_change(self.name).moves)

    def _wanted(self, offsets: Offsets, plan: Plan) -> bool:
        from penstock.cli.offsets.views import show_moves

        people = self.options.output is Output.TABLE
        print_notes(offsets)
        if people or self.options.dry_run:
            show_moves(plan.kind, plan.moves, self.options.output)
        if self.options.dry_run:
            return False
        if plan.final and not plan.changes:
            _note(f"{self.name}: there is nothing to change.")
            # Such a change counts as undone: the next undo is for the one before it.
            return self.action == "undo"
        if not self.options.yes:
            confirm(_question(plan))
        return True

    def _report(self, kind: Kind, outcome: Outcome) -> None:
        from penstock.cli.offsets.views import show_moves

        if self.options.output is not Output.TABLE:
            show_moves(kind, outcome.moves, self.options.output)
        state = f"; the connector is {outcome.state}" if outcome.state else ""
        _note(f"{self.name}: {_count(outcome.moves)} changed{state}.")
        if self.action != "undo" and outcome.moves:
            _note(f"`penstock offsets undo {self.name}` restores the old offsets.")


def _question(plan: Plan) -> str:
    if plan.final:
        return f"Change {_count(plan.changes)} of {plan.connector}?"
    if plan.changes:
        return f"Stop {plan.connector}, change {_count(plan.changes)}, start it again?"
    return (
        f"No stored offset would change, but {plan.connector} may have read further than it has"
        " stored. Stop it, compare again, and start it again?"
    )


def _count(moves: Sequence[object]) -> str:
    return "1 offset" if len(moves) == 1 else f"{len(moves) or 'no'} offsets"


def _note(text: str) -> None:
    """Print on standard error, which scripts do not read."""
    err.print(text, markup=False)


def print_notes(offsets: Offsets) -> None:
    """Print what was left out, and why."""
    for note in offsets.notes:
        _note(f"Note: {note}")
