from __future__ import annotations

import pytest

from penstock.kernel.errors import BadRequestError, NotFoundError
from penstock.tools.broker.names import check_topic_name, chosen, is_internal, topic_partitions

NAMES = ["jdbc_a", "jdbc_b", "orders", "Orders"]


def test_names_and_patterns_are_chosen_once_and_sorted() -> None:
    assert chosen(NAMES, ["orders", "jdbc_*", "jdbc_a"], "topic") == ["jdbc_a", "jdbc_b", "orders"]
    assert chosen(NAMES, ["jdbc_[b-z]", "?rders"], "topic") == ["Orders", "jdbc_b", "orders"]


def test_a_name_is_itself_before_it_is_a_pattern() -> None:
    assert chosen(["a1", "a[1]"], ["a[1]"], "group") == ["a[1]"]


def test_what_stands_for_nothing_is_named() -> None:
    with pytest.raises(NotFoundError, match=r"there is no group order$"):
        chosen(NAMES, ["orders", "order"], "group")
    with pytest.raises(NotFoundError, match=r"no topic matches s3_\*"):
        chosen(NAMES, ["s3_*"], "topic")


def test_partitions_stand_behind_a_colon() -> None:
    assert topic_partitions("orders") == ("orders", None)
    assert topic_partitions("orders:2,0,2") == ("orders", (0, 2))


@pytest.mark.parametrize("text", ["orders:", "orders:a", ":1", "orders:1,", "orders:-1"])
def test_wrong_partitions_are_refused(text: str) -> None:
    with pytest.raises(BadRequestError, match="TOPIC:0,1,2"):
        topic_partitions(text)


@pytest.mark.parametrize("name", ["", "a/b", "..", ".", "ö", "x" * 250, "a b"])
def test_wrong_names_of_topics_are_refused(name: str) -> None:
    with pytest.raises(BadRequestError, match="can't be the name of a topic"):
        check_topic_name(name)


def test_a_good_name_is_taken() -> None:
    check_topic_name("A-z_0.9")


@pytest.mark.parametrize(
    ("name", "internal"),
    [
        ("__consumer_offsets", True),
        ("_schemas", True),
        ("_confluent-metrics", True),
        ("_mine", False),
        ("connect-offsets", False),
    ],
)
def test_internal_topics_are_known_by_name(name: str, internal: bool) -> None:
    assert is_internal(name) is internal
