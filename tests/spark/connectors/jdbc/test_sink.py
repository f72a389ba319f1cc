"""The JDBC sink on real databases: modes, keys, tables that are made and grow, errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from penstock.kernel.data.schema import Field, Schema, SchemaType, struct_schema
from penstock.kernel.errors import ConfigError, DataError, PenstockError, UnfitError
from tests.spark.connectors.jdbc.sinks import (
    INT,
    LONG,
    TEXT,
    USER,
    Sinks,
    batch,
    big,
    on_servers,
    users,
    with_mysql,
)

KEYED = {"pk_mode": "record_key", "pk_fields": "id"}
GROWN = struct_schema(Field("id", INT), Field("name", TEXT), Field("mail", TEXT))


@with_mysql
def test_insert_makes_the_table(sinks: Sinks) -> None:
    task = sinks.task(auto_create="true", pk_mode="record_value", pk_fields="id")
    task.write(batch(sinks.spark, users({1: "a", 2: None, 3: "", 4: "ü🚰'\\\t\n\\N"})))
    assert sinks.rows("users", "id", "name") == [(1, "a"), (2, None), (3, ""), (4, "ü🚰'\\\t\n\\N")]
    with pytest.raises(DataError):
        task.write(batch(sinks.spark, users({5: "e", 1: "again"}), start=4))
    assert len(sinks.rows("users", "id")) == 4


@with_mysql
def test_many_rows_in_pieces(sinks: Sinks) -> None:
    task = sinks.task(auto_create="true")
    task.write(batch(sinks.spark, list(big(5000)), pieces=3))
    sums = "SELECT COUNT(*), COUNT(DISTINCT id), SUM(id) FROM users WHERE name = "
    joined = "CONCAT('name ', id)" if sinks.settings.scheme != "sqlite" else "'name ' || id"
    [(rows, ids, total)] = sinks.query(sums + joined)
    assert (rows, ids, int(total)) == (5000, 5000, sum(range(5000)))


@with_mysql
def test_upsert_takes_the_last_of_a_key(sinks: Sinks) -> None:
    task = sinks.task(
        auto_create="true", insert_mode="upsert", pk_mode="record_value", pk_fields="id"
    )
    task.write(batch(sinks.spark, users({1: "a", 2: "b"})))
    doubled = [*users({1: "x", 3: "c"}), *users({1: "y", 3: None})]
    task.write(batch(sinks.spark, doubled, start=2))
    assert sinks.rows("users", "id", "name") == [(1, "y"), (2, "b"), (3, None)]


def test_upsert_of_many_rows(sinks: Sinks) -> None:
    task = sinks.task(
        auto_create="true", insert_mode="upsert", pk_mode="record_value", pk_fields="id"
    )
    task.write(batch(sinks.spark, list(big(3000))))
    again = [{"id": number % 1000, "name": f"v{number}"} for number in range(3000)]
    task.write(batch(sinks.spark, again, start=3000, pieces=2))
    rows = sinks.rows("users", "id", "name")
    expected = [
        f"v{2000 + number}" if number < 1000 else f"name {number}" for number in range(3000)
    ]
    assert [name for _, name in rows] == expected


def test_update_changes_what_is_there(sinks: Sinks) -> None:
    sinks.execute(
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name VARCHAR(20))",
        "INSERT INTO users VALUES (1, 'a')",
        "INSERT INTO users VALUES (2, 'b')",
    )
    task = sinks.task(insert_mode="update", pk_mode="record_value", pk_fields="id")
    changed = [*users({1: "x", 3: "not there"}), *users({1: "y"})]
    task.write(batch(sinks.spark, changed))
    assert sinks.rows("users") == [(1, "y"), (2, "b")]


def records(*steps: tuple[int, str | None]) -> dict[str, Any]:
    values = [None if name is None else {"name": name} for _, name in steps]
    schema = struct_schema(Field("name", TEXT), optional=True)
    return {
        "values": values,
        "schema": schema,
        "keys": [{"id": number} for number, _ in steps],
        "key_schema": struct_schema(Field("id", INT)),
    }


@with_mysql
@pytest.mark.parametrize("mode", ["insert", "upsert"])
def test_deletes_keep_their_order(sinks: Sinks, mode: str) -> None:
    task = sinks.task(
        auto_create="true", insert_mode=mode, pk_mode="record_key", delete_enabled="true"
    )
    task.write(batch(sinks.spark, **records((1, "a"), (2, "b"), (3, "c"), (4, "d"))))
    steps = [(1, None), (2, None), (2, "B"), (5, "e"), (5, None), (6, None), (7, "g")]
    task.write(batch(sinks.spark, **records(*steps), start=4))
    assert sinks.rows("users", "id", "name") == [(2, "B"), (3, "c"), (4, "d"), (7, "g")]
    only_tombstones = records((3, None), (9, None))
    only_tombstones["schema"] = None
    task.write(batch(sinks.spark, **only_tombstones, start=11))
    assert sinks.rows("users", "id") == [(2,), (4,), (7,)]


def test_update_and_deletes(sinks: Sinks) -> None:
    sinks.execute(
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name VARCHAR(20))",
        "INSERT INTO users VALUES (1, 'a')",
        "INSERT INTO users VALUES (2, 'b')",
    )
    task = sinks.task(insert_mode="update", pk_mode="record_key", delete_enabled="true")
    task.write(batch(sinks.spark, **records((1, "x"), (1, None), (1, "late"), (2, "B"))))
    assert sinks.rows("users") == [(2, "B")]


def test_kafka_coordinates_as_key(sinks: Sinks) -> None:
    task = sinks.task(auto_create="true", insert_mode="upsert", pk_mode="kafka")
    for _ in range(2):
        task.write(batch(sinks.spark, users({1: "a", 2: "b"}), start=7))
    names = ("__connect_topic", "__connect_partition", "__connect_offset", "id", "name")
    assert sinks.rows("users", *names, order="3") == [
        ("users", 0, 7, 1, "a"),
        ("users", 0, 8, 2, "b"),
    ]


def test_a_plain_key_and_a_whitelist(sinks: Sinks) -> None:
    task = sinks.task(
        auto_create="true", pk_mode="record_key", pk_fields="k", fields_whitelist="name"
    )
    task.write(batch(sinks.spark, users({1: "a"}), keys=[2**40], key_schema=LONG))
    assert sinks.rows("users", "k", "name") == [(2**40, "a")]
    assert len(sinks.rows("users")[0]) == 2


def test_several_topics_several_tables(sinks: Sinks) -> None:
    task = sinks.task(auto_create="true", table_name_format="t_${topic}")
    task.write(batch(sinks.spark, users({1: "a", 2: "b", 3: "c"}), topic=["x", "y", "x"]))
    assert sinks.rows("t_x", "id") == [(1,), (3,)]
    assert sinks.rows("t_y", "id") == [(2,)]


def test_several_topics_one_table(sinks: Sinks) -> None:
    """Their offsets are the same, and mean nothing to each other."""
    keys = {"insert_mode": "upsert", "pk_mode": "record_value", "pk_fields": "id"}
    task = sinks.task(auto_create="true", table_name_format="all", **keys)
    first = batch(sinks.spark, users({1: "a", 2: "b"}), topic="x")
    second = batch(sinks.spark, users({3: "c", 4: "d"}), topic="y")
    both = replace(
        first,
        frame=first.frame.union(second.frame).coalesce(1),
        ranges=first.ranges + second.ranges,
        topics=frozenset({"x", "y"}),
    )
    task.write(both)
    assert sinks.rows("all", "id", "name") == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]


def test_topics_that_nobody_knows(sinks: Sinks) -> None:
    task = sinks.task(auto_create="true")
    task.write(replace(batch(sinks.spark, users({1: "a", 2: "b"}), topic=["x", "y"]), topics=None))
    assert (sinks.rows("x", "id"), sinks.rows("y", "id")) == ([(1,)], [(2,)])


def test_one_table_wrong_none_written(sinks: Sinks) -> None:
    sinks.execute(
        "CREATE TABLE x (id INTEGER PRIMARY KEY, name VARCHAR(20))",
        "CREATE TABLE y (id INTEGER PRIMARY KEY, name VARCHAR(20))",
        "INSERT INTO y VALUES (2, 'there')",
    )
    task = sinks.task()
    with pytest.raises(DataError):
        task.write(batch(sinks.spark, users({1: "a", 2: "b"}), topic=["x", "y"]))
    assert sinks.rows("x") == []


def test_new_columns_are_added(sinks: Sinks) -> None:
    task = sinks.task(auto_create="true", auto_evolve="true")
    task.write(batch(sinks.spark, users({1: "a"})))
    row = {"id": 2, "name": "b", "mail": "b@x"}
    task.write(batch(sinks.spark, [row], GROWN, start=1))
    task.write(batch(sinks.spark, users({3: "c"}), start=2))
    assert sinks.rows("users", "id", "name", "mail") == [
        (1, "a", None),
        (2, "b", "b@x"),
        (3, "c", None),
    ]


def test_a_column_with_a_default(sinks: Sinks) -> None:
    score = replace(INT, default=7)
    schema = struct_schema(Field("id", INT), Field("score", score))
    task = sinks.task(auto_create="true", auto_evolve="true")
    task.write(batch(sinks.spark, [{"id": 1}], struct_schema(Field("id", INT))))
    task.write(batch(sinks.spark, [{"id": 2, "score": None}], schema, start=1))
    assert sinks.rows("users", "id", "score") == [(1, 7), (2, 7)]


@pytest.mark.parametrize(
    ("keys", "kind", "words"),
    [
        ({}, ConfigError, "auto.create=true"),
        ({"table_name_format": "old"}, UnfitError, "auto.evolve=true"),
        ({"table_name_format": "old", "auto_evolve": "true"}, UnfitError, "is not optional"),
    ],
)
def test_what_may_not_be_made(
    sinks: Sinks, keys: dict[str, str], kind: type[PenstockError], words: str
) -> None:
    sinks.execute("CREATE TABLE old (id INTEGER PRIMARY KEY)")
    wanted = struct_schema(Field("id", INT), Field("age", INT))
    with pytest.raises(kind, match=words):
        sinks.task(**keys).write(batch(sinks.spark, [{"id": 1, "age": 2}], wanted))
    assert sinks.rows("old") == []


def test_names_that_need_quotes(sinks: Sinks) -> None:
    schema = struct_schema(Field("select", INT), Field("Mixed Case", TEXT), Field("a.b", TEXT))
    task = sinks.task(
        auto_create="true",
        table_name_format="Order",
        insert_mode="upsert",
        pk_mode="record_value",
        pk_fields="select",
    )
    row = {"select": 1, "Mixed Case": "m", "a.b": "d"}
    task.write(batch(sinks.spark, [row], schema))
    assert sinks.rows("Order", "select", "Mixed Case", "a.b") == [(1, "m", "d")]


def test_columns_but_for_their_case(sinks: Sinks) -> None:
    sinks.execute('CREATE TABLE users ("ID" INTEGER, "NAME" VARCHAR(20))'.replace(
        '"', sinks.dialect.quote_mark))  # fmt: skip
    sinks.task().write(batch(sinks.spark, users({1: "a"})))
    assert sinks.rows("users", "ID", "NAME") == [(1, "a")]


@pytest.mark.parametrize(
    ("keys", "made", "words"),
    [
        ({}, {"values": [{"id": 1, "name": "a"}, None]}, "users-0, offset 1: its value is null"),
        (
            KEYED,
            {"values": users({1: "a", 2: "b"}), "keys": [1, None], "key_schema": INT},
            "users-0, offset 1: field id of the primary key is null",
        ),
    ],
)
@pytest.mark.parametrize("size", [1, 3000])
def test_a_record_that_lacks_something(
    sinks: Sinks, keys: dict[str, str], made: dict[str, Any], words: str, size: int
) -> None:
    task = sinks.task(auto_create="true", **keys)
    many: dict[str, Any] = {
        name: [*value, *([value[0]] * size)] if isinstance(value, list) else value
        for name, value in made.items()
    }
    with pytest.raises(DataError, match=words):
        task.write(batch(sinks.spark, **many))
    assert sinks.rows("users", "id") == []


def test_texts_in_a_column_of_their_own(sinks: Sinks) -> None:
    task = sinks.task(auto_create="true", string_output_value_column_name="line")
    task.write(batch(sinks.spark, ["a", "b"], Schema(SchemaType.STRING)))
    assert sinks.rows("users", "line") == [("a",), ("b",)]


@on_servers
def test_values_that_do_not_fit(sinks: Sinks) -> None:
    sinks.execute("CREATE TABLE users (id SMALLINT, name VARCHAR(3))")
    task = sinks.task()
    for wrong in ({1: "too long"}, {70_000: "a"}):
        with pytest.raises(DataError):
            task.write(batch(sinks.spark, users({5: "ok", **wrong})))
    assert sinks.rows("users") == []


def test_without_quotes(sinks: Sinks) -> None:
    task = sinks.task(auto_create="true", quote_sql_identifiers="never")
    task.write(batch(sinks.spark, users({1: "a"}), USER))
    assert sinks.query("SELECT ID, NAME FROM users") == [(1, "a")]
