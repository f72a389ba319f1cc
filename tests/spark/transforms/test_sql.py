"""Sql: a query over each record."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from penstock.kernel.data.schema import (
    Field,
    Schema,
    SchemaType,
    date_schema,
    decimal_schema,
    struct_schema,
    timestamp_schema,
)
from penstock.kernel.errors import ConfigError
from penstock.plugins import Plugins
from penstock.worker.pipeline.chain import Chain
from penstock.worker.pipeline.output_topics import output_topics
from tests.spark.transforms.records import CaseRecord, frame_of, payloads

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NUMBER = Schema(SchemaType.INT32)
TEXT = Schema(SchemaType.STRING, optional=True)
ADDRESS = struct_schema(Field("city", TEXT), Field("since", date_schema(optional=True)))
ORDER = struct_schema(
    Field("id", NUMBER),
    Field("name", TEXT),
    Field("amount", Schema(SchemaType.INT32, optional=True, doc="in cents")),
    Field("at", timestamp_schema(optional=True)),
    Field("address", ADDRESS),
    name="order",
)
ANN = {
    "id": 1,
    "name": "Ann",
    "amount": 20,
    "at": 1_700_000_000_123,
    "address": {"city": "Bonn", "since": 19_000},
}
BOB = {"id": 2, "name": "Bob", "amount": 5, "at": None, "address": {"city": None, "since": None}}
META = ("topic", "partition", "timestamp", "headers")


class Queried:
    """What became of records of one schema; a list for each output of the query."""

    def __init__(
        self,
        spark: SparkSession,
        query: str,
        values: list[Any],
        schema: Schema | None = ORDER,
        more: dict[str, str] | None = None,
    ) -> None:
        config = {
            "transforms": "x",
            "transforms.x.type": "Sql",
            "transforms.x.query": query,
            **(more or {}),
        }
        self.branches = Chain.of(config, Plugins().load_named).compile(None, schema)
        records = [CaseRecord(each, headers=("h", "h2")) for each in values]
        frame = frame_of(spark, records, "value", schema)
        self.rows = [
            branch.apply(frame)
            .select(
                payloads(F.col("key"), branch.key_schema).alias("key"),
                payloads(F.col("value"), branch.value_schema).alias("value"),
                F.col("fault.message").alias("fault"),
                *META,
            )
            .collect()
            for branch in self.branches
        ]

    @property
    def schema(self) -> Schema | None:
        [branch] = self.branches
        return branch.value_schema

    @property
    def values(self) -> list[Any]:
        [rows], [branch] = self.rows, self.branches
        return [_read(row.value, branch.value_schema) for row in rows]

    @property
    def faults(self) -> list[str | None]:
        [rows] = self.rows
        return [row.fault for row in rows]


def _read(text: str | None, schema: Schema | None) -> Any:
    if text is None:
        return None
    return json.loads(text) if schema is None else json.loads(text)["x"]


def test_computed_fields_and_a_filter(spark: SparkSession) -> None:
    query = "SELECT *, upper(name) AS name_uc FROM record WHERE amount > 10"
    found = Queried(spark, query, [ANN, BOB])
    # What is not computed stays as it was, to the last word of its schema.
    assert found.schema == ORDER.with_fields(*ORDER.fields, Field("name_uc", TEXT))
    assert found.values == [{**ANN, "name_uc": "ANN"}]
    assert found.faults == [None]


def test_types_of_what_is_computed(spark: SparkSession) -> None:
    query = """
        SELECT r.id, `address`.city, date_add(address.since, 1) AS next,
          at + INTERVAL 1 SECOND AS later,
          CAST(amount AS DECIMAL(10, 2)) / 100 AS price, 1.5D AS half, array(id, 2) AS list,
          map('a', at) AS map, struct(at AS t, id AS i) AS inner, id = 1 AS first, 7 AS seven,
          CAST(name AS BINARY) AS raw
        FROM record r
    """
    found = Queried(spark, query, [ANN])
    assert found.faults == [None]
    [value] = found.values
    assert value == {
        "id": 1, "city": "Bonn", "next": 19_001, "later": 1_700_000_001_123,
        "price": 0.2, "half": 1.5, "list": [1, 2], "map": {"a": 1_700_000_000_123},
        "inner": {"t": 1_700_000_000_123, "i": 1}, "first": True, "seven": 7, "raw": "QW5u",
    }  # fmt: skip
    assert found.schema is not None
    kinds = {field.name: field.schema for field in found.schema.fields}
    assert kinds["id"] == NUMBER
    assert kinds["city"] == TEXT
    assert kinds["next"] == date_schema(optional=True)
    assert kinds["later"] == timestamp_schema(optional=True)
    assert kinds["price"] == decimal_schema(6, optional=True)
    assert kinds["half"] == Schema(SchemaType.FLOAT64)
    assert kinds["list"] == Schema(SchemaType.ARRAY, value_schema=NUMBER)
    assert kinds["map"] == Schema(
        SchemaType.MAP,
        key_schema=Schema(SchemaType.STRING),
        value_schema=timestamp_schema(optional=True),
    )
    assert kinds["first"] == Schema(SchemaType.BOOLEAN)
    assert kinds["raw"] == Schema(SchemaType.BYTES, optional=True)


def test_a_computed_field_in_place_of_another(spark: SparkSession) -> None:
    found = Queried(spark, "SELECT * EXCEPT (at, address), lower(name) AS name FROM record", [ANN])
    assert found.values == [{"id": 1, "name": "ann", "amount": 20}]
    assert found.schema is not None
    assert [field.name for field in found.schema.fields] == ["id", "name", "amount"]


def test_the_record_around_the_value(spark: SparkSession) -> None:
    query = """
        SELECT id, _topic AS topic, _partition AS part, _offset AS off, _timestamp AS t,
          _headers['h'] AS h,
          CASE WHEN amount > 10 THEN 'big' END AS _topic, id AS _key, 5 AS _partition,
          _timestamp - INTERVAL 1 SECOND AS _timestamp, map('a', name) AS _headers
        FROM record
    """
    found = Queried(spark, query, [ANN, BOB])
    assert found.faults == [None, None]
    [rows] = found.rows
    assert [_read(row.value, found.schema) for row in rows] == [
        {"id": n, "topic": "orders", "part": 3, "off": 42, "t": 1_700_000_000_123, "h": "x"}
        for n in (1, 2)
    ]
    # Where _topic is null the topic stays.
    assert [row.topic for row in rows] == ["big", "orders"]
    assert found.branches[0].key_schema == NUMBER
    assert [json.loads(row.key)["x"] for row in rows] == [1, 2]
    assert [(row.partition, row.timestamp) for row in rows] == [(5, 1_699_999_999_123)] * 2
    assert [[tuple(h) for h in row.headers] for row in rows] == [[("a", b"Ann")], [("a", b"Bob")]]


def test_a_way_alone_leaves_the_value(spark: SparkSession) -> None:
    found = Queried(spark, "SELECT concat('x-', _topic) AS _topic FROM record", [ANN])
    assert found.schema == ORDER
    assert found.values == [ANN]
    assert output_topics(spark, found.branches, ["a", "b"]) == frozenset(["x-a", "x-b"])


def test_a_value_that_is_no_struct(spark: SparkSession) -> None:
    found = Queried(spark, "SELECT name AS _value FROM record", [ANN])
    assert (found.schema, found.values) == (TEXT, ["Ann"])
    line = Schema(SchemaType.STRING)
    found = Queried(spark, "SELECT _value AS line, length(_value) AS n FROM record", ["abc"], line)
    assert found.values == [{"line": "abc", "n": 3}]
    assert found.schema == struct_schema(Field("line", line), Field("n", NUMBER))


def test_several_outputs(spark: SparkSession) -> None:
    query = """
        SELECT id, 'ids' AS _topic FROM record
        UNION ALL SELECT *, 'big' AS _topic FROM record WHERE amount > 10
    """
    found = Queried(spark, query, [ANN, BOB])
    assert [
        [(row.topic, _read(row.value, branch.value_schema)) for row in rows]
        for rows, branch in zip(found.rows, found.branches, strict=True)
    ] == [[("ids", {"id": 1}), ("ids", {"id": 2})], [("big", ANN)]]
    assert output_topics(spark, found.branches, ["a"]) == frozenset(["ids", "big"])


def test_a_predicate_before_several_outputs(spark: SparkSession) -> None:
    found = Queried(
        spark,
        "SELECT id FROM record UNION ALL SELECT id, name FROM record",
        [ANN, None],
        more={
            "transforms.x.predicate": "gone",
            "transforms.x.negate": "true",
            "predicates": "gone",
            "predicates.gone.type": "RecordIsTombstone",
        },
    )
    assert [[row.value for row in rows] for rows in found.rows] == [
        ['{"x":{"id":1}}'],
        ['{"x":{"id":1,"name":"Ann"}}'],
        [None],
    ]


def test_names_as_sql_finds_them(spark: SparkSession) -> None:
    item = struct_schema(Field("a", NUMBER))
    schema = struct_schema(
        Field("xs", Schema(SchemaType.ARRAY, value_schema=item)),
        Field("m", Schema(SchemaType.MAP, key_schema=Schema(SchemaType.STRING), value_schema=TEXT)),
        Field("a.b", NUMBER),
        Field("_topic", TEXT),
        Field("Upper", NUMBER),
        Field("record", NUMBER),
    )
    value = {
        "xs": [{"a": 1}, {"a": 2}],
        "m": {"k": "v"},
        "a.b": 3,
        "_topic": "mine",
        "Upper": 4,
        "record": 5,
    }
    query = """
        SELECT transform(xs, x -> x.a + `a.b`) AS sums, xs[1].a AS second, m.k AS mk,
          m["no"] AS none, `a.b`, _value._topic AS inner_topic, _topic AS outer_topic,
          upper + 0 AS up
        FROM record
    """
    found = Queried(spark, query, [value], schema)
    assert found.faults == [None]
    assert found.values == [
        {
            "sums": [4, 5],
            "second": 2,
            "mk": "v",
            "none": None,
            "a.b": 3,
            "inner_topic": "mine",
            "outer_topic": "orders",
            "up": 4,
        }
    ]
    found = Queried(
        spark, "SELECT r.*, r.record AS n, r.xs[0].a AS x FROM record r", [value], schema
    )
    assert found.values == [{**value, "n": 5, "x": 1}]


def test_tombstones(spark: SparkSession) -> None:
    found = Queried(spark, "SELECT id, 1 AS n FROM record", [ANN, None])
    assert found.values == [{"id": 1, "n": 1}, None]
    assert found.faults == [None, None]
    where = "SELECT * FROM record WHERE amount > 10"
    assert Queried(spark, where, [ANN, None]).values == [ANN]
    assert Queried(spark, f"{where} OR _value IS NULL", [ANN, None]).values == [ANN, None]


def test_rows_that_cant_be_computed(spark: SparkSession) -> None:
    """Each costs itself only, and the fault says what failed."""
    bad = {**BOB, "amount": 0}
    query = "SELECT id, 100 / amount AS share, CAST(name AS INT) AS n FROM record"
    found = Queried(spark, query, [{**ANN, "name": "7"}, {**bad, "name": "8"}, BOB])
    assert found.faults == [
        None,
        "(100 / amount) AS share can't be computed",
        "CAST(name AS INT) AS n can't be computed",
    ]
    assert found.values[0] == {"id": 1, "share": 5.0, "n": 7}
    found = Queried(spark, "SELECT id FROM record WHERE 100 / amount > 1", [ANN, bad, BOB])
    assert found.faults == [None, "WHERE of the query can't be computed", None]


def test_without_schema(spark: SparkSession) -> None:
    values = [{"id": 1, "o": {"a": "x"}, "a.b": 3}, {"id": 2}, None]
    query = """
        SELECT *, CAST(id AS INT) + 1 AS next, o.a AS a, `a.b` FROM record
        WHERE CAST(id AS INT) < 5 OR _value IS NULL
    """
    found = Queried(spark, query, values, None)
    assert found.schema is None
    assert found.faults == [None] * 3
    assert found.values == [
        {"id": 1, "o": {"a": "x"}, "a.b": 3, "next": 2, "a": "x"},
        {"id": 2, "next": 3, "a": None, "a.b": None},
        None,
    ]
    only = Queried(spark, "SELECT id, upper(CAST(o.a AS STRING)) AS up FROM record", values, None)
    assert only.values == [{"id": 1, "up": "X"}, {"id": 2, "up": None}, None]
    odd = {"it's": 1, " ?": 2, "a`b": 3}
    quoted = "SELECT `it's` AS a, ` ?` AS b, `a``b` AS c FROM record"
    assert Queried(spark, quoted, [odd], None).values == [{"a": 1, "b": 2, "c": 3}]
    less = Queried(spark, "SELECT * EXCEPT (o) FROM record", values[:1], None)
    assert less.values == [{"id": 1, "a.b": 3}]


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("SELECT nme FROM record", "the query names nme; the record has id, name, amount, at, add"),
        ("SELECT address.street FROM record", "the query names street; the record has city, since"),
        ("SELECT upper(name, 1) AS x FROM record", "WRONG_NUM_ARGS"),
        ("SELECT no_such(name) AS x FROM record", "no_such"),
        ("SELECT id FROM record WHERE name", "is not a boolean"),
        ("SELECT array(id) + 1 AS x FROM record", "DATATYPE_MISMATCH"),
        ("SELECT NULL AS x FROM record", "column x of the query has type void"),
        ("SELECT parse_json(name) AS x FROM record", "column x of the query has type variant"),
        ("SELECT id, name AS _value FROM record", "_value is the whole value"),
        ("SELECT id AS _topic FROM record", "_topic must be a text: CAST(… AS STRING) AS _topic"),
        ("SELECT name AS _partition FROM record", "_partition must be a whole number"),
        ("SELECT name AS _timestamp FROM record", "_timestamp must be a timestamp"),
        ("SELECT name AS _headers FROM record", "_headers must be a map of texts"),
    ],
)
def test_what_records_of_this_schema_cant_give(spark: SparkSession, query: str, wrong: str) -> None:
    found = Queried(spark, query, [ANN])
    assert wrong in str(found.faults[0])


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("SELEC id FROM record", "the query can't be read"),
        ("SELECT id", "FROM record is missing"),
        ("SELECT id FROM orders", "there is no table orders here"),
        ("SELECT id FROM parquet.`/etc`", "there is no table parquet./etc here"),
        ("SELECT id + 1 FROM record", "(id + 1) has no name"),
        ("SELECT count(*) AS n FROM record", "GROUP BY, or an aggregate, is not possible"),
        ("SELECT id FROM record GROUP BY id", "GROUP BY, or an aggregate, is not possible"),
        ("SELECT DISTINCT id FROM record", "DISTINCT is not possible"),
        ("SELECT id FROM record ORDER BY id", "ORDER BY is not possible"),
        ("SELECT id FROM record LIMIT 1", "LIMIT is not possible"),
        ("SELECT a.id FROM record a, record b", "a join is not possible"),
        ("SELECT explode(array(1)) AS x FROM record", "explode()"),
        ("SELECT rank() OVER (ORDER BY id) AS x FROM record", "OVER"),
        ("SELECT id FROM (SELECT * FROM record) t", "a SELECT inside FROM is not possible"),
        ("SELECT id FROM record WHERE id IN (SELECT id FROM record)", "a query inside the query"),
        ("WITH a AS (SELECT 1) SELECT id FROM record", "WITH is not possible"),
        ("DROP TABLE record", "is not possible"),
        ("SELECT reflect('java.lang.System', 'exit', 0) AS x FROM record", "reflect() may not"),
    ],
)
def test_what_no_record_can_give(spark: SparkSession, query: str, wrong: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(wrong)):
        Queried(spark, query, [ANN])


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("SELECT *, id * 2 AS n FROM record", True),
        ("SELECT * EXCEPT (id) FROM record WHERE amount > 10", False),
        ("SELECT id FROM record WHERE amount > 10 OR _value IS NULL", True),
        ("SELECT id FROM record r WHERE tags[0].name = 'x' OR r._value IS NULL", True),
        ("SELECT amount + 1 AS n, name AS _topic, id AS _key, at AS _timestamp FROM record", True),
        ("SELECT amount + 1 AS _partition, map('a', name) AS _headers FROM record", True),
    ],
)
def test_tombstones_that_come_alone_have_no_schema(
    spark: SparkSession, query: str, kept: bool
) -> None:
    found = Queried(spark, query, [None], None)
    [rows] = found.rows
    assert [row.fault is None for row in rows] == ([True] if kept else [])
    assert [(row.topic, row.key, row.value) for row in rows] == [("orders", None, None)] * len(rows)


def test_records_without_a_schema_beside_tombstones_need_types(spark: SparkSession) -> None:
    query = "SELECT *, id * 2 AS n FROM record WHERE amount > 10 OR _value IS NULL"
    found = Queried(spark, query, [None, {"id": 1, "amount": 5}], None)
    [(first, second)] = found.rows
    assert (first.fault, first.value) == (None, None)
    assert "CAST(… AS DOUBLE)" in second.fault
    text = {"transforms": "x", "transforms.x.type": "Sql", "transforms.x.query": query}
    chain = Chain.of(text, Plugins().load_named)
    assert "VARIANT" in chain.problems(lambda: [(None, None)])["transforms.x.query"]
