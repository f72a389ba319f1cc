"""Chains over frames: guards, splits, drops, faults."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.logger import PySparkLogger
from pyspark.sql import functions as F

from penstock.api import ColumnPredicate, ColumnTransformation, Envelope, Plugin, PluginKind, Side
from penstock.kernel.config import Config
from penstock.kernel.data.schema import Field, Schema, SchemaType, struct_schema
from penstock.kernel.errors import ConfigError, DataError, PluginError
from penstock.plugins import Plugins
from penstock.worker.pipeline.chain import Chain
from penstock.worker.pipeline.output_topics import output_topics

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

NUMBER = Schema(SchemaType.INT32)
VALUE = struct_schema(Field("a", NUMBER), Field("b", NUMBER), name="row")
KAFKA = "org.apache.kafka.connect.transforms."
ROUTER = {
    "transforms.r.type": f"{KAFKA}RegexRouter",
    "transforms.r.regex": "(.*)-raw",
    "transforms.r.replacement": "clean-$1",
}
INSERT = {
    "transforms.i.type": f"{KAFKA}InsertField$Value",
    "transforms.i.topic.field": "from",
}
OLD = {
    "predicates": "old",
    "predicates.old.type": f"{KAFKA}predicates.TopicNameMatches",
    "predicates.old.pattern": "old.*",
}


class DropEven(ColumnTransformation):
    """Drops rows with an even `a`; rows with a = 7 are faulty."""

    def columns(self, envelope: Envelope) -> Envelope:
        a = envelope.value.column.getField("a")
        return envelope.replace(keep=a % 2 == 1, fault=F.when(a.isin(6, 7), F.lit("six or seven")))


class Never(ColumnTransformation):
    def columns(self, envelope: Envelope) -> Envelope:
        raise DataError("no row of this schema")


class Elsewhere(ColumnTransformation):
    """Speaks of a column that is not there."""

    def columns(self, envelope: Envelope) -> Envelope:
        return envelope.replace(topic=F.col("elsewhere"))


class NotThere(ColumnPredicate):
    """Asks for a column that is not there."""

    def column(self, envelope: Envelope) -> Column:
        return F.col("elsewhere") == envelope.topic


class Five(ColumnTransformation):
    def columns(self, envelope: Envelope) -> Any:
        return 5


def load(name: str, kind: PluginKind) -> type[Plugin]:
    own: dict[str, type[Plugin]] = {
        each.__name__: each for each in (DropEven, Never, Elsewhere, NotThere, Five)
    }
    return own[name] if name in own else Plugins().load_named(name, kind)


def chain(*parts: Mapping[str, str], transforms: str) -> Chain:
    config = {"name": "c", "transforms": transforms}
    for part in parts:
        config |= part
    return Chain.of(config, load)


def frame(spark: SparkSession, rows: list[tuple[str, int]]) -> DataFrame:
    return spark.createDataFrame(rows, "topic string, a int").select(
        "topic",
        F.lit(0).alias("partition"),
        F.lit(5).cast("long").alias("offset"),
        F.lit(1000).cast("long").alias("timestamp"),
        F.lit(None).cast("variant").alias("key"),
        F.struct("a", (F.col("a") * 10).alias("b")).alias("value"),
        F.lit(None).cast("array<struct<key:string,value:binary>>").alias("headers"),
        F.lit(None).cast("struct<stage:string,class:string,message:string>").alias("fault"),
        F.col("a").alias("passenger"),
    )


def run(made: Chain, rows: DataFrame) -> list[list[dict[str, Any]]]:
    return [
        [row.asDict(recursive=True) for row in branch.apply(rows).collect()]
        for branch in made.compile(None, VALUE)
    ]


def test_no_transformations(spark: SparkSession) -> None:
    rows = frame(spark, [("t", 1)])
    [branch] = Chain().compile(None, VALUE)
    assert branch.apply(rows) is rows
    assert branch.value_schema == VALUE


def test_stages_see_what_earlier_ones_did(spark: SparkSession) -> None:
    made = chain(ROUTER, INSERT, transforms="r,i")
    [[first, second]] = run(made, frame(spark, [("x-raw", 1), ("other", 2)]))
    assert first["topic"] == "clean-x"
    assert first["value"] == {"a": 1, "b": 10, "from": "clean-x"}
    assert second["value"] == {"a": 2, "b": 20, "from": "other"}
    assert second["passenger"] == 2
    [branch] = made.compile(None, VALUE)
    assert [field.name for field in branch.value_schema.fields] == ["a", "b", "from"]  # type: ignore[union-attr]


def test_compiled_once_for_each_pair_of_schemas(spark: SparkSession) -> None:
    made = chain(ROUTER, transforms="r")
    first = made.compile(None, VALUE)
    assert made.compile(None, struct_schema(*VALUE.fields, name="row")) is first
    assert made.compile(VALUE, VALUE) is not first
    for number in range(100):
        made.compile(None, struct_schema(name=str(number)))
    assert made.compile(None, VALUE) is not first


MAP_CHAIN = {
    **{f"transforms.{name}.type": f"{KAFKA}Cast$Value" for name in ("c1", "c2")},
    "transforms.c1.spec": "a:float64,from:string",
    "transforms.c2.spec": "a:string",
    "transforms.n.type": f"{KAFKA}ReplaceField$Value",
    "transforms.n.renames": "a:n",
    "transforms.k.type": f"{KAFKA}ValueToKey",
    "transforms.k.fields": "n,from",
    "transforms.f.type": f"{KAFKA}Flatten$Value",
}


def schemaless(rows: DataFrame) -> DataFrame:
    return rows.withColumn("value", F.to_variant_object("value"))


@pytest.mark.parametrize("flat", [False, True])
def test_changes_of_maps_are_of_the_moment_they_are_made(spark: SparkSession, flat: bool) -> None:
    """Members beside the map are columns: later changes of the topic do not reach them."""
    stages = "i,c1,r,c2,n,k" + (",f" if flat else "")
    made = chain(ROUTER, INSERT, MAP_CHAIN, transforms=stages)
    rows = schemaless(frame(spark, [("x-raw", 1), ("other", 2)]))
    [branch] = made.compile(None, None)
    after = branch.apply(rows)
    assert after.columns == rows.columns
    texts = after.select("topic", F.to_json("key").alias("key"), F.to_json("value").alias("value"))
    assert [tuple(row) for row in texts.collect()] == [
        ("clean-x", '{"from":"x-raw","n":"1.0"}', '{"b":10,"from":"x-raw","n":"1.0"}'),
        ("other", '{"from":"other","n":"2.0"}', '{"b":20,"from":"other","n":"2.0"}'),
    ]


def test_values_stay_opened_for_those_who_take_them(spark: SparkSession) -> None:
    made = chain(INSERT, MAP_CHAIN, transforms="i,c1,n,k")
    rows = schemaless(frame(spark, [("t", 1)]))
    [branch] = made.compile(None, None, opened=True)
    [row] = branch.apply(rows).collect()
    names = [name for name in row.asDict() if name not in rows.columns]
    assert tuple(names) == branch.opened.columns
    assert list(branch.opened.maps) == [Side.VALUE]
    members = branch.opened.maps[Side.VALUE].members
    assert {name for name, member in members.items() if member} == {"from", "n"}
    assert members["a"] is None
    assert row.value.toPython() == {"a": 1, "b": 10}
    assert row.key.toPython() == {"n": 1.0, "from": "t"}


@pytest.mark.parametrize("negate", [False, True])
def test_a_guard_over_a_stage_that_keeps_the_schema(spark: SparkSession, negate: bool) -> None:
    guard = {"transforms.r.predicate": "old", "transforms.r.negate": str(negate).lower()}
    made = chain(ROUTER, OLD, guard, transforms="r")
    [rows] = run(made, frame(spark, [("old-raw", 1), ("new-raw", 2)]))
    expected = ["old-raw", "clean-new"] if negate else ["clean-old", "new-raw"]
    assert [row["topic"] for row in rows] == expected


@pytest.mark.parametrize("negate", [False, True])
def test_a_guard_over_a_stage_that_changes_the_schema(spark: SparkSession, negate: bool) -> None:
    guard = {"transforms.i.predicate": "old", "transforms.i.negate": str(negate).lower()}
    made = chain(INSERT, OLD, guard, ROUTER, transforms="i,r")
    changed, unchanged = run(made, frame(spark, [("old-raw", 1), ("new-raw", 2)]))
    inside, outside = ("new", "old") if negate else ("old", "new")
    assert [row["value"].get("from") for row in changed] == [f"{inside}-raw"]
    assert [row["topic"] for row in unchanged] == [f"clean-{outside}"]
    assert "from" not in unchanged[0]["value"]
    assert "unless old" in made.explain(None, VALUE) or not negate
    assert made.explain(None, VALUE).count("branch ") == 2


def test_dropped_rows_and_faulty_ones(spark: SparkSession) -> None:
    made = chain({"transforms.d.type": "DropEven"}, INSERT, transforms="d,i")
    [rows] = run(made, frame(spark, [("t", number) for number in range(1, 9)]))
    assert [row["value"]["a"] for row in rows] == [1, 3, 5, 6, 7]
    assert [row["fault"] for row in rows[:3]] == [None] * 3
    assert rows[3]["fault"] == {
        "stage": "TRANSFORMATION",
        "class": DropEven.class_name(),
        "message": "six or seven",
    }


def test_the_first_fault_stays(spark: SparkSession) -> None:
    made = chain({"transforms.d.type": "DropEven", "transforms.n.type": "Never"}, transforms="d,n")
    [rows] = run(made, frame(spark, [("t", 6), ("t", 9)]))
    assert [row["fault"]["message"] for row in rows] == ["six or seven", "no row of this schema"]
    assert rows[1]["fault"]["class"] == Never.class_name()


def test_wrong_configurations() -> None:
    with pytest.raises(ConfigError, match=r'Missing required configuration "transforms\.x\.type"'):
        chain(transforms="x")
    with pytest.raises(ConfigError, match=r"transforms\.r: Unknown predicate 'nobody'"):
        chain(ROUTER, {"transforms.r.predicate": "nobody"}, transforms="r")
    with pytest.raises(ConfigError, match=r"^transforms\.r: .*regex") as caught:
        chain({"transforms.r.type": ROUTER["transforms.r.type"]}, transforms="r")
    assert "transforms.r.regex" in caught.value.errors


def test_a_plugin_that_gives_something_else(spark: SparkSession) -> None:
    made = chain({"transforms.f.type": "Five"}, transforms="f")
    with pytest.raises(PluginError, match=r"Five: columns\(\) must return an Envelope, not a int"):
        made.compile(None, None)


def test_a_transformation_gets_its_config(spark: SparkSession) -> None:
    made = chain(ROUTER, transforms="r")
    config = made.stages[0].transformation.config
    assert isinstance(config, Config)
    assert made.stages[0].transformation.config.regex == "(.*)-raw"


def test_topics_without_a_job(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    guarded = chain(
        ROUTER, OLD, {"transforms.r.predicate": "old"}, INSERT, transforms="r,i"
    ).compile(None, VALUE)
    spark.sparkContext.setJobGroup("topics", "topics")
    found = output_topics(spark, guarded, ["old-raw", "new-raw", "it's"])
    assert found == frozenset({"clean-old", "new-raw", "it's"})
    assert list(spark.sparkContext.statusTracker().getJobIdsForGroup("topics")) == []
    assert output_topics(spark, guarded, []) == frozenset()
    tombstone = {
        "predicates": "dead",
        "predicates.dead.type": "RecordIsTombstone",
        "transforms.r.predicate": "dead",
    }
    by_value = chain(ROUTER, tombstone, transforms="r").compile(None, VALUE)
    logged = logged_by_pyspark(monkeypatch)
    assert output_topics(spark, by_value, ["x-raw"]) is None
    assert logged == []


def logged_by_pyspark(monkeypatch: pytest.MonkeyPatch) -> list[logging.LogRecord]:
    """What it logs from now on about plans that Spark refuses."""
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    monkeypatch.setattr(handler, "emit", records.append)
    logger = PySparkLogger.getLogger("DataFrameQueryContextLogger")
    monkeypatch.setattr(logger, "handlers", [handler])
    return records


def test_a_column_that_is_not_there_is_told_with_the_transformation(spark: SparkSession) -> None:
    made = chain({"transforms.e.type": "Elsewhere"}, transforms="e")
    with pytest.raises(PluginError) as refused:
        run(made, frame(spark, [("t", 1)]))
    told = str(refused.value)
    assert told.startswith(
        "transforms.e (tests.spark.worker.pipeline.test_chain.Elsewhere) returned an invalid column"
    )
    assert "`elsewhere`" in told
    # The whole plan, which Spark tells too, would be all that is seen of it.
    assert "Project [" not in told
    assert refused.value.__cause__ is None


@pytest.mark.parametrize("stage", ["r", "i"])
def test_a_column_that_is_not_there_is_told_with_the_predicate(
    spark: SparkSession, stage: str
) -> None:
    """Whether the stage keeps the schema, so that rows change where it holds, or splits them."""
    guard = {
        f"transforms.{stage}.predicate": "n",
        "predicates": "n",
        "predicates.n.type": "NotThere",
    }
    made = chain(ROUTER, INSERT, guard, transforms=stage)
    with pytest.raises(
        PluginError, match=r"predicates\.n \(tests\.\S+NotThere\) returned an invalid"
    ):
        run(made, frame(spark, [("t", 1)]))
