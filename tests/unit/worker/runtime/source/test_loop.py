"""The source loop without Spark: what is stored, when, and what is repeated."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from penstock.api.connector import PartitionKey
from penstock.api.source import FrameSourceTask, SourceBatch, SourceContext
from penstock.kernel.clock import Deadline, SystemClock
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import ConfigError, GivenUpError, RetriableError
from penstock.testing.waiting import eventually, soon
from penstock.worker.interface import TargetState
from penstock.worker.runtime.source.loop import SourceParts, SourceWork
from penstock.worker.runtime.task_host import TaskControl
from penstock.worker.runtime.tolerance import ErrorSettings, FaultReports
from tests.unit.worker.runtime.events import Notes

FILE = {"filename": "x"}


class Store:
    """Offsets in memory; refuses what the test says."""

    def __init__(self) -> None:
        self.offsets: dict[str, Any] = {}
        self.refusals: list[Exception] = []
        self.puts = 0

    def refresh(self, deadline: Deadline) -> None:
        return

    def get(self, connector: str, partition: Mapping[str, Any]) -> Any:
        return self.offsets.get(str(dict(partition)))

    def put(self, connector: str, offsets: Sequence[Any], deadline: Deadline) -> None:
        self.puts += 1
        if self.refusals:
            raise self.refusals.pop(0)
        self.offsets |= {str(dict(partition)): offset for partition, offset in offsets}


class Counting(FrameSourceTask):
    """Three batches, one after another."""

    poll_interval_seconds = 0.0

    def start(self, config: Mapping[str, str], context: SourceContext) -> None:
        self.at = (context.offset(FILE) or {"position": 0})["position"]
        self.stored = 0

    def read(self) -> SourceBatch | None:
        if self.at >= 3:
            return None
        self.at += 1
        frame: Any = None
        offsets = {PartitionKey.of(FILE): {"position": self.at}}
        return SourceBatch(frame, "lines", None, offsets=offsets, more=True)

    def explained(self, error: Exception) -> Exception:
        return RetriableError("the source is away") if "away" in str(error) else error

    def committed(self) -> None:
        self.stored += 1


class Returning(Counting):
    """Gives one frame again and again."""

    def read(self) -> SourceBatch | None:
        batch = super().read()
        return None if batch is None else dataclasses.replace(batch, kept=True)


class Pipeline:
    """Notes which batches were to be written."""

    def __init__(self) -> None:
        self.written: list[int] = []
        self.failures: list[Exception] = []

    def topics(self, batch: SourceBatch) -> frozenset[str]:
        return frozenset({batch.topic or ""})

    def reads_again(self, batch: SourceBatch) -> bool:
        return False

    def place(self, topics: frozenset[str]) -> frozenset[str]:
        return topics

    def encoded(self, batch: SourceBatch, topics: frozenset[str]) -> list[Any]:
        assert topics == self.topics(batch)
        if self.failures:
            raise self.failures.pop(0)
        self.written += [(offset or {})["position"] for offset in batch.offsets.values()]
        return []


class Topics:
    def __init__(self) -> None:
        self.ensured: list[set[str]] = []

    def ensure(self, topics: set[str], deadline: Deadline) -> None:
        self.ensured.append(topics)


class Job:
    """A job of which the first part is finished at once, and no other until its end."""

    def __init__(self) -> None:
        self.looks = 0

    def finished_parts(self, parts: int) -> int:
        assert parts == 3
        self.looks += 1
        return 1


class Engine:
    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def next_job(self, group: str) -> Job:
        assert group == "penstock-lines-0"
        self.jobs.append(Job())
        return self.jobs[-1]


class Source:
    def __init__(self, kind: type[Counting] = Counting, **keys: str) -> None:
        self.kind = kind
        self.store = cast("Any", Store())
        self.pipeline = cast("Any", Pipeline())
        self.engine = cast("Any", Engine())
        self.topics = Topics()
        self.notes = Notes()
        self.tasks: list[Counting] = []
        given = {name.replace("_", "."): value for name, value in keys.items()}
        errors = ErrorSettings.parse({"name": "x", "connector.class": "FileStreamSource", **given})
        self.control = TaskControl(TargetState.STARTED, SystemClock())
        self.work = SourceWork(
            TaskId("lines", 0),
            {},
            SourceParts(
                make_task=self._task,
                make_pipeline=lambda: self.pipeline,
                topics=self.topics,
                producer={},
                errors=errors,
                reports=FaultReports(errors, TaskId("lines", 0), None),
                release=lambda: None,
            ),
            offsets=self.store,
            engine=self.engine,
            control=self.control,
            events=self.notes,
        )
        self.work.start()

    def _task(self) -> Counting:
        self.tasks.append(self.kind())
        return self.tasks[-1]

    @property
    def stored(self) -> int:
        return int(self.store.get("", FILE)["position"])


def test_a_wrong_chain_is_an_error_before_there_is_a_record() -> None:
    source = Source()

    def wrong() -> Any:
        raise ConfigError("transforms.x: No field insertion configured")

    source.work._parts = replace(source.work._parts, make_pipeline=wrong)
    with pytest.raises(ConfigError, match="No field insertion"):
        source.work.start()
    assert len(source.tasks) == 1


def test_figures_are_told_when_they_change_but_not_all_the_time() -> None:
    source = Source()
    source.work.step()
    begun = [{"starting": 1}, {}]
    assert source.notes.figures == begun
    source.work.show("skipped_numbers", 1)
    source.work.step()
    source.work.show("skipped_numbers", 2)
    source.work.step()
    assert source.notes.figures == [*begun, {"skipped_numbers": 1}]


def test_a_frame_that_comes_again_is_planned_once() -> None:
    source = Source(Returning)
    for number in (1, 2, 3):
        source.work.step()
        assert source.stored == number
    assert source.pipeline.written == [1]
    source.store.offsets.clear()
    source.work.recover()
    source.work.step()
    assert source.pipeline.written == [1, 1]


def test_offsets_are_stored_after_each_batch() -> None:
    source = Source()
    for number in (1, 2, 3):
        source.work.step()
        assert source.stored == number
    source.work.step()
    assert source.pipeline.written == [1, 2, 3]
    assert source.store.puts == 3
    assert source.tasks[0].stored == 3


def test_the_topic_is_looked_at_and_told_once() -> None:
    source = Source()
    source.work.step()
    source.work.step()
    assert source.topics.ensured == [{"lines"}]
    assert source.notes.topics == [("lines-0", "lines")]


def test_a_failed_write_begins_again_from_the_stored_offsets() -> None:
    source = Source()
    source.work.step()
    source.pipeline.failures = [RuntimeError("my.Driver: away")]
    with pytest.raises(RetriableError, match="the source is away"):
        source.work.step()
    assert source.stored == 1
    source.work.recover()
    assert len(source.tasks) == 2
    source.work.step()
    assert source.pipeline.written == [1, 2]
    assert source.stored == 2


def test_offsets_that_could_not_be_stored_are_stored_later_without_a_second_write() -> None:
    source = Source()
    source.store.refusals = [RetriableError("the broker is away")] * 2
    with pytest.raises(RetriableError):
        source.work.step()
    with pytest.raises(RetriableError):
        source.work.recover()
    source.work.recover()
    assert source.stored == 1
    source.work.step()
    assert source.pipeline.written == [1, 2]


def test_closing_stores_what_is_left_to_store() -> None:
    source = Source()
    source.store.refusals = [RetriableError("the broker is away")]
    with pytest.raises(RetriableError):
        source.work.step()
    source.work.close(soon())
    assert source.stored == 1


class Slow(Counting):
    """Given up while it reads its second batch."""

    source: Source

    def read(self) -> SourceBatch | None:
        batch = super().read()
        if self.at == 2:
            self.source.control.give_up()
        return batch


def test_a_task_that_was_given_up_neither_writes_nor_stores() -> None:
    source = Source(Slow)
    Slow.source = source
    source.work.step()
    with pytest.raises(GivenUpError):
        source.work.step()
    source.work.close(soon())
    assert source.pipeline.written == [1]
    assert source.stored == 1


def test_offsets_left_to_store_stay_so_once_the_task_is_given_up() -> None:
    source = Source()
    source.store.refusals = [RetriableError("the broker is away")]
    with pytest.raises(RetriableError):
        source.work.step()
    source.control.give_up()
    source.work.close(soon())
    assert source.store.offsets == {}


class InParts(Counting):
    """Each batch in three parts: of the first ten records, ten more, and the rest."""

    def read(self) -> SourceBatch | None:
        batch = super().read()
        if batch is None:
            return None
        key = PartitionKey.of(FILE)
        parts = [{key: {"position": self.at - 1 + share}} for share in (0.25, 0.5)]
        return dataclasses.replace(batch, part_offsets=parts)


class Writes:
    """Takes the place of the writes to Kafka: each waits for some looks at the job's parts."""

    def __init__(self, source: Source, branches: int = 1, looks: int = 3) -> None:
        self._source = source
        self._looks = looks
        self.stored: list[Any] = []
        self.failures: list[Exception] = []
        source.pipeline.encoded = lambda batch, topics: [batch] * branches
        source.work._planned = lambda frame: self._write  # type: ignore[method-assign]

    def _write(self) -> int:
        jobs = self._source.engine.jobs
        if jobs:
            eventually(lambda: jobs[-1].looks >= self._looks)
        self.stored.append(self._source.store.get("", FILE))
        if self.failures:
            raise self.failures.pop(0)
        return 1


def test_offsets_of_written_parts_are_stored_while_the_rest_is_written() -> None:
    source = Source(InParts)
    writes = Writes(source)
    source.work.step()
    assert writes.stored == [{"position": 0.25}]
    assert source.store.get("", FILE) == {"position": 1}


def test_a_batch_that_fails_midway_goes_on_behind_its_written_parts() -> None:
    source = Source(InParts)
    writes = Writes(source)
    writes.failures = [RuntimeError("my.Driver: away")]
    with pytest.raises(RetriableError, match="the source is away"):
        source.work.step()
    source.work.recover()
    assert source.tasks[-1].at == 0.25


def test_parts_of_a_task_that_was_given_up_are_not_stored() -> None:
    source = Source(InParts)
    writes = Writes(source)
    batch = source.tasks[0].read()
    source.control.give_up()
    assert batch is not None
    source.work._write(batch)
    assert writes.stored == [None]
    assert source.store.offsets == {}


def test_parts_are_not_done_with_before_their_faults_are_reported() -> None:
    source = Source(InParts, errors_tolerance="all", errors_log_enable="true")
    writes = Writes(source)
    assert not source.work.stores_parts
    source.work.step()
    assert writes.stored == [None]
    assert source.engine.jobs == []
    assert Source(InParts, errors_tolerance="all").work.stores_parts


@pytest.mark.parametrize(("skipped", "reported"), [(3, 3), (3, 2), (1000, None)])
def test_a_record_that_is_neither_written_nor_reported_is_read_again(
    monkeypatch: pytest.MonkeyPatch, skipped: int, reported: int | None
) -> None:
    """It was mended in the source between the two."""
    source = Source(errors_tolerance="all", errors_log_enable="true")
    monkeypatch.setattr(source.work._reports, "report", lambda frame: reported)
    frame = cast("Any", None)
    if reported == 2:
        with pytest.raises(RetriableError, match="have changed in the source"):
            source.work._report(frame, skipped)
    else:
        source.work._report(frame, skipped)


def test_parts_are_not_done_with_before_all_branches_are_written() -> None:
    source = Source(InParts)
    writes = Writes(source, branches=2)
    assert source.work.stores_parts
    source.work.step()
    assert writes.stored == [None, None]
    assert not source.work.stores_parts
