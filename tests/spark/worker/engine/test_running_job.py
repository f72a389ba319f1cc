"""Which parts of a job are finished, asked of Spark while it runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.types import LongType, StructType

from penstock.columns.arrow_map import map_in_arrow
from penstock.testing.waiting import eventually, patient
from penstock.worker.engine.running_job import RunningJob

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

GROUP = "a group of parts"
PARTS = 5


def waiting(session: SparkSession, door: Path, closed: int) -> DataFrame:
    """A frame of parts, one of which waits until the file is there."""
    path = str(door)

    def wait(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import time
        from pathlib import Path

        for batch in batches:
            while closed in batch.column(0).to_pylist() and not Path(path).exists():
                time.sleep(0.01)
            yield batch

    return map_in_arrow(session.range(0, PARTS, 1, PARTS), wait, StructType().add("id", LongType()))


class Job:
    """Runs a frame on a thread of its own, in the group."""

    def __init__(self, session: SparkSession, frame: DataFrame) -> None:
        self.running: RunningJob | None = None
        self._session, self._frame = session, frame
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        self._session.sparkContext.setJobGroup(GROUP, GROUP)
        self.running = RunningJob(self._session, GROUP)
        self._frame.write.format("noop").mode("overwrite").save()

    def __enter__(self) -> RunningJob:
        self._thread.start()
        return eventually(lambda: self.running) or pytest.fail("it did not start")

    def __exit__(self, *_: object) -> None:
        self._thread.join(patient())


def test_only_parts_without_a_gap_before_them_count(spark: SparkSession, tmp_path: Path) -> None:
    door = tmp_path / "door"
    with Job(spark, waiting(spark, door, closed=1)) as job:
        # The last ones are written meanwhile, where there is another core; they do not count.
        assert eventually(lambda: job.finished_parts(PARTS)) == 1
        assert job.finished_parts(PARTS) == 1
        door.touch()
    assert eventually(lambda: job.finished_parts(PARTS), lambda now: now > 1) <= PARTS
    eventually(lambda: job.finished_parts(PARTS), lambda now: now == PARTS)


def test_another_job_of_the_group_tells_nothing(spark: SparkSession, tmp_path: Path) -> None:
    open_door = tmp_path / "open"
    open_door.touch()
    with Job(spark, waiting(spark, open_door, closed=1)) as before:
        pass
    eventually(lambda: before.finished_parts(PARTS), lambda now: now == PARTS)
    with Job(spark, waiting(spark, tmp_path / "door", closed=0)) as job:
        with Job(spark, waiting(spark, open_door, closed=1)):
            pass
        assert job.finished_parts(PARTS) == 0
        (tmp_path / "door").touch()


@pytest.mark.parametrize("changed", ["repartition", "coalesce"])
def test_a_plan_that_mixes_the_parts_tells_nothing(spark: SparkSession, changed: str) -> None:
    frame = spark.range(0, PARTS, 1, PARTS)
    mixed = frame.repartition(PARTS) if changed == "repartition" else frame.coalesce(2)
    with Job(spark, mixed) as job:
        pass
    assert job.finished_parts(PARTS) == 0
