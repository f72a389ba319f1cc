"""Generated trials on both sides; `make parity` runs many of them and shows all differences."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Final

from pyspark.errors import PySparkException

from tests.spark.converters.bridge import told_schema
from tests.spark.transforms.generated.differences import first_difference
from tests.spark.transforms.generated.sides import JavaTransforms, Result, our_results
from tests.spark.transforms.generated.trial import Record, Trial
from tests.spark.transforms.generated.trials import transforms, trial, trials

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BATCH: Final = 25
_EXCLUDED: Final = "spark.sql.optimizer.excludedRules"
_LOCAL_ROWS: Final = "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"


@dataclass(frozen=True, slots=True)
class Finding:
    """A record that the two sides treat differently."""

    trial: Trial
    record: Record
    where: str
    theirs: Result
    ours: Result

    def __str__(self) -> str:
        trial = self.trial
        return "\n".join(
            (
                "\n".join(map(str, trial.stages)),
                f"  difference: {self.where}",
                f"  again with: --seed {trial.seed} --trial {trial.number} --only '{trial.name}'",
                f"  key:        {told_schema(trial.key_schema)}",
                f"  value:      {told_schema(trial.value_schema)}",
                f"  record:     {trial.told_record(self.record)}",
                f"  Java:       {self.theirs}",
                f"  ours:       {self.ours}",
            )
        )


@dataclass(slots=True)
class Parity:
    """Compares, and counts what it has compared."""

    session: SparkSession
    java: JavaTransforms
    cases: Counter[str]
    failures: Counter[str]

    @classmethod
    def of(cls, session: SparkSession) -> Parity:
        return cls(_compiling(session), JavaTransforms(session), Counter(), Counter())

    def compare(self, chosen: Sequence[Trial]) -> Iterator[Finding]:
        """The differences in these trials."""
        for each, theirs in zip(chosen, self.java.results(chosen), strict=True):
            yield from self._compare(each, theirs)

    def _compare(self, trial: Trial, theirs: list[Result]) -> Iterator[Finding]:
        ours = self._ours(trial)
        name = trial.name
        self.cases[name] += len(theirs)
        self.failures[name] += sum("error" in each or "refused" in each for each in theirs)
        if len(theirs) != len(ours):
            yield Finding(trial, trial.records[0], "whether it is refused", theirs[0], ours[0])
            return
        # What is refused has one result, whatever its records.
        for record, their, our in zip(trial.records, theirs, ours, strict=False):
            if where := first_difference(trial, record, their, our):
                yield Finding(trial, record, where, their, our)

    def _ours(self, trial: Trial) -> list[Result]:
        try:
            return our_results(self.session, trial)
        except PySparkException as error:
            return [{"raised": str(error)[:2000]}] * len(trial.records)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000, help="how many records")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="transformations whose names begin so")
    parser.add_argument("--chains", action="store_true", help="only trials of several stages")
    parser.add_argument("--trial", type=int, help="the one trial of this number")
    options = parser.parse_args()
    names = transforms(options.only)
    if not names:
        parser.error(f"there is no transformation {options.only}")
    if options.trial is not None:
        return _run(iter([trial(options.seed, options.trial, names[0])]), 1)
    chosen = (
        each for each in trials(options.seed, names) if len(each.stages) > 1 or not options.chains
    )
    return _run(chosen, options.cases)


def _compiling(session: SparkSession) -> SparkSession:
    """A session that takes the rows of a trial through compiled code, as a worker does its own.

    Without this Spark's optimizer would compute them by itself, with its interpreter.
    """
    own = session.newSession()
    own.conf.set(_EXCLUDED, f"{session.conf.get(_EXCLUDED)},{_LOCAL_ROWS}")
    own.conf.set("spark.sql.codegen.factoryMode", "CODEGEN_ONLY")
    return own


def _run(chosen: Iterator[Trial], cases: int) -> int:
    from penstock.worker.engine.session import SparkEngine

    engine = SparkEngine({"spark.master": "local[1]"})
    parity = Parity.of(engine.session())
    started, found = monotonic(), 0
    while parity.cases.total() < cases:
        batch = list(islice(chosen, _BATCH))
        for finding in parity.compare(batch):
            found += 1
            _say(str(finding))
        seconds = monotonic() - started
        _say(f"{parity.cases.total()} cases, {found} differences, {seconds:.0f} s")
    engine.close()
    for name, count in sorted(parity.cases.items()):
        _say(f"  {name}: {count} cases, {parity.failures[name]} of them failures in Java")
    return 1 if found else 0


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    raise SystemExit(main())
