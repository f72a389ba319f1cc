"""The progress of a running job, from Spark's status store."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class RunningJob:
    """The next job of the thread that makes this object. Any thread may call its methods."""

    def __init__(self, session: SparkSession, group: str) -> None:
        self._context: Any = session.sparkContext._jsc.sc()  # noqa: SLF001 - pyspark's own way
        self._group = group
        # The status store is a moment late: it may still show the group's last job as running.
        self._name = f"{group} {uuid.uuid4().hex}"
        self._stage: int | None = None
        session.sparkContext.setLocalProperty("spark.job.description", self._name)

    def finished_parts(self, parts: int) -> int:
        """How many of the first partitions are finished.

        0 if the job does not have that many tasks in one stage: then its tasks are not the
        partitions of the frame that was read.
        """
        if self._stage is None:
            self._stage = self._find(parts)
        if self._stage is None:
            return 0
        tasks = self._context.statusStore().taskList(self._stage, 0, 2 * parts)
        found = [tasks.apply(number) for number in range(tasks.size())]
        done = {int(task.index()) for task in found if task.status() == "SUCCESS"}
        return next(number for number in count() if number not in done)

    def _find(self, parts: int) -> int | None:
        for job in self._jobs():
            name = job.description()
            if name.isDefined() and name.get() == self._name:
                alone = job.stageIds().size() == 1 and job.numTasks() == parts
                return int(job.stageIds().head()) if alone else None
        return None

    def _jobs(self) -> Iterator[Any]:
        numbers = self._context.statusTracker().getJobIdsForGroup(self._group)
        # The oldest first: the report of its faults is a later job of the same name.
        for number in sorted(numbers):
            yield self._context.statusStore().job(number)
