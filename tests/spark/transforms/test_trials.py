"""Chains and records that JSON can't tell, through Kafka's transformations and through ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from penstock.kernel.data.schema import (
    Field,
    Schema,
    SchemaType,
    Struct,
    date_schema,
    struct_schema,
    timestamp_schema,
)
from penstock.kernel.java.to_string import MILLIS_OF_DAY
from tests.spark.transforms.generated.differences import first_difference
from tests.spark.transforms.generated.sides import our_results
from tests.spark.transforms.generated.trial import Plugin, Record, Stage, Trial

if TYPE_CHECKING:
    from tests.spark.transforms.generated.parity import Parity
    from tests.spark.transforms.generated.sides import Result

TEXT = Schema(SchemaType.STRING, optional=True)
PERSON = struct_schema(Field("name", TEXT), optional=True)
SIMPLE = Plugin("org.apache.kafka.connect.storage.SimpleHeaderConverter", {})
TOMBSTONE = Plugin("predicates.RecordIsTombstone", {})
HAS_A = Plugin("predicates.HasHeaderKey", {"name": "a"})


def record(value: Any, *, key: Any = None, offset: int | None = 42, header: str = "a") -> Record:
    return Record("orders", 3, offset, 1_700_000_000_123, key, value, ((header, b"7"),))


def results(
    parity: Parity, stages: list[Stage], schema: Schema | None, *records: Record
) -> list[Result]:
    """What becomes of the records, after a look that it is the same on both sides."""
    trial = Trial(0, 0, tuple(stages), SIMPLE, None, schema, records)
    [theirs] = parity.java.results([trial])
    ours = our_results(parity.session, trial)
    for each, their, our in zip(records, theirs, ours, strict=True):
        assert not first_difference(trial, each, their, our)
    return ours


def stage(name: str, config: dict[str, str], guard: Plugin | None = None, **how: bool) -> Stage:
    return Stage(Plugin(name, config), guard, **how)


@pytest.mark.parametrize(
    ("transform", "schema", "message"),
    [
        (
            stage("SetSchemaMetadata$Value", {"schema.name": "n"}),
            TEXT,
            "Cannot list fields on non-struct type",
        ),
        (
            stage("ExtractField$Value", {"field": "name"}),
            TEXT,
            "Cannot look up fields on non-struct type",
        ),
        (stage("ExtractField$Value", {"field": "none"}), PERSON, "Unknown field: none"),
        (
            stage("TimestampConverter$Value", {"target.type": "unix"}),
            PERSON,
            "Schema Schema{STRUCT} does not correspond to a known timestamp type format",
        ),
        (
            stage("TimestampConverter$Value", {"target.type": "unix", "field": "name"}),
            TEXT,
            "Cannot list fields on non-struct type",
        ),
    ],
)
def test_null_has_a_schema_in_a_source_only(
    parity: Parity, transform: Stage, schema: Schema, message: str
) -> None:
    source, sink = record(None, offset=None), record(None)

    of_source, of_sink = results(parity, [transform], schema, source, sink)

    assert of_source["error"] == message
    assert "error" not in of_sink


def test_dates_without_a_schema(parity: Parity) -> None:
    config = {"target.type": "Timestamp", "field": "at", "unix.precision": "seconds"}
    far = 253_402_300_800  # the year 10000

    [near, later] = results(
        parity,
        [stage("TimestampConverter$Value", config)],
        None,
        record({"at": 86_400}),
        record({"at": far}),
    )

    assert near["value"] == ["MAP", [[["STRING", "at"], ["DATE", "86400000"]]]]
    assert later["value"] == ["MAP", [[["STRING", "at"], ["DATE", f"{far}000"]]]]


def test_dates_that_an_int_of_days_cannot_tell(parity: Parity) -> None:
    schema = struct_schema(Field("at", Schema(SchemaType.INT64)))
    config = {"target.type": "Date", "field": "at"}
    days = 2**31 + 5

    [found] = results(
        parity,
        [stage("TimestampConverter$Value", config)],
        schema,
        record(Struct(schema, {"at": days * MILLIS_OF_DAY})),
    )

    wrapped = (days - 2**32) * MILLIS_OF_DAY
    assert found["value"] == ["STRUCT", [["at", ["DATE", str(wrapped)]]]]


def test_moments_too_far_for_data_without_a_schema(parity: Parity) -> None:
    config = {"target.type": "Timestamp", "field": "at"}

    [found] = results(
        parity, [stage("TimestampConverter$Value", config)], None, record({"at": 2**63 - 1})
    )

    assert found["error"].endswith("so far from 1970: 9223372036854775807")


def test_zero_has_no_sign_without_a_schema(parity: Parity) -> None:
    [found] = results(
        parity, [stage("Cast$Value", {"spec": "n:string"})], None, record({"n": -0.0})
    )

    assert found["value"] == ["MAP", [[["STRING", "n"], ["STRING", "0.0"]]]]


@pytest.mark.parametrize(
    ("guard", "negate"), [(None, False), (HAS_A, False), (HAS_A, True), (TOMBSTONE, True)]
)
def test_chains_without_a_schema(parity: Parity, guard: Plugin | None, negate: bool) -> None:
    stages = [
        stage("InsertField$Value", {"topic.field": "t"}),
        stage("Cast$Value", {"spec": "n:string,t:string"}, guard, negate=negate),
        stage("ReplaceField$Value", {"renames": "n:m"}, HAS_A, negate=negate),
        stage("HeaderFrom$Value", {"fields": "t", "headers": "h", "operation": "move"}, guard),
        stage("MaskField$Value", {"fields": "in"}),
        stage("ValueToKey", {"fields": "m,in"}, TOMBSTONE, negate=True),
    ]
    inputs = [{"n": 1, "in": {"x": None}}, {"n": None}, {}, None, "no map", [1], 7]

    found = results(
        parity, stages, None, *(record(each, header=name) for each in inputs for name in "ab")
    )

    assert any("error" in each for each in found)
    assert any("error" not in each for each in found)


def test_a_guard_between_sees_what_the_first_one_made(parity: Parity) -> None:
    stages = [
        stage("ExtractField$Value", {"field": "in"}),
        stage("InsertField$Value", {"static.field": "s", "static.value": "x"}, TOMBSTONE),
        stage("Filter", {}, TOMBSTONE),
    ]
    values = [{"in": None}, {"in": {"a": 1}}, {}, None]

    found = results(parity, stages, None, *map(record, values))

    assert [each["dropped"] for each in found] == [True, False, True, True]


def test_a_guard_between_where_schemas_part(parity: Parity) -> None:
    stages = [
        stage("HoistField$Value", {"field": "all"}, HAS_A),
        stage("ExtractField$Value", {"field": "all"}, HAS_A),
        stage("SetSchemaMetadata$Value", {"schema.name": "n"}, HAS_A, negate=True),
    ]
    ann = Struct(PERSON, {"name": "Ann"})

    hoisted, named = results(parity, stages, PERSON, record(ann), record(ann, header="b"))

    assert hoisted["value"] == named["value"]
    assert [each["value_schema"]["name"] for each in (hoisted, named)] == [None, "n"]


@pytest.mark.parametrize(
    ("schema", "number"), [(timestamp_schema(), "int64"), (date_schema(), "int32")]
)
def test_a_cast_to_its_own_number_leaves_a_moment(
    parity: Parity, schema: Schema, number: str
) -> None:
    cast = stage("Cast$Value", {"spec": number})
    [ours] = results(parity, [cast], schema, record(20))
    assert ours["value"][0] == "DATE"


def test_the_first_of_several_wrong_members_is_told(parity: Parity) -> None:
    mask = stage("MaskField$Value", {"fields": "dot.ted,with space,id", "replacement": "300"})
    members = {"dot.ted": {"b": 1}, "with space": False, "id": []}
    [ours] = results(parity, [mask], None, record(members))
    assert "class java.lang.Boolean" in str(ours["error"])


def test_errors_of_settings_name_the_alias(parity: Parity) -> None:
    mask = stage("MaskField$Value", {"fields": "name", "replacement": ""})
    [ours] = results(parity, [mask], PERSON, record(None))
    assert str(ours["refused"]).startswith("transforms.s0: Invalid value  for configuration")


def test_other_differences_are_found(parity: Parity) -> None:
    trial = Trial(
        0, 0, (stage("Flatten$Value", {}),), SIMPLE, None, None, (record({"a": {"b": 1}}),)
    )
    [[theirs]] = parity.java.results([trial])
    [ours] = our_results(parity.session, trial)

    def found(**changes: Any) -> str:
        return first_difference(trial, trial.records[0], theirs, {**ours, **changes})

    assert not found()
    assert found(topic="others")
    assert found(value=["MAP", [[["STRING", "a.b"], ["INT64", "2"]]]])
    assert found(value=None)
    assert found(headers=[])
    assert first_difference(trial, trial.records[0], theirs, {"error": "x"})
    assert first_difference(trial, trial.records[0], theirs, {"dropped": True})
    assert first_difference(trial, trial.records[0], {"error": "x"}, ours)
