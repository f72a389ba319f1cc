"""The changes that make a cluster match files; a pure function of the two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from penstock.kernel.config.redaction import without_password
from penstock.kernel.config.values import HIDDEN
from penstock.kernel.wire.states import Wanted
from penstock.tools.manager.cluster import Cluster, Running
from penstock.tools.manager.connector import (
    MARKER,
    Connector,
    Connectors,
    Problem,
    ProblemsError,
    matches,
    reads_topics,
)
from penstock.tools.manager.secrets import hides, is_mask

if TYPE_CHECKING:
    from penstock.tools.client import Client
    from penstock.tools.manager.applying import Report

DEFAULT_PROJECT: Final = "default"
TAKES_OVER: Final = "no project manages it yet: this change takes it over"


class Action(StrEnum):
    """What is done with a connector."""

    CREATE = "create"
    UPDATE = "update"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    DELETE = "delete"
    UNCHANGED = "unchanged"


_TO_REACH: Final = {
    Wanted.RUNNING: Action.RESUME,
    Wanted.PAUSED: Action.PAUSE,
    Wanted.STOPPED: Action.STOP,
}


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A key with its old and new values as they may be shown; None: there is no value."""

    key: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one connector.

    `config` is all that will be stored for it. `state` is the state to bring it to, None if it has
    that already or the file has none. `note` is for the user. After a check, `problems` and
    `unknown_keys` have the cluster's messages about the config.
    """

    name: str
    action: Action
    config: Mapping[str, str] = field(default_factory=dict, repr=False)
    keys: Sequence[KeyChange] = ()
    state: Wanted | None = None
    wanted: Connector | None = None
    running: Running | None = None
    adopts: bool = False
    note: str = ""
    problems: Sequence[Problem] = ()
    unknown_keys: Sequence[Problem] = ()

    @property
    def is_sink(self) -> bool:
        """Whether it reads topics."""
        return reads_topics(self.config or (self.running.config if self.running else {}))

    @property
    def place(self) -> str:
        """Its file and line."""
        origin = None if self.wanted is None else self.wanted.origin
        return "" if origin is None else f"{origin.file}:{origin.line}"

    def problem(self, message: str, key: str | None = None, at: str | None = None) -> Problem:
        """An error of it, of a key, or in the line of the key `at`."""
        if self.wanted is None:
            return Problem(message, connector=self.name, key=key)
        return self.wanted.problem(message, key, at)

    def to_json(self) -> dict[str, Any]:
        """For scripts; secrets are hidden."""
        shown: dict[str, Any] = {"name": self.name, "action": str(self.action)}
        if self.place:
            shown["file"] = self.place
        if self.keys:
            shown["keys"] = {each.key: {"old": each.old, "new": each.new} for each in self.keys}
        if self.state is not None:
            shown["state"] = str(self.state)
        if self.adopts:
            shown["adopts"] = True
        if self.problems:
            shown["errors"] = [each.message for each in self.problems]
        if self.unknown_keys:
            shown["unknown_keys"] = [each.message for each in self.unknown_keys]
        return {**shown, "note": self.note} if self.note else shown


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes of one project in a safe order; those that are unchanged come last."""

    project: str
    changes: Sequence[Change]

    @property
    def pending(self) -> list[Change]:
        """The changes to make."""
        return [each for each in self.changes if each.action is not Action.UNCHANGED]

    @property
    def steps(self) -> list[list[Change]]:
        """The changes to make: those of a step in parallel, the steps in order."""
        ranks: dict[int, list[Change]] = {}
        for change in self.pending:
            ranks.setdefault(_rank(change), []).append(change)
        return [ranks[rank] for rank in sorted(ranks)]

    def apply(self, client: Client, **options: Any) -> Report:
        """Carry it out; see `penstock.tools.manager.apply` for the options and errors."""
        from penstock.tools.manager.applying import apply

        return apply(self, client, **options)

    @property
    def problems(self) -> list[Problem]:
        """The cluster's errors in the configs, after a check."""
        return [problem for each in self.changes for problem in each.problems]

    def counts(self) -> Counter[Action]:
        """How many changes without problems there are of each kind."""
        return Counter(each.action for each in self.changes if not each.problems)

    def to_json(self) -> dict[str, Any]:
        """For scripts; secrets are hidden."""
        counts = self.counts()
        return {
            "project": self.project,
            "summary": {
                **{str(action): counts[action] for action in Action},
                "error": sum(bool(each.problems) for each in self.changes),
            },
            "changes": [each.to_json() for each in self.changes],
        }


def compare(
    wanted: Connectors,
    cluster: Cluster,
    *,
    project: str = DEFAULT_PROJECT,
    prune: bool = False,
    adopt: bool = False,
    only: Sequence[str] = (),
) -> Plan:
    """The plan that makes a cluster match the wanted connectors.

    With `prune`, connectors that this project manages and no longer wants are deleted. With
    `adopt`, it takes over those of no project or of another one. `only` has patterns of the
    names to compare.

    Raises:
        ProblemsError: connectors of other projects, or [hidden] for values the cluster lacks.
    """
    comparison = _Comparison(cluster, project, adopt)
    changes = [comparison.change(each) for each in wanted.only(only).values()]
    if comparison.problems:
        raise ProblemsError(comparison.problems)
    if prune:
        changes += (
            Change(each.name, Action.DELETE, running=each)
            for each in cluster.connectors.values()
            if each.project == project and each.name not in wanted and matches(each.name, only)
        )
    return Plan(project, sorted(changes, key=_rank))


def _rank(change: Change) -> int:
    """The order of steps: pauses and stops, sources (which make topics), sinks, deletes."""
    match change.action:
        case Action.PAUSE | Action.STOP:
            return 0
        case Action.CREATE | Action.UPDATE:
            return 2 if change.is_sink else 1
        case Action.RESUME:
            return 3
        case Action.DELETE:
            return 5 if change.is_sink else 4
        case Action.UNCHANGED:
            return 6


@dataclass(slots=True)
class _Comparison:
    cluster: Cluster
    project: str
    adopt: bool
    problems: list[Problem] = field(default_factory=list)

    def change(self, wanted: Connector) -> Change:
        running = self.cluster.connectors.get(wanted.name)
        self._check_masks(wanted, {} if running is None else running.config)
        if running is None:
            return self._creation(wanted)
        if running.project not in (None, self.project) and not self.adopt:
            message = (
                f"is managed by the project {running.project}, not by {self.project}: use "
                f"--project {running.project}, or take it over with --adopt"
            )
            self.problems.append(wanted.problem(message))
        return self._comparison(wanted, running)

    def _creation(self, wanted: Connector) -> Change:
        keys = tuple(self._differences({}, wanted.config, ()))
        config = {**wanted.config, MARKER: self.project}
        return Change(wanted.name, Action.CREATE, config, keys, wanted.initial, wanted)

    def _comparison(self, wanted: Connector, running: Running) -> Change:
        old = running.own_config
        new = {
            key: old.get(key, text) if text == HIDDEN else text
            for key, text in wanted.config.items()
        }
        same = [key for key in new if self._is_same(wanted.name, key, old.get(key), new[key])]
        keys = tuple(self._differences(old, new, same))
        adopts = self.adopt and running.project != self.project
        state = _state_to_reach(wanted, running)
        idle = _TO_REACH[state] if state else Action.UNCHANGED
        action = Action.UPDATE if keys or adopts else idle
        return Change(
            wanted.name,
            action,
            {**new, MARKER: self.project},
            keys,
            state,
            wanted,
            running,
            adopts,
            "; ".join(self._notes(running, new, changes=bool(keys), adopts=adopts)),
        )

    def _is_same(self, name: str, key: str, old: str | None, new: str) -> bool:
        if old is None or old == new:
            return old == new
        # A value that the server hides and can't compare counts as equal: otherwise each plan
        # would change it.
        seen = is_mask(old) or without_password(new) == old
        return hides(old) and seen and self.cluster.compared.get((name, key), True)

    def _differences(
        self, old: Mapping[str, str], new: Mapping[str, str], same: Sequence[str]
    ) -> Iterator[KeyChange]:
        """A key that is a secret in one of the two is hidden in both."""
        for key in sorted((old.keys() | new.keys()) - set(same)):
            before, after = (
                None if text is None else self.cluster.secrets.shown(key, text, old, new)
                for text in (old.get(key), new.get(key))
            )
            yield KeyChange(key, before, after)

    def _check_masks(self, wanted: Connector, running: Mapping[str, str]) -> None:
        for key, text in wanted.config.items():
            if text == HIDDEN and key not in running:
                message = f"{HIDDEN} keeps the cluster's value, but the cluster has none"
                self.problems.append(wanted.problem(message, key))

    def _notes(
        self, running: Running, new: Mapping[str, str], *, changes: bool, adopts: bool
    ) -> Iterator[str]:
        if running.project is None and not adopts:
            yield TAKES_OVER if changes else "not managed: --adopt takes it over"
        blind = [
            key
            for key, text in new.items()
            if hides(running.config.get(key, ""))
            and not hides(text)
            and (running.name, key) not in self.cluster.compared
        ]
        if blind:
            yield f"hidden by the server and not compared: {', '.join(sorted(blind))}"
        if running.state == "FAILED":
            yield "it has failed"


def _state_to_reach(wanted: Connector, running: Running) -> Wanted | None:
    state, now = wanted.target, running.state
    match state:
        case None:
            return None
        case Wanted.RUNNING:
            # A connector that has failed, or waits for a worker, should run.
            return state if now in ("PAUSED", "STOPPED") else None
        case Wanted.PAUSED:
            idle = running.task_states and set(running.task_states) == {"PAUSED"}
            return None if now == "PAUSED" or (now == "FAILED" and idle) else state
        case Wanted.STOPPED:
            return None if now == "STOPPED" else state
