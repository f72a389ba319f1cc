"""Results as a table on the terminal and as a JSON file."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.measure import Run, median
from bench.processes import load

RESULTS = Path(__file__).with_name("results")


@dataclass(frozen=True, slots=True)
class Check:
    """A figure against its target."""

    what: str
    figure: float
    target: str
    met: bool


@dataclass(slots=True)
class Result:
    """What a case found."""

    case: str
    title: str
    runs: list[Run] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)

    def at_least(self, what: str, figure: float, target: float) -> None:
        self.checks.append(Check(what, figure, f">= {target:g}", figure >= target))

    def at_most(self, what: str, figure: float, target: float) -> None:
        self.checks.append(Check(what, figure, f"<= {target:g}", figure <= target))

    def of(self, worker: str) -> list[Run]:
        return [run for run in self.runs if run.worker == worker]

    def rate(self, worker: str) -> float:
        return median([run.rate for run in self.of(worker)])

    def cpu(self, worker: str) -> float:
        return median([run.cpu_per_million for run in self.of(worker)])

    def as_dict(self) -> dict[str, Any]:
        return {
            "case": self.case,
            "title": self.title,
            "runs": [run.as_dict() for run in self.runs],
            "figures": {name: round(value, 3) for name, value in self.figures.items()},
            "checks": [
                {
                    "what": each.what,
                    "figure": round(each.figure, 3),
                    "target": each.target,
                    "met": each.met,
                }
                for each in self.checks
            ],
        }


def show(result: Result, console: Console) -> None:
    console.rule(f"{result.case}: {result.title}")
    if result.runs:
        console.print(_runs(result.runs))
    for name, value in result.figures.items():
        console.print(f"  {name}: {value:.2f}")
    for each in result.checks:
        mark = "[green]met[/]" if each.met else "[red]missed[/]"
        console.print(f"  {each.what}: {each.figure:.2f} (target {each.target}) {mark}")


def _runs(runs: Sequence[Run]) -> Table:
    table = Table()
    for heading in ("worker", "records", "s", "rows/s", "CPU-s per million", "peak RSS MB", "PSS"):
        table.add_column(heading, justify="left" if heading == "worker" else "right")
    for run in runs:
        table.add_row(
            run.worker,
            f"{run.records:,}",
            f"{run.seconds:.1f}",
            f"{run.rate:,.0f}",
            f"{run.cpu_per_million:.2f}",
            f"{run.peak_rss_mb:.0f}",
            f"{run.peak_pss_mb:.0f}",
        )
    return table


def save(results: Sequence[Result]) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / time.strftime("%Y%m%d-%H%M%S.json", time.gmtime())
    whole = {
        "cores": os.cpu_count(),
        "load_after": load(),
        "results": [result.as_dict() for result in results],
    }
    path.write_text(json.dumps(whole, indent=2) + "\n")
    return path
