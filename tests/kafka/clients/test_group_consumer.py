from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import confluent_kafka as library
import pytest

from penstock.kafka.clients import Admin, GroupConsumer, LogWriter, RawRecord, TopicSpec
from penstock.kafka.topic_patterns import java_pattern
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import ConfigError, PenstockError, RebalancedError
from penstock.machine.embedded_kafka import EmbeddedKafka
from penstock.testing.waiting import eventually, patient, soon
from tests.kafka.clients.support import Recorder, consume_until, take
from tests.shared.sizes import Size

Unique = Callable[[str], str]


@pytest.fixture
def admin(kafka: str) -> Iterator[Admin]:
    admin = Admin({"bootstrap.servers": kafka})
    yield admin
    admin.close()


@pytest.fixture
def topic(admin: Admin, unique: Unique) -> str:
    name = unique("t")
    admin.create_topic(TopicSpec(name, 2, 1), soon())
    return name


@pytest.fixture
def join(kafka: str, unique: Unique) -> Iterator[Callable[..., GroupConsumer]]:
    group, consumers = unique("g"), []

    def make(**properties: str) -> GroupConsumer:
        dotted = {key.replace("_", "."): value for key, value in properties.items()}
        consumer = GroupConsumer({"bootstrap.servers": kafka, "group.id": group, **dotted})
        consumers.append(consumer)
        return consumer

    yield make
    for consumer in consumers:
        consumer.close(soon())


def produce(kafka: str, topic: str, count: int, start: int = 0) -> None:
    records = [(f"k{n}".encode(), f"v{n}".encode()) for n in range(start, start + count)]
    LogWriter({"bootstrap.servers": kafka}, topic).append(records, soon())


def test_records_positions_commits_and_a_successor(
    kafka: str, topic: str, join: Callable[..., GroupConsumer]
) -> None:
    produce(kafka, topic, 100)
    consumer, events = join(), Recorder()
    consumer.subscribe([topic], events)
    got = take(consumer, 100)
    assert {record.value for record in got} == {f"v{n}".encode() for n in range(100)}
    assert events.log == [("assigned", frozenset(consumer.assignment))]
    positions = consumer.positions(consumer.assignment, soon())
    assert sum(positions.values()) == 100
    assert positions == consumer.end_offsets(consumer.assignment, soon())
    assert positions == consumer.end_offsets(consumer.assignment, soon(), cached=True)
    assert consumer.committed(consumer.assignment, soon()) == {}
    consumer.commit(positions, soon())
    assert consumer.committed(consumer.assignment, soon()) == positions
    consumer.close(soon())
    assert events.log[-1][0] == "revoked"
    successor = join()
    successor.subscribe([topic], Recorder())
    consume_until(successor, lambda: len(successor.assignment) == 2)
    assert successor.positions(successor.assignment, soon()) == positions
    produce(kafka, topic, 1, start=100)
    assert [record.value for record in take(successor, 1)] == [b"v100"]


def test_consume_returns_a_record_at_once(
    kafka: str, topic: str, join: Callable[..., GroupConsumer]
) -> None:
    consumer = join()
    consumer.subscribe([topic], Recorder())
    consume_until(consumer, lambda: len(consumer.assignment) == 2)
    produce(kafka, topic, 1)
    begun = time.monotonic()
    assert len(consumer.consume(500, patient(60))) == 1
    assert time.monotonic() - begun < patient(30)


@pytest.mark.parametrize("reset", ["earliest", "latest"])
def test_position_before_anything_was_read(
    kafka: str, topic: str, join: Callable[..., GroupConsumer], reset: str
) -> None:
    produce(kafka, topic, 10)
    consumer = join(auto_offset_reset=reset)
    consumer.subscribe([topic], Recorder())
    consumer.pause([])
    consume_until(consumer, lambda: len(consumer.assignment) == 2)
    positions = consumer.positions(consumer.assignment, soon())
    assert sum(positions.values()) == (10 if reset == "latest" else 0)


def test_seek_and_pause(kafka: str, topic: str, join: Callable[..., GroupConsumer]) -> None:
    produce(kafka, topic, 50)
    consumer = join()
    consumer.subscribe([topic], Recorder())
    got = take(consumer, 50)
    consumer.pause(consumer.assignment)
    consumer.seek(dict.fromkeys(consumer.assignment, 0), soon())
    assert consumer.consume(99, 0.5) == []
    consumer.resume(consumer.assignment)
    assert sorted(take(consumer, 50)) == sorted(got)


def test_a_partition_that_was_paused_when_it_left_is_read_when_it_comes_back(
    kafka: str, topic: str, join: Callable[..., GroupConsumer]
) -> None:
    first, second = join(), join()
    first.subscribe([topic], Recorder())
    consume_until(first, lambda: len(first.assignment) == 2)
    first.pause(first.assignment)
    second.subscribe([topic], Recorder())

    def shared() -> bool:
        second.consume(10, 0.05)
        return len(first.assignment) == len(second.assignment) == 1

    consume_until(first, shared)
    produce(kafka, topic, 20)
    got: list[RawRecord] = []

    def both_read() -> bool:
        got.extend(second.consume(10, 0.05))
        got.extend(first.consume(10, 0.05))
        return {record.partition for record in got} == {0, 1}

    eventually(both_read)


def test_a_second_member_takes_its_share_and_the_first_may_still_commit(
    kafka: str, topic: str, join: Callable[..., GroupConsumer]
) -> None:
    first, second = join(), join()

    class Committing(Recorder):
        def revoked(self, partitions: object) -> None:
            first.commit({TopicPartition(topic, 0): 4}, soon())
            super().revoked(first.assignment)

    events = Committing()
    first.subscribe([topic], events)
    consume_until(first, lambda: len(first.assignment) == 2)
    second.subscribe([topic], Recorder())

    def shared() -> bool:
        second.consume(10, 0.05)
        return len(first.assignment) == len(second.assignment) == 1

    consume_until(first, shared)
    assert (
        "revoked",
        frozenset({TopicPartition(topic, 0), TopicPartition(topic, 1)}),
    ) in events.log
    assert second.committed([TopicPartition(topic, 0)], soon()) == {TopicPartition(topic, 0): 4}


def test_what_a_callback_raises_comes_out_of_consume(
    kafka: str, topic: str, join: Callable[..., GroupConsumer]
) -> None:
    class Broken(Recorder):
        def assigned(self, partitions: object) -> None:
            raise LookupError("broken")

    consumer = join()
    consumer.subscribe([topic], Broken())
    with pytest.raises(LookupError, match="broken"):
        consume_until(consumer, lambda: False)


class Interrupted:
    """The library's consumer; once, when a call has given records, the group has something to say.

    When it speaks is the library's affair: nothing makes it do so at this moment.
    """

    def __init__(self, consumer: GroupConsumer, call: str, event: Callable[[Any], None]) -> None:
        self._real: Any = consumer._consumer
        self._call, self._event = call, event
        self.given: list[Any] = []
        consumer._consumer = self

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._real, name)
        return self._interrupted(real) if name == self._call and not self.given else real

    def _interrupted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            found = call(*arguments)
            if found:
                self.given = found if isinstance(found, list) else [found]
                self._event(self.given[0])
            return found

        return run


@pytest.mark.parametrize("call", ["poll", "consume"])
def test_records_come_again_if_a_callback_fails_when_they_were_taken(
    kafka: str, topic: str, join: Callable[..., GroupConsumer], call: str
) -> None:
    def fail(_: Any) -> None:
        consumer._failure = LookupError("broken")

    produce(kafka, topic, 40)
    consumer = join()
    interrupted = Interrupted(consumer, call, fail)
    consumer.subscribe([topic], Recorder())
    found: list[RawRecord] = []
    with pytest.raises(LookupError, match="broken"):
        consume_until(consumer, lambda: False, found)
    begun = {TopicPartition(topic, each.partition()) for each in interrupted.given}
    given = {TopicPartition(topic, record.partition): record.offset + 1 for record in found}
    assert consumer.positions(begun, soon()) == {each: given.get(each, 0) for each in begun}
    found += take(consumer, 40 - len(found))
    assert len({(record.partition, record.offset) for record in found}) == 40


def test_a_record_of_a_partition_that_leaves_when_it_was_taken_is_not_given(
    kafka: str, topic: str, join: Callable[..., GroupConsumer]
) -> None:
    left: list[Any] = []

    def leave(_: Any) -> None:
        left.extend(consumer._taken)
        gone = [library.TopicPartition(each.topic(), each.partition()) for each in left]
        consumer._on_revoke(None, gone)

    produce(kafka, topic, 40)
    consumer = join()
    Interrupted(consumer, "consume", leave)
    consumer.subscribe([topic], Recorder())
    found = consume_until(consumer, lambda: bool(left))
    (first,) = left
    assert (first.partition(), first.offset()) not in {
        (record.partition, record.offset) for record in found
    }


def test_a_member_thrown_out_may_not_commit(
    kafka: str, topic: str, join: Callable[..., GroupConsumer]
) -> None:
    consumer, events = join(session_timeout_ms="6000", max_poll_interval_ms="6000"), Recorder()
    consumer.subscribe([topic], events)
    consume_until(consumer, lambda: len(consumer.assignment) == 2)
    held = consumer.assignment
    successor = join()
    successor.subscribe([topic], Recorder())
    consume_until(successor, lambda: successor.assignment == held)
    with pytest.raises(RebalancedError):
        consumer.commit(dict.fromkeys(held, 1), soon())
    # Which of the two depends on whether it had heard of the other member before.
    consume_until(consumer, lambda: events.log[-1] in (("lost", held), ("revoked", held)))


def test_topics_by_java_pattern(
    kafka: str, admin: Admin, unique: Unique, join: Callable[..., GroupConsumer]
) -> None:
    base = unique("re")
    names = [f"{base}-{suffix}" for suffix in ("1", "22", "x", "3-not")]
    for name in names[:1] + names[2:]:
        admin.create_topic(TopicSpec(name, 1, 1), soon())
    consumer = join(metadata_max_age_ms="1000")
    consumer.subscribe(java_pattern(rf"\Q{base}\E-\p{{Digit}}+", "topics.regex"), Recorder())
    consume_until(consumer, lambda: {tp.topic for tp in consumer.assignment} == {names[0]})
    admin.create_topic(TopicSpec(names[1], 1, 1), soon())
    consume_until(consumer, lambda: {tp.topic for tp in consumer.assignment} == set(names[:2]))


def test_a_wrong_setting_is_refused_by_name(kafka: str) -> None:
    with pytest.raises(ConfigError, match=r"max\.poll\.interval\.ms"):
        GroupConsumer({
            "bootstrap.servers": kafka, "group.id": "g",
            "max.poll.interval.ms": "1000", "session.timeout.ms": "5000",
        })  # fmt: skip


def test_a_consumer_whose_broker_goes_away_and_comes_back(tmp_path: Path, size: Size) -> None:
    with EmbeddedKafka(tmp_path / "kafka") as node:
        properties = {"bootstrap.servers": node.bootstrap_servers, "group.id": "g"}
        admin = Admin(properties)
        admin.create_topic(TopicSpec("t", 1, 1), soon())
        partition = TopicPartition("t", 0)
        produce(node.bootstrap_servers, "t", 5)
        consumer = GroupConsumer(properties)
        consumer.subscribe(["t"], Recorder())
        assert len(take(consumer, 5)) == 5
        consumer.commit({partition: 5}, soon())
        node.kill()
        away = Deadline.after(size.client_away_seconds)
        while not away.expired:
            assert consumer.consume(10, 0.5) == []
        with pytest.raises(PenstockError):
            consumer.commit({partition: 5}, Deadline.after(2))
        with pytest.raises(PenstockError):
            consumer.end_offsets([partition], Deadline.after(2))
        node.start()
        produce(node.bootstrap_servers, "t", 3, start=5)
        assert [record.value for record in take(consumer, 3)] == [b"v5", b"v6", b"v7"]
        consumer.commit({partition: 8}, soon())
        assert consumer.committed([partition], soon()) == {partition: 8}
        consumer.close(soon())
        admin.close()


def test_topics_that_are_not_there_are_told(
    topic: str, admin: Admin, unique: Unique, join: Callable[..., GroupConsumer]
) -> None:
    absent, consumer = unique("absent"), join()
    consumer.subscribe([topic, absent], Recorder())
    consume_until(consumer, lambda: len(consumer.assignment) == 2)
    assert consumer.waits_for() == f"there is no topic {absent}"
    admin.create_topic(TopicSpec(absent, 1, 1), soon())
    assert consumer.waits_for() is None
    pattern, matching = java_pattern(f"{absent}-.*", "topics.regex"), join()
    matching.subscribe(pattern, Recorder())
    assert matching.waits_for() == f"no topic's name matches {pattern.pattern}"
