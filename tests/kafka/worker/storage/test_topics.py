from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from penstock.kafka.clients import Admin, TopicSpec
from penstock.kafka.topics import (
    CONFIGS,
    OFFSETS,
    TopicCreator,
    ensure_internal_topic,
    internal_topic,
    topic_rules,
)
from penstock.kernel.clock import Deadline
from penstock.kernel.errors import ConfigError
from penstock.testing.waiting import soon
from tests.kafka.worker.storage.support import worker_properties

Unique = Callable[[str], str]


@pytest.fixture
def admin(kafka: str) -> Iterator[Admin]:
    admin = Admin({"bootstrap.servers": kafka})
    yield admin
    admin.close()


def test_internal_topics_are_made_as_wanted(kafka: str, admin: Admin, unique: Unique) -> None:
    worker = worker_properties(kafka, unique("w")) | {"offset.storage.min.compaction.lag.ms": "7"}
    topic = internal_topic(worker, OFFSETS)
    view = ensure_internal_topic(admin, topic, soon())
    assert (view.partitions, view.replication_factor) == (5, 1)
    settings = admin.topic_settings(topic.spec.name, soon())
    assert (settings["cleanup.policy"], settings["min.compaction.lag.ms"]) == ("compact", "7")
    assert ensure_internal_topic(admin, topic, soon()) == view


@pytest.mark.parametrize("policy", ["delete", "compact,delete"])
def test_a_topic_that_would_lose_records_is_refused(
    kafka: str, admin: Admin, unique: Unique, policy: str
) -> None:
    worker = worker_properties(kafka, unique("w"))
    topic = internal_topic(worker, OFFSETS)
    admin.create_topic(TopicSpec(topic.spec.name, 1, 1, {"cleanup.policy": policy}), soon())
    with pytest.raises(ConfigError, match=rf"offset\.storage\.topic.*cleanup\.policy={policy}"):
        ensure_internal_topic(admin, topic, soon())


def test_configs_need_one_partition(kafka: str, admin: Admin, unique: Unique) -> None:
    topic = internal_topic(worker_properties(kafka, unique("w")), CONFIGS)
    admin.create_topic(TopicSpec(topic.spec.name, 2, 1, {"cleanup.policy": "compact"}), soon())
    with pytest.raises(ConfigError, match=r"config\.storage\.topic.*has 2"):
        ensure_internal_topic(admin, topic, soon())


def test_more_replicas_than_brokers(kafka: str, admin: Admin, unique: Unique) -> None:
    worker = worker_properties(kafka, unique("w")) | {"offset.storage.replication.factor": "3"}
    with pytest.raises(ConfigError, match=r"offset\.storage\.replication\.factor.*brokers \(1\)"):
        ensure_internal_topic(admin, internal_topic(worker, OFFSETS), soon())


def test_replication_of_the_broker(kafka: str, admin: Admin, unique: Unique) -> None:
    worker = worker_properties(kafka, unique("w")) | {"offset.storage.replication.factor": "-1"}
    view = ensure_internal_topic(admin, internal_topic(worker, OFFSETS), soon())
    assert view.replication_factor == 1


def test_target_topics_are_made_by_rule(admin: Admin, unique: Unique) -> None:
    many, other, existing = unique("many"), unique("other"), unique("existing")
    rules = topic_rules({
        "topic.creation.default.partitions": "1",
        "topic.creation.default.replication.factor": "-1",
        "topic.creation.groups": "many",
        "topic.creation.many.include": "many.*",
        "topic.creation.many.partitions": "4",
        "topic.creation.many.cleanup.policy": "compact",
    })  # fmt: skip
    assert rules is not None
    admin.create_topic(TopicSpec(existing, 2, 1), soon())
    creator = TopicCreator(admin, rules)
    creator.ensure({many, other, existing}, soon())
    creator.ensure({many, other, existing}, Deadline.after(0))
    views = admin.topics([many, other, existing], soon())
    assert {name: view.partitions for name, view in views.items()} == {
        many: 4,
        other: 1,
        existing: 2,
    }
    assert admin.topic_settings(many, soon())["cleanup.policy"] == "compact"
