from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from penstock.kafka.clients import Admin, Edge, GroupConsumer, LogWriter, TopicSpec
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import (
    DeadlineExceededError,
    GroupActiveError,
    RetriableError,
    StorageError,
)
from penstock.testing.waiting import eventually, soon
from tests.kafka.clients.support import Recorder, consume_until

Unique = Callable[[str], str]


@pytest.fixture
def admin(kafka: str) -> Iterator[Admin]:
    admin = Admin({"bootstrap.servers": kafka})
    yield admin
    admin.close()


def test_topics_are_created_once_and_described(admin: Admin, unique: Unique) -> None:
    name, absent = unique("made"), unique("absent")
    spec = TopicSpec(name, 3, 1, {"cleanup.policy": "compact"})
    assert admin.create_topic(spec, soon()) is True
    assert admin.create_topic(spec, soon()) is False
    views = admin.topics([name, absent], soon())
    assert set(views) == {name}
    assert (views[name].partitions, views[name].replication_factor) == (3, 1)
    assert admin.topic_settings(name, soon())["cleanup.policy"] == "compact"
    assert name in admin.topic_names(soon())


def test_a_topic_that_is_made_again_has_another_id_and_no_offsets(
    admin: Admin, unique: Unique
) -> None:
    name, group = unique("again"), unique("g")
    place, seen = TopicPartition(name, 0), []
    for _ in range(2):
        admin.create_topic(TopicSpec(name, 1, 1), soon())
        seen.append(admin.topics([name], soon())[name].id)
        assert admin.group_offsets(group, soon()) == {}
        admin.alter_group_offsets(group, {place: 7}, soon())
        assert admin.group_offsets(group, soon()) == {place: 7}
        admin.delete_topics([name], soon())
        eventually(lambda: name not in admin.topics([name], soon()))
    assert None not in seen
    assert len(set(seen)) == 2


def test_the_broker_s_reason_is_told(admin: Admin, unique: Unique) -> None:
    with pytest.raises(StorageError, match="eplication"):
        admin.create_topic(TopicSpec(unique("wide"), 1, 99), soon())


def test_cluster(admin: Admin) -> None:
    assert len(admin.cluster_id(soon())) > 10
    assert admin.broker_count(soon()) == 1


def test_offsets_of_both_ends(admin: Admin, kafka: str, unique: Unique) -> None:
    name = unique("ends")
    admin.create_topic(TopicSpec(name, 2, 1), soon())
    written = LogWriter({"bootstrap.servers": kafka}, name).append([(b"k", b"v")] * 3, soon())
    (partition,) = written
    both = [TopicPartition(name, 0), TopicPartition(name, 1)]
    assert set(admin.offsets(both, Edge.EARLIEST, soon()).values()) == {0}
    ends = admin.offsets(both, Edge.LATEST, soon())
    assert ends[TopicPartition(name, partition)] == 3
    assert sum(ends.values()) == 3


def test_group_offsets_are_set_read_and_forgotten(admin: Admin, unique: Unique) -> None:
    topic, group = unique("topic"), unique("group")
    admin.create_topic(TopicSpec(topic, 2, 1), soon())
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    assert admin.group_offsets(group, soon()) == {}
    admin.delete_group(group, soon())
    admin.delete_group_offsets(group, [first], soon())
    admin.alter_group_offsets(group, {first: 5, second: 7}, soon())
    assert admin.group_offsets(group, soon()) == {first: 5, second: 7}
    admin.delete_group_offsets(group, [first], soon())
    assert admin.group_offsets(group, soon()) == {second: 7}
    assert not admin.group_states([group], soon())[group].members
    admin.delete_group(group, soon())
    assert admin.group_offsets(group, soon()) == {}


def test_offsets_of_a_group_with_members_are_theirs(
    admin: Admin, kafka: str, unique: Unique
) -> None:
    topic, group = unique("topic"), unique("group")
    admin.create_topic(TopicSpec(topic, 1, 1), soon())
    member = GroupConsumer({"bootstrap.servers": kafka, "group.id": group})
    member.subscribe([topic], Recorder())
    consume_until(member, lambda: bool(member.assignment))
    partition = TopicPartition(topic, 0)
    member.commit({partition: 0}, soon())
    assert admin.group_states([group], soon())[group].members
    with pytest.raises(GroupActiveError):
        admin.alter_group_offsets(group, {partition: 1}, soon())
    with pytest.raises(GroupActiveError):
        admin.delete_group_offsets(group, [partition], soon())
    with pytest.raises(GroupActiveError):
        admin.delete_group(group, soon())
    member.close(soon())
    admin.alter_group_offsets(group, {partition: 1}, soon())
    assert admin.group_offsets(group, soon()) == {partition: 1}


def test_a_broker_that_is_not_there_costs_no_more_than_the_deadline() -> None:
    admin = Admin({"bootstrap.servers": "127.0.0.1:19"})
    start = Deadline.after(0.0).at
    with pytest.raises((DeadlineExceededError, RetriableError)) as caught:
        admin.cluster_id(Deadline.after(1.0))
    assert "127.0.0.1:19" in str(caught.value)
    assert Deadline.after(0.0).at - start < 3.0
