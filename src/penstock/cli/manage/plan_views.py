"""A plan as people read it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from typing import Final

from penstock.cli.output import connectors_are, out
from penstock.tools.manager import Action, Change, KeyChange, Plan

_SIGNS: Final = {
    Action.CREATE: ("+", "green"),
    Action.UPDATE: ("~", "yellow"),
    Action.PAUSE: (">", "cyan"),
    Action.RESUME: (">", "cyan"),
    Action.STOP: (">", "cyan"),
    Action.DELETE: ("-", "red"),
}
_DONE: Final = {
    Action.CREATE: "created",
    Action.UPDATE: "updated",
    Action.PAUSE: "paused",
    Action.RESUME: "resumed",
    Action.STOP: "stopped",
    Action.DELETE: "deleted",
}
_NAMED: Final = 3


def print_plan(plan: Plan, *, details: bool = False) -> None:
    """Print the changes, and a line that counts them."""
    for change in plan.changes:
        if change.action is not Action.UNCHANGED:
            _print_change(change, details=details)
        elif change.problems or change.unknown_keys:
            out.print(f"= {change.name}  unchanged", style="dim", markup=False)
        for problem in change.problems:
            out.print(f"    error: {problem}", style="red", markup=False)
        for unknown in change.unknown_keys:
            out.print(f"    {unknown}", style="yellow", markup=False)
    for line in _notes(plan):
        out.print(line, style="dim", markup=False)
    out.print(summary(plan), style="bold", markup=False)


def summary(plan: Plan) -> str:
    """How many changes there are of each kind."""
    counts = plan.counts()
    wrong = sum(bool(each.problems) for each in plan.changes)
    if not plan.pending and not wrong:
        return f"Nothing to change: {connectors_are(counts[Action.UNCHANGED])} as wanted."
    parts = [f"{counts[action]} to {action}" for action in _SIGNS if counts[action]]
    if wrong:
        parts.append(f"{wrong} with errors")
    return f"Plan: {', '.join(parts)}, {counts[Action.UNCHANGED]} unchanged."


def done(change: Change) -> str:
    """What was done, in one line."""
    extra = f" and {_past(change)}" if change.action is Action.UPDATE and change.state else ""
    return f"{_DONE[change.action]} {change.name}{extra}"


def _past(change: Change) -> str:
    return "resumed" if change.state == "running" else str(change.state)


def _print_change(change: Change, *, details: bool) -> None:
    sign, style = _SIGNS[change.action]
    out.print(f"{sign} {change.name}  {_headline(change)}", style=style, markup=False)
    if change.action is Action.UPDATE or details:
        for key in change.keys:
            for line, colour in _key_lines(key):
                out.print(f"    {line}", style=colour, markup=False)
    if change.note:
        out.print(f"    note: {change.note}", style="dim", markup=False)


def _headline(change: Change) -> str:
    parts = [str(change.action)]
    if change.action is Action.CREATE and change.wanted is not None:
        parts.append(change.wanted.plugin.rpartition(".")[2])
    if change.state is not None and change.action in (Action.CREATE, Action.UPDATE):
        parts.append(f"to be {change.state}")
    if change.adopts:
        owner = change.running.project if change.running else None
        parts.append("adopted" if owner is None else f"taken over from {owner}")
    headline = ", ".join(parts)
    return f"{headline}  ({change.place})" if change.place else headline


def _key_lines(key: KeyChange) -> Iterator[tuple[str, str]]:
    if key.old is None:
        yield f"+ {key.key}: {_one_line(key.new)}", "green"
    elif key.new is None:
        yield f"- {key.key}: {_one_line(key.old)}", "red"
    elif "\n" in key.old or "\n" in key.new:
        yield f"~ {key.key}:", "yellow"
        yield from _text_lines(key.old, key.new)
    else:
        yield f"~ {key.key}: {_one_line(key.old)} -> {_one_line(key.new)}", "yellow"


def _text_lines(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Texts of several lines, such as SQL, as a diff."""
    lines = unified_diff(old.splitlines(), new.splitlines(), n=2, lineterm="")
    for line in list(lines)[2:]:
        yield f"    {line}", {"+": "green", "-": "red"}.get(line[:1], "dim")


def _one_line(text: str | None) -> str:
    return '""' if not text else text.replace("\n", "\\n").replace("\t", "\\t")


def _notes(plan: Plan) -> Iterator[str]:
    """Notes on unchanged connectors, one line for all with the same note."""
    groups: dict[str, list[str]] = {}
    for change in plan.changes:
        if change.action is Action.UNCHANGED and change.note:
            groups.setdefault(change.note, []).append(change.name)
    for note, names in groups.items():
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"= {', '.join(names[:_NAMED])}{more}  unchanged; {note}"
