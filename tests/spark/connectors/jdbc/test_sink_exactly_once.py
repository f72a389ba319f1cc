"""exactly.once: the batch and its offsets are one transaction of the target."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.sink.offsets import MovedOnError
from penstock.kernel.data import TopicPartition
from penstock.kernel.errors import DataError, PenstockError, RetriableError
from tests.spark.connectors.jdbc.sinks import TEXT, USER, Sinks, batch, big, users, with_mysql

ONCE = {"auto_create": "true", "exactly_once": "true", "max_retries": "0"}
USERS = TopicPartition("users", 0)


def starts(sinks: Sinks) -> dict[TopicPartition, int]:
    return dict(sinks.task(**ONCE).starting_offsets(frozenset({USERS, TopicPartition("x", 1)})))


def test_a_new_target_says_nothing(sinks: Sinks) -> None:
    assert starts(sinks) == {}


@with_mysql
@pytest.mark.parametrize("mode", ["insert", "upsert"])
def test_the_same_batch_twice(sinks: Sinks, mode: str) -> None:
    keys = {**ONCE, "insert_mode": mode, "pk_mode": "kafka"} if mode == "upsert" else ONCE
    for _ in range(2):
        sinks.task(**keys).write(batch(sinks.spark, users({1: "a", 2: "b"}), start=5))
    assert sinks.rows("users", "id") == [(1,), (2,)]
    assert starts(sinks) == {USERS: 7}
    sinks.task(**keys).write(batch(sinks.spark, users({3: "c"}), start=7))
    assert sinks.rows("users", "id") == [(1,), (2,), (3,)]
    assert sinks.rows("penstock_offsets") == [("sink", "users", 0, 8, None)]


def test_a_topic_that_was_made_again(sinks: Sinks) -> None:
    # The table as it was before topics had ids in it.
    sinks.execute(
        "CREATE TABLE penstock_offsets (connector VARCHAR(255) NOT NULL,"
        " topic VARCHAR(249) NOT NULL,"
        " part INTEGER NOT NULL, next_offset BIGINT NOT NULL,"
        " PRIMARY KEY (connector, topic, part))",
        "INSERT INTO penstock_offsets VALUES ('sink', 'users', 0, 5)",
    )
    sinks.ids["users"] = "old"
    task = sinks.task(**ONCE)
    assert task.starting_offsets(frozenset({USERS})) == {USERS: 5}
    task.write(batch(sinks.spark, users({1: "a", 2: "b"}), start=5))
    assert sinks.rows("penstock_offsets") == [("sink", "users", 0, 7, "old")]

    sinks.ids["users"] = "new"
    for fails in (task, sinks.task(**ONCE)):
        with pytest.raises(PenstockError, match="deleted and made again") as caught:
            fails.starting_offsets(frozenset({USERS}))
        assert not isinstance(caught.value, RetriableError)
    begins = sinks.task(**ONCE, exactly_once_new_topic="begin")
    assert begins.starting_offsets(frozenset({USERS})) == {USERS: 0}
    begins.write(batch(sinks.spark, users({3: "c"})))
    assert sinks.rows("users", "id") == [(1,), (2,), (3,)]
    assert sinks.rows("penstock_offsets") == [("sink", "users", 0, 1, "new")]
    assert sinks.task(**ONCE).starting_offsets(frozenset({USERS})) == {USERS: 1}


def test_many_rows(sinks: Sinks) -> None:
    task = sinks.task(**ONCE)
    task.write(batch(sinks.spark, list(big(3000)), pieces=2))
    assert sinks.query("SELECT COUNT(*), MIN(id), MAX(id) FROM users") == [(3000, 0, 2999)]
    assert starts(sinks) == {USERS: 3000}


def test_a_part_that_is_there_already_moves_the_task_on(sinks: Sinks) -> None:
    task = sinks.task(**ONCE)
    task.write(batch(sinks.spark, users({1: "a", 2: "b"})))
    with pytest.raises(MovedOnError, match="up to offset 2"):
        task.write(batch(sinks.spark, users({2: "b", 3: "c"}), start=1))
    assert sinks.rows("users", "id") == [(1,), (2,)]


def test_a_failed_batch_leaves_its_offsets(sinks: Sinks) -> None:
    sinks.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, name VARCHAR(20))")
    task = sinks.task(**ONCE)
    task.write(batch(sinks.spark, users({1: "a"})))
    with pytest.raises(DataError):
        task.write(batch(sinks.spark, users({2: "b", 1: "again"}), start=1))
    assert sinks.rows("users", "id") == [(1,)]
    assert starts(sinks) == {USERS: 1}


@contextmanager
def interrupted(monkeypatch: pytest.MonkeyPatch, *, committed: bool) -> Iterator[None]:
    """The connection goes away right before the commit, or right after it."""
    whole = Database.transaction

    @contextmanager
    def cut(self: Database) -> Iterator[None]:
        with whole(self):
            yield
            if not committed:
                self.close()
                raise RetriableError("the connection is gone")
        raise RetriableError("the connection is gone")

    with monkeypatch.context() as patched:
        patched.setattr(Database, "transaction", cut)
        yield


@pytest.mark.parametrize("committed", [False, True])
def test_a_crash_around_the_commit(
    sinks: Sinks, monkeypatch: pytest.MonkeyPatch, *, committed: bool
) -> None:
    task = sinks.task(**ONCE)
    task.write(batch(sinks.spark, users({1: "a"})))
    more = batch(sinks.spark, users({2: "b"}), start=1)
    with interrupted(monkeypatch, committed=committed), pytest.raises(Exception, match="gone"):
        task.write(more)
    assert starts(sinks) == {USERS: 2 if committed else 1}
    task.write(more)
    assert sinks.rows("users", "id") == [(1,), (2,)]


def test_two_tasks_with_one_range(sinks: Sinks, monkeypatch: pytest.MonkeyPatch) -> None:
    """One has read the offsets, then another commits: the first must not."""
    first, second = sinks.task(**ONCE), sinks.task(**ONCE)
    first.write(batch(sinks.spark, users({1: "a"})))
    same = batch(sinks.spark, users({2: "b", 3: "c"}), start=1)
    with monkeypatch.context() as patched:
        patched.setattr(first, "_stored", lambda *_: {USERS: 1})
        second.write(same)
        with pytest.raises(MovedOnError, match="another task"):
            first.write(same)
    assert sinks.rows("users", "id") == [(1,), (2,), (3,)]


def test_a_part_that_fails_asks_for_all_of_them_again(
    sinks: Sinks, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = sinks.task(**{**ONCE, "max_retries": "3"})
    first = batch(sinks.spark, users({1: "a"}))
    second = replace(batch(sinks.spark, users({2: "b"})), ranges=first.ranges)
    task.write(replace(first, more=True))
    with interrupted(monkeypatch, committed=False), pytest.raises(RetriableError, match="gone"):
        task.write(second)
    task.discard(second)
    assert starts(sinks) == {}
    task.write(replace(first, more=True))
    task.write(second)
    assert sinks.rows("users", "id") == [(1,), (2,)]


def test_parts_of_several_schemas_are_one(sinks: Sinks) -> None:
    task = sinks.task(**ONCE, auto_evolve="true")
    mail = USER.with_fields(*USER.fields, replace(USER.fields[1], name="mail"))
    whole = batch(sinks.spark, users({1: "a"}))
    task.write(replace(whole, more=True))
    assert starts(sinks) == {}
    last = batch(sinks.spark, [{"id": 2, "name": "b", "mail": "m"}], mail)
    task.write(replace(last, ranges=whole.ranges))
    assert sinks.rows("users", "id", "mail") == [(1, None), (2, "m")]
    assert starts(sinks) == {USERS: 1}
    assert mail.fields[2].schema == TEXT
