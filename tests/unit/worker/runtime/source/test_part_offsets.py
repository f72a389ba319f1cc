"""Offsets within a batch: what is stored while the rest is still being written."""

from __future__ import annotations

import threading
from typing import Any

from penstock.api.connector import PartitionKey
from penstock.api.source import Offsets
from penstock.kernel.errors import RetriableError
from penstock.kernel.logs import Scope
from penstock.testing.waiting import eventually, patient
from penstock.worker.runtime.source.part_offsets import PartOffsets

PARTS: list[Offsets] = [{PartitionKey.of({"table": "t"}): {"incrementing": n}} for n in (10, 20)]


class Batch:
    """Says how many parts are written, and keeps what is stored."""

    def __init__(self) -> None:
        self.finished = 0
        self.looks = 0
        self.stored: list[Any] = []
        self.refusals: list[Exception] = []

    def count(self) -> int:
        self.looks += 1
        if self.refusals:
            raise self.refusals.pop(0)
        return self.finished

    def put(self, offsets: Offsets) -> None:
        self.stored += [(offset or {})["incrementing"] for offset in offsets.values()]

    def watched(self, **limits: float) -> PartOffsets:
        limits = {"look_seconds": 0.005, "end_seconds": patient(), **limits}
        return PartOffsets(PARTS, finished=self.count, put=self.put, scope=Scope("x", 0), **limits)

    def await_looks(self, more: int = 3) -> None:
        before = self.looks
        eventually(lambda: self.looks >= before + more)


def test_each_part_is_stored_once_as_soon_as_all_before_it_are_written() -> None:
    batch = Batch()
    with batch.watched():
        batch.await_looks()
        assert batch.stored == []
        batch.finished = 1
        batch.await_looks()
        assert batch.stored == [10]
        # With the last part, whose offsets are those of the whole batch.
        batch.finished = 3
        batch.await_looks()
    assert batch.stored == [10, 20]


def test_what_was_stored_is_never_taken_back() -> None:
    batch = Batch()
    with batch.watched():
        batch.finished = 2
        batch.await_looks()
        batch.finished = 1
        batch.await_looks()
    assert batch.stored == [20]


def test_a_look_that_fails_is_made_again() -> None:
    batch = Batch()
    batch.refusals = [RetriableError("the broker is away"), RuntimeError("no such job")]
    batch.finished = 1
    with batch.watched():
        batch.await_looks(4)
    assert batch.stored == [10]


def test_nothing_is_stored_any_more_after_the_batch() -> None:
    batch = Batch()
    with batch.watched():
        batch.await_looks(1)
    seen = batch.looks
    batch.finished = 2
    assert batch.stored == []
    assert batch.looks == seen


def test_a_look_that_hangs_is_left_behind_and_stores_nothing() -> None:
    batch, gate = Batch(), threading.Event()
    batch.finished = 2
    count = batch.count

    def hang() -> int:
        found = count()
        gate.wait(patient())
        return found

    batch.count = hang  # type: ignore[method-assign]
    watched = batch.watched(end_seconds=0.05)
    with watched:
        batch.await_looks(1)
    assert watched._thread.is_alive()
    gate.set()
    watched._thread.join(patient())
    assert not watched._thread.is_alive()
    assert batch.stored == []
