"""Factories for the parts of a sink's loop: the session and the task may change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from penstock.api.sink import FrameSinkTask
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.worker.runtime.sink.batches import SinkBatches

if TYPE_CHECKING:
    import re

    from pyspark.sql import SparkSession

    from penstock.kafka.clients.group_consumer import GroupConsumer


class MakeBatches(Protocol):
    """Makes a task's SinkBatches."""

    def __call__(
        self,
        task: FrameSinkTask,
        spark: Callable[[], SparkSession],
        ends: Callable[[Collection[TopicPartition]], Mapping[TopicPartition, int]],
    ) -> SinkBatches: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkParts:
    """The parts of a sink's loop.

    Attributes:
        subscription: the topics, or the pattern of their names.
        topic_ids: asks the broker for the ids of topics.
        release: closes the clients made for the task.
    """

    make_task: Callable[[], FrameSinkTask]
    make_consumer: Callable[[], GroupConsumer]
    make_batches: MakeBatches
    subscription: Sequence[str] | re.Pattern[str]
    topic_ids: Callable[[Collection[str], Deadline], Mapping[str, str]]
    release: Callable[[], None]
