"""Records of the offsets topic: what counts, what was, and under which bytes to write."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from penstock.kafka.clients import RawRecord
from penstock.offsets import Place, StoredOffset
from penstock.tools.offsets.showing import merged
from penstock.tools.offsets.topic import History, Keys, Stored, _Kept, own_key

COMPACT = b'["jdbc_src_1",{"query":"query"}]'
SPACED = b'["jdbc_src_1", {"query":"query"}]'


def raw(key: bytes | None, value: bytes | None, partition: int = 0, offset: int = 0) -> RawRecord:
    return RawRecord("connect-offsets", partition, offset, 1_000, 0, key, value, None)


def parsed(record: RawRecord) -> Stored | None:
    key = Keys({"jdbc_src_1", "x"}).find(record.key)
    return None if key is None else key.stored(record)


def stored(offset: Any, at: int, *, key: bytes = COMPACT, partition: int = 5) -> Stored:
    return Stored("jdbc_src_1", key, {"query": "query"}, offset, Place(partition, at, 1_000 * at))


def history(*records: Stored, keep: int = 10, before: int | None = None) -> History:
    kept = _Kept(deque(maxlen=keep))
    for record in records:
        kept.add(record, before)
    return kept.found()


def test_a_record() -> None:
    found = parsed(raw(COMPACT, b'{"incrementing":369034}', 5, 7))
    assert found == Stored(
        "jdbc_src_1", COMPACT, {"query": "query"}, {"incrementing": 369034}, Place(5, 7, 1_000)
    )
    tombstone = parsed(raw(COMPACT, None))
    assert tombstone is not None
    assert tombstone.offset is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, None),
        (b"task-x", b"{}"),
        (b'["x"]', b"{}"),
        (b'["x",null]', b"{}"),
        (b'[1,{}]', b"{}"),
        (b'["another",{}]', b"{}"),
        (COMPACT, b""),
        (COMPACT, b"7"),
    ],
)  # fmt: skip
def test_what_is_no_offset(key: bytes | None, value: bytes | None) -> None:
    assert parsed(raw(key, value)) is None


def test_the_last_counts_and_the_history_is_bounded() -> None:
    found = history(*(stored({"n": n}, n) for n in range(1, 9)), keep=3, before=3_500)
    assert found.latest.offset == {"n": 8}
    assert [each.offset for each in found.history] == [{"n": 8}, {"n": 7}, {"n": 6}]
    assert found.earlier is not None
    assert found.earlier.offset == {"n": 3}
    assert found.begins == 1_000


def test_keys_of_others_are_not_kept() -> None:
    keys = Keys({"jdbc_src_1"})
    for number in range(10):
        assert keys.find(b'["other-%d",{}]' % number) is None
        assert keys.find(COMPACT) is keys.find(COMPACT)
    assert list(keys._known) == [COMPACT]


def test_the_same_partition_in_other_bytes_and_places() -> None:
    # A note with a space in it was used, and the wrong partition.
    found = history(stored({"n": 1}, 1), stored({"n": 2}, 2, key=SPACED, partition=1))
    assert found.latest.offset == {"n": 2}
    assert own_key(found) == COMPACT
    # Nothing but the note: what Connect would look for.
    assert own_key(history(stored({"n": 2}, 2, key=SPACED))) == COMPACT


def test_what_the_worker_says_gets_its_place() -> None:
    told = [StoredOffset({"query": "query"}, {"n": 7})]
    newer = history(stored({"n": 7}, 7), stored({"n": 8}, 8))
    assert merged(told, [newer]) == (
        [StoredOffset({"query": "query"}, {"n": 8}, Place(5, 8, 8_000))],
        True,
    )
    # The API leaves out what was reset, the topic tells when that was.
    assert merged([], [history(stored(None, 9))]) == (
        [StoredOffset({"query": "query"}, None, Place(5, 9, 9_000))],
        True,
    )


@pytest.mark.parametrize(
    ("told", "records"),
    [
        ([StoredOffset({"query": "query"}, {"n": 7})], [stored({"n": 99}, 3)]),
        ([StoredOffset({"query": "query"}, {"n": 7})], []),
        ([], [stored({"n": 99}, 3)]),
    ],
)
def test_another_topic_than_the_workers(told: list[StoredOffset], records: list[Stored]) -> None:
    found, fits = merged(told, [history(*records)] if records else [])
    assert found == told
    assert not fits
