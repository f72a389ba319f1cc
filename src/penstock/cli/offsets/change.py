"""A change of offsets: shown, asked for, made and reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.cli.confirmation import confirm
from penstock.cli.offsets.place import Place
from penstock.cli.output import err
from penstock.cli.shown import Output

if TYPE_CHECKING:
    from penstock.offsets import Kind, Offsets, Outcome, Plan, Wish


@dataclass(frozen=True, slots=True)
class Change:
    """One change: shown, asked for, made."""

    place: Place
    name: str
    action: str
    recreate: bool
    dry_run: bool
    yes: bool
    output: Output

    def run(self, wish: Wish | None) -> None:
        """Carry the wish out; None undoes the last change."""
        with self.place.offsets() as offsets:
            plan = offsets.plan(self.name, wish or self._undoing(offsets))
            if not self._wanted(offsets, plan):
                return
            outcome = (
                offsets.undo(self.name, recreate=self.recreate)
                if wish is None
                else offsets.apply(self.name, wish, action=self.action, recreate=self.recreate)
            )
            self._report(plan.kind, outcome)

    def _undoing(self, offsets: Offsets) -> Wish:
        from penstock.offsets import put_back

        return put_back(offsets.last_change(self.name).moves)

    def _wanted(self, offsets: Offsets, plan: Plan) -> bool:
        from penstock.cli.offsets.shown import show_moves

        people = self.output is Output.TABLE
        tell_notes(offsets)
        if people or self.dry_run:
            show_moves(plan.kind, plan.moves, self.output)
        if self.dry_run:
            return False
        if plan.final and not plan.changes:
            _tell(f"{self.name}: there is nothing to change.")
            # Such a change counts as undone, so that the one before it is next.
            return self.action == "undo"
        if not self.yes:
            confirm(_question(plan))
        return True

    def _report(self, kind: Kind, outcome: Outcome) -> None:
        from penstock.cli.offsets.shown import show_moves

        if self.output is not Output.TABLE:
            show_moves(kind, outcome.moves, self.output)
        state = f"; the connector is {outcome.state}" if outcome.state else ""
        _tell(f"{self.name}: {_count(outcome.moves)} changed{state}.")
        if self.action != "undo" and outcome.moves:
            _tell(f"`penstock offsets undo {self.name}` puts the old back.")


def _question(plan: Plan) -> str:
    if plan.final:
        return f"Change {_count(plan.changes)} of {plan.connector}?"
    if plan.changes:
        return f"Stop {plan.connector}, change {_count(plan.changes)}, start it again?"
    return (
        f"Nothing that is stored would change; but {plan.connector} may have read more than it has"
        " stored. Stop it, look again, start it again?"
    )


def _count(moves: Sequence[object]) -> str:
    return "1 offset" if len(moves) == 1 else f"{len(moves) or 'no'} offsets"


def _tell(text: str) -> None:
    """For people: not among what scripts read."""
    err.print(text, markup=False)


def tell_notes(offsets: Offsets) -> None:
    """What was left out, and why."""
    for note in offsets.notes:
        _tell(f"Note: {note}")
