"""Partitions and offsets as people write and read them."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import BadRequestError, ConfigError
from penstock.offsets import Kind, Move
from penstock.tools.offsets.texts import (
    chosen,
    read_again,
    shown_offset,
    shown_partition,
    sink_position,
    source_offset,
    source_partition,
)

QUERY = {"query": "query"}
TABLE = {"protocol": "1", "table": "shop.users"}
ORDERS = [{"kafka_topic": "orders", "kafka_partition": number} for number in range(3)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"query":"query"}', QUERY),
        ("query=query", QUERY),
        # Numbers in text forms are those of the partition that is known.
        ("protocol=1,table=shop.users", TABLE),
        ('{"table": "shop.users", "protocol": "1"}', TABLE),
        ('{"protocol": 1, "table": "shop.users"}', {"protocol": 1, "table": "shop.users"}),
        ("filename=/data/a=b.txt", {"filename": "/data/a=b.txt"}),
    ],
)
def test_source_partitions(text: str, found: dict[str, Any]) -> None:
    assert source_partition(text, [QUERY, TABLE]) == found


def test_a_known_partition_keeps_the_order_of_its_fields() -> None:
    found = source_partition('{"table":"shop.users","protocol":"1"}', [TABLE])
    assert list(found) == ["protocol", "table"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("incrementing=369034", {"incrementing": 369034}),
        (
            '{"timestamp_nanos":817000000,"timestamp":1669701595817}',
            {"timestamp_nanos": 817000000, "timestamp": 1669701595817},
        ),
        ("position=8,done=true,ratio=1.5,lsn=0/16B", {
            "position": 8, "done": True, "ratio": 1.5, "lsn": "0/16B",
        }),
    ],
)  # fmt: skip
def test_source_offsets(text: str, found: dict[str, Any]) -> None:
    assert source_offset(text) == found


@pytest.mark.parametrize("text", ["", "369034", "{", '"x"', "[1]", "{}", "=1"])
def test_what_is_no_offset(text: str) -> None:
    with pytest.raises(ConfigError, match="--offset"):
        source_offset(text)


def test_sink_positions() -> None:
    assert sink_position("orders:2=1200") == (TopicPartition("orders", 2), 1200)
    for wrong in ("orders=1", "orders:x=1", "orders:0=-1", ":0=1", "orders:0"):
        with pytest.raises(ConfigError, match="TOPIC:PARTITION=OFFSET"):
            sink_position(wrong)


def test_partitions_are_chosen_by_name() -> None:
    assert chosen(Kind.SINK, ORDERS, []) == ORDERS
    assert chosen(Kind.SINK, ORDERS, ["orders"]) == ORDERS
    assert chosen(Kind.SINK, ORDERS, ["orders:2", "orders:0,2"]) == [ORDERS[2], ORDERS[0]]
    assert chosen(Kind.SOURCE, [QUERY, TABLE], ["query=query"]) == [QUERY]
    with pytest.raises(BadRequestError, match="there are: orders:0, orders:1, orders:2"):
        chosen(Kind.SINK, ORDERS, ["orders:7"])
    with pytest.raises(BadRequestError, match=r'"query":"query"'):
        chosen(Kind.SOURCE, [QUERY], ["query=other"])


def test_for_people() -> None:
    assert shown_partition(Kind.SINK, ORDERS[1]) == "orders:1"
    assert shown_partition(Kind.SOURCE, {"filename": "/données"}) == '{"filename":"/données"}'
    assert shown_offset(Kind.SINK, {"kafka_offset": 7}) == "7"
    assert shown_offset(Kind.SOURCE, None) == "null"


@pytest.mark.parametrize(
    ("kind", "before", "after", "text"),
    [
        (Kind.SINK, {"kafka_offset": 9}, {"kafka_offset": 4}, "5 records"),
        (Kind.SINK, {"kafka_offset": 5}, {"kafka_offset": 4}, "1 record"),
        (Kind.SINK, {"kafka_offset": 4}, {"kafka_offset": 9}, "5 records skipped"),
        (Kind.SINK, {"kafka_offset": 4}, {"kafka_offset": 4}, "nothing"),
        (Kind.SINK, None, {"kafka_offset": 4}, "from offset 4 on"),
        (Kind.SOURCE, {"incrementing": 9}, None, "everything"),
        (Kind.SOURCE, {"incrementing": 9}, {"incrementing": 4}, "incrementing after 4"),
        (
            Kind.SOURCE,
            {"timestamp": 5},
            {"timestamp_nanos": 817000000, "timestamp": 1669701595817},
            "since 2022-11-29T05:59:55.817Z",
        ),
        (Kind.SOURCE, {"lsn": "0/2"}, {"lsn": "0/1"}, "from there on"),
    ],
)
def test_what_is_read_again(kind: Kind, before: Any, after: Any, text: str) -> None:
    assert read_again(kind, Move({}, before, after)) == text
