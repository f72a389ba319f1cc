from __future__ import annotations

import pytest

from penstock.kafka.clients import TopicSpec
from penstock.kafka.topics import CONFIGS, OFFSETS, STATUSES, internal_topic, topic_rules
from penstock.kernel.errors import ConfigError

DEFAULT = {
    "topic.creation.default.partitions": "2",
    "topic.creation.default.replication.factor": "-1",
    "topic.creation.default.cleanup.policy": "compact",
}


def test_no_rules_without_keys() -> None:
    assert topic_rules({"name": "x", "topic": "t"}) is None


def test_the_first_matching_group_wins() -> None:
    rules = topic_rules({
        **DEFAULT,
        "topic.creation.groups": "big, inorder",
        "topic.creation.big.include": "orders.*, payments",
        "topic.creation.big.exclude": "orders-small.*",
        "topic.creation.big.partitions": "50",
        "topic.creation.inorder.include": r"(?i)orders-\w+",
        "topic.creation.inorder.partitions": "1",
        "topic.creation.inorder.retention.ms": "1000",
    })  # fmt: skip
    assert rules is not None
    assert rules.spec_for("orders-1") == TopicSpec("orders-1", 50, -1, {})
    assert rules.spec_for("payments").partitions == 50
    assert rules.spec_for("payments2").partitions == 2
    small = rules.spec_for("orders-small")
    assert (small.partitions, small.settings) == (1, {"retention.ms": "1000"})
    assert rules.spec_for("x").settings == {"cleanup.policy": "compact"}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"topic.creation.default.partitions": None}, "topic.creation.default.partitions"),
        ({"topic.creation.default.partitions": "0"}, "topic.creation.default.partitions"),
        ({"topic.creation.groups": "g"}, "topic.creation.g.include"),
        (
            {"topic.creation.groups": "g", "topic.creation.g.include": "("},
            "topic.creation.g.include",
        ),
    ],
)
def test_wrong_rules_name_their_key(changes: dict[str, str | None], key: str) -> None:
    config = {name: value for name, value in {**DEFAULT, **changes}.items() if value is not None}
    with pytest.raises(ConfigError, match=key.replace(".", r"\.")):
        topic_rules(config)


def test_internal_topics_by_properties() -> None:
    worker = {
        "config.storage.topic": "c", "config.storage.partitions": "7",
        "offset.storage.topic": "o", "offset.storage.replication.factor": "-1",
        "offset.storage.segment.bytes": "1000", "offset.storage.cleanup.policy": "delete",
        "offset.storage.file.filename": "ignored",
        "status.storage.topic": "s", "status.storage.partitions": "3",
    }  # fmt: skip
    compact = {"cleanup.policy": "compact"}
    assert internal_topic(worker, CONFIGS).spec == TopicSpec("c", 1, 3, compact)
    assert internal_topic(worker, OFFSETS).spec == TopicSpec(
        "o", 25, -1, {**compact, "segment.bytes": "1000"}
    )
    assert internal_topic(worker, STATUSES).spec == TopicSpec("s", 3, 3, compact)


@pytest.mark.parametrize(
    "worker",
    [
        {},
        {"offset.storage.topic": " "},
        {"offset.storage.topic": "o", "offset.storage.partitions": "0"},
    ],
)
def test_wrong_internal_topics_name_their_key(worker: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"offset\.storage"):
        internal_topic(worker, OFFSETS)
