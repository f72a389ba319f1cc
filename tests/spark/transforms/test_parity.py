"""Every case runs through the Spark plan and through the real Kafka Connect; both agree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from penstock.plugins import Plugins
from penstock.worker.pipeline.chain import Chain
from tests.spark.transforms.records import CaseRecord, frame_of, payloads, schema_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.kernel.data.schema import Schema
    from tests.spark.transforms.java_side import JavaSide

CASES = Path(__file__).parents[2] / "cases" / "transforms"
#: Of a long file every third case runs here, and each in tests/proofs.
LONG, STEP = 60, 3


def load_cases(kind: str, step: int = STEP) -> list[Any]:
    found = []
    for path in sorted(CASES.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["kind"] == kind:
            cases = document["cases"]
            found += [
                pytest.param(document, case, id=f"{path.stem}: {case['name']}")
                for case in cases[:: step if len(cases) > LONG else 1]
            ]
    return found


@pytest.fixture(scope="module", autouse=True)
def interpreted(spark: SparkSession) -> Iterator[None]:
    """Compiling each case's plan takes longer than running it. (Chains are tested compiled.)"""
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield
    spark.conf.unset("spark.sql.codegen.wholeStage")
    spark.conf.unset("spark.sql.codegen.factoryMode")


def records_of(case: dict[str, Any]) -> list[CaseRecord]:
    common = case.get("record", {})
    return [
        CaseRecord(**{**common, **each, "headers": tuple(each.get("headers", ()))})
        for each in case["records"]
    ]


def schema_document(document: dict[str, Any], case: dict[str, Any]) -> dict[str, Any] | None:
    name = case.get("schema")
    found: dict[str, Any] | None = None if name is None else document["schemas"][name]
    return found


@pytest.mark.parametrize(("document", "case"), load_cases("transformation"))
def test_transformations(
    spark: SparkSession, java: JavaSide, document: dict[str, Any], case: dict[str, Any]
) -> None:
    side = "key" if case["class"].endswith("$Key") else "value"
    schema_text = schema_document(document, case)
    schema = None if schema_text is None else schema_of(schema_text)
    records = records_of(case)
    config = {f"transforms.x.{name}": text for name, text in case["config"].items()}
    chain = Chain.of(
        {"transforms": "x", "transforms.x.type": case["class"], **config}, Plugins().load_named
    )
    key_schema, value_schema = (schema, None) if side == "key" else (None, schema)

    [branch] = chain.compile(key_schema, value_schema)
    out_schemas = {"key": branch.key_schema, "value": branch.value_schema}
    frame = branch.apply(frame_of(spark, records, side, schema, folded=True))
    data = [payloads(F.col(name), out).alias(name) for name, out in out_schemas.items()]
    rows = frame.select(
        "place", "topic", "partition", F.col("fault.message").alias("fault"),
        F.col("fault.class").alias("class"), *data,
    ).collect()  # fmt: skip

    assert [row.place for row in rows] == list(range(len(records)))
    for record, row in zip(records, rows, strict=True):
        expected = java.transform(case["class"], case["config"], record.for_java(side, schema_text))
        if "error" in expected:
            assert row.fault == expected["error"]
            assert row["class"] == case["class"]
            continue
        assert row.fault is None
        assert (row.topic, row.partition) == (
            expected["topic"],
            None if expected["partition"] is None else int(expected["partition"]),
        )
        for name, out in out_schemas.items():
            assert_same_data(expected[name], row[name], out)


def assert_same_data(expected: str | None, found: str | None, schema: Schema | None) -> None:
    if expected is None or found is None:
        assert found == expected
        return
    if schema is None:
        assert json.loads(found) == json.loads(expected)
        return
    document = json.loads(expected)
    assert schema == schema_of(document["schema"])
    assert json.loads(found)["x"] == document["payload"]


@pytest.mark.parametrize(("document", "case"), load_cases("predicate"))
def test_predicates(
    spark: SparkSession, java: JavaSide, document: dict[str, Any], case: dict[str, Any]
) -> None:
    schema_text = schema_document(document, case)
    schema = None if schema_text is None else schema_of(schema_text)
    records = records_of(case)
    config = {f"predicates.p.{name}": text for name, text in case["config"].items()}
    chain = Chain.of(
        {
            "transforms": "x",
            "transforms.x.type": "org.apache.kafka.connect.transforms.RegexRouter",
            "transforms.x.regex": ".*",
            "transforms.x.replacement": "held",
            "transforms.x.predicate": "p",
            "predicates": "p",
            "predicates.p.type": case["class"],
            **config,
        },
        Plugins().load_named,
    )

    [branch] = chain.compile(None, schema)
    rows = branch.apply(frame_of(spark, records, "value", schema, folded=True)).collect()

    assert [row.topic == "held" for row in rows] == [
        java.test(case["class"], case["config"], record.for_java("value", schema_text))
        for record in records
    ]


@pytest.mark.parametrize(
    "name",
    [
        "cast", "extract_field", "flatten", "hoist_field", "insert_field", "mask_field",
        "replace_field", "set_schema_metadata", "timestamp_converter", "value_to_key",
    ],
)  # fmt: skip
def test_both_outcomes_are_covered(name: str) -> None:
    """A file without faults, or without tombstones, would prove little."""
    document = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    cases = document["cases"]
    sides = {case["class"].partition("$")[2] for case in cases}
    assert sides == ({""} if name == "value_to_key" else {"Key", "Value"})
    assert any(record["payload"] is None for case in cases for record in case["records"])
    assert {case.get("schema") is None for case in cases} == {True, False}
