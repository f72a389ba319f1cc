"""What a database says no to: a row, or something that no other row would change."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from penstock.kernel.errors import ConfigError, DataError, RefusedError, RetriableError, UnfitError
from penstock.worker.pipeline import faults
from tests.spark.connectors.jdbc.sinks import USER, Sinks, batch, big, users, with_mysql

KEYED = {"pk_mode": "record_value", "pk_fields": "id"}
TABLE = "CREATE TABLE users (id INTEGER PRIMARY KEY, name VARCHAR(5) CHECK (name <> 'bad'))"


@with_mysql
@pytest.mark.parametrize(("mode", "once"), [("insert", "false"), ("upsert", "true")])
def test_a_check_refuses_the_batch_and_nothing_of_it_is_there(
    sinks: Sinks, mode: str, once: str
) -> None:
    sinks.execute(TABLE)
    task = sinks.task(**KEYED, insert_mode=mode, exactly_once=once)
    with pytest.raises(RefusedError):
        task.write(batch(sinks.spark, users({1: "a", 2: "bad", 3: "c"})))
    assert sinks.rows("users", "id") == []
    task.write(batch(sinks.spark, users({1: "a"})))
    task.write(batch(sinks.spark, users({3: "c"}), start=2))
    assert sinks.rows("users", "id") == [(1,), (3,)]


@pytest.mark.parametrize("sinks", ["mariadb", "postgresql"], indirect=True)
@pytest.mark.parametrize("mode", ["insert", "upsert"])
def test_values_that_do_not_fit(sinks: Sinks, mode: str) -> None:
    sinks.execute(TABLE)
    task = sinks.task(**KEYED, insert_mode=mode)
    with pytest.raises(RefusedError, match=r"too long|truncated") as caught:
        task.write(batch(sinks.spark, users({1: "a", 2: "a long name"})))
    assert caught.value.row == 1
    sinks.execute("ALTER TABLE users DROP COLUMN name", "ALTER TABLE users ADD name SMALLINT")
    with pytest.raises(RefusedError, match=r"smallint|integer"):
        task.write(batch(sinks.spark, users({1: "7", 2: "x"})))
    assert sinks.rows("users", "id") == []


def test_a_key_that_is_there_already(sinks: Sinks) -> None:
    sinks.execute(TABLE)
    task = sinks.task(**KEYED)
    with pytest.raises(RefusedError, match=r"(?i)duplicate|unique"):
        task.write(batch(sinks.spark, [*users({1: "a"}), *users({1: "b"})]))
    assert sinks.rows("users", "id") == []


def test_many_rows_of_which_one_is_refused(sinks: Sinks) -> None:
    sinks.execute("CREATE TABLE users (id INTEGER CHECK (id <> 2500), name VARCHAR(20))")
    with pytest.raises(RefusedError):
        sinks.task().write(batch(sinks.spark, list(big(3000)), pieces=2))
    assert sinks.query("SELECT COUNT(*) FROM users") == [(0,)]


def test_records_without_what_they_must_have(sinks: Sinks) -> None:
    task = sinks.task(auto_create="true", **KEYED)
    with pytest.raises(RefusedError, match=r"users-0, offset 6: its value is null") as caught:
        task.write(batch(sinks.spark, [{"id": 1, "name": "a"}, None], start=5))
    assert caught.value.row == 1


def test_a_missing_table_is_nobodys_record_a_missing_column_that_of_all(sinks: Sinks) -> None:
    with pytest.raises(ConfigError):
        sinks.task().write(batch(sinks.spark, users({1: "a"})))
    sinks.execute("CREATE TABLE users (id INTEGER)")
    with pytest.raises(UnfitError):
        sinks.task().write(batch(sinks.spark, users({1: "a"}), USER))
    with pytest.raises(DataError) as caught:
        sinks.query("SELECT nothing FROM users")
    assert not isinstance(caught.value, RefusedError)


@pytest.mark.parametrize("sinks", ["mariadb", "postgresql"], indirect=True)
def test_a_full_disk_costs_nothing_once_there_is_space(
    sinks: Sinks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = sinks.task(auto_create="true")
    task.write(batch(sinks.spark, users({1: "a"})))
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "mkdtemp", lambda **_: str(tmp_path))
        (tmp_path / "part-00000").symlink_to("/dev/full")
        with pytest.raises(OSError, match="No space left") as caught:
            task.write(batch(sinks.spark, users({2: "b"}), start=1))
    # The runtime repeats this without end; see test_faults.py.
    assert isinstance(faults.translated(caught.value), RetriableError)
    task.write(batch(sinks.spark, users({2: "b"}), start=1))
    assert sinks.rows("users", "id") == [(1,), (2,)]
