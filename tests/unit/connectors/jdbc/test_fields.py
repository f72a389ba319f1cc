"""Which columns a record becomes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.connectors.jdbc.dialects.merging import WriteMode
from penstock.connectors.jdbc.sink.fields import FieldRules, KeyMode, fields_of
from penstock.kernel.data.schema import Field, Schema, SchemaType, struct_schema
from penstock.kernel.errors import DataError

INT = Schema(SchemaType.INT32)
TEXT = Schema(SchemaType.STRING, optional=True)
VALUE = struct_schema(Field("name", TEXT), Field("id", INT), Field("age", INT))
KEY = struct_schema(Field("tenant", INT), Field("id", INT))
RULES = FieldRules(WriteMode.INSERT, KeyMode.NONE, (), (), False, "record_value")


def names(rules: FieldRules, key: Schema | None = None, value: Schema | None = VALUE) -> list[str]:
    return [
        f"{field.name}{'*' if field.key else ''}" for field in fields_of(rules, "t", key, value)
    ]


@pytest.mark.parametrize(
    ("changes", "key", "expected"),
    [
        ({}, None, ["name", "id", "age"]),
        ({"whitelist": ["age"]}, None, ["age"]),
        (
            {"key_mode": KeyMode.KAFKA},
            None,
            ["name", "id", "age", "__connect_offset*", "__connect_partition*", "__connect_topic*"],
        ),
        (
            {"key_mode": KeyMode.KAFKA, "key_fields": ["t", "p", "o"]},
            None,
            ["name", "id", "age", "o*", "p*", "t*"],
        ),
        ({"key_mode": KeyMode.RECORD_VALUE, "key_fields": ["id"]}, None, ["name", "id*", "age"]),
        ({"key_mode": KeyMode.RECORD_VALUE}, None, ["name*", "id*", "age*"]),
        ({"key_mode": KeyMode.RECORD_KEY}, KEY, ["name", "id*", "age", "tenant*"]),
        ({"key_mode": KeyMode.RECORD_KEY, "key_fields": ["id"]}, KEY, ["name", "id*", "age"]),
        ({"key_mode": KeyMode.RECORD_KEY, "key_fields": ["k"]}, INT, ["name", "id", "age", "k*"]),
        (
            {"key_mode": KeyMode.RECORD_KEY, "key_fields": ["id"], "whitelist": ["name"]},
            KEY,
            ["name", "id*"],
        ),
    ],
)
def test_columns(changes: dict[str, object], key: Schema | None, expected: list[str]) -> None:
    assert names(replace(RULES, **changes), key) == expected  # type: ignore[arg-type]


def test_the_key_of_a_record_comes_from_its_key() -> None:
    rules = replace(RULES, key_mode=KeyMode.RECORD_KEY)
    paths = {field.name: field.path for field in fields_of(rules, "t", KEY, VALUE)}
    assert paths["id"] == ("key", "id")
    assert paths["age"] == ("value", "age")


def test_only_tombstones() -> None:
    rules = replace(RULES, key_mode=KeyMode.RECORD_KEY, deletes=True)
    assert names(rules, KEY, None) == ["id*", "tenant*"]


def test_texts_go_into_one_column() -> None:
    assert names(RULES, value=TEXT) == ["record_value"]


@pytest.mark.parametrize(
    ("changes", "key", "value", "words"),
    [
        ({}, None, None, "no schema"),
        ({}, None, INT, "STRUCT"),
        ({"mode": WriteMode.UPSERT}, None, VALUE, "needs a primary key"),
        ({"key_mode": KeyMode.RECORD_KEY}, None, VALUE, "keys have no schema"),
        ({"key_mode": KeyMode.RECORD_KEY}, INT, VALUE, "exactly one column"),
        ({"key_mode": KeyMode.RECORD_KEY, "key_fields": ["x"]}, KEY, VALUE, "no field x"),
        ({"key_mode": KeyMode.RECORD_VALUE, "key_fields": ["x"]}, None, VALUE, "no field x"),
        ({"whitelist": ["other"]}, None, VALUE, "no field of the record is left"),
    ],
)
def test_what_is_missing_is_said(
    changes: dict[str, object], key: Schema | None, value: Schema | None, words: str
) -> None:
    with pytest.raises(DataError, match=words):
        fields_of(replace(RULES, **changes), "t", key, value)  # type: ignore[arg-type]
