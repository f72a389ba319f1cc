from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any

import pytest

from penstock.kernel.config import (
    Config,
    ConfigDef,
    ConfigKey,
    Importance,
    Password,
    Type,
    at_least,
    key,
    non_null,
)
from penstock.kernel.errors import ConfigError


class Plain(Config):
    topic: str = key(Type.STRING, importance=Importance.HIGH, doc="Where to.")
    batch_size: int = key(Type.INT, default=2000, valid=at_least(1), doc="How many.")
    secret: Password | None = key(Type.PASSWORD, name="api.key", default=None)
    items: list[str] = key(Type.LIST, default="a, b")


class Grouped(Plain):
    first: str = key(Type.STRING, default="", group="G")
    second: str = key(Type.STRING, default="", group="G")


class Colours:
    def valid_values(self, name: str, parsed: Mapping[str, Any]) -> list[Any]:
        return ["red", parsed["topic"]]

    def visible(self, name: str, parsed: Mapping[str, Any]) -> bool:
        if parsed["topic"] == "boom":
            raise ConfigError("no colours today")
        return bool(parsed["topic"] == "t")


def test_values_come_out_typed() -> None:
    config = Plain.parse({"topic": " t ", "batch.size": "7", "api.key": "k", "other": "x"})
    assert (config.topic, config.batch_size, config.items) == ("t", 7, ["a", "b"])
    assert config.secret == Password("k")


def test_every_wrong_key_is_named_once() -> None:
    with pytest.raises(ConfigError) as caught:
        Plain.parse({"batch.size": "x"})
    assert caught.value.errors == {
        "topic": ('Missing required configuration "topic" which has no default value.',),
        "batch.size": ("Invalid value x for configuration batch.size: Not a number of type INT",),
    }


def test_validation_reports_and_never_raises() -> None:
    results = {value.name: value for value in Plain.definition().validate({"batch.size": "0"})}
    assert list(results) == ["topic", "batch.size", "api.key", "items"]
    assert results["batch.size"].value == 0
    assert results["batch.size"].errors == (
        "Invalid value 0 for configuration batch.size: Value must be at least 1",
    )
    assert results["topic"].errors
    assert not results["items"].errors


def test_the_rule_also_sees_a_missing_value_as_in_kafka() -> None:
    definition = ConfigDef.of([ConfigKey(name="a", type=Type.STRING, validator=non_null)])
    assert definition.validate({})[0].errors == (
        'Missing required configuration "a" which has no default value.',
        "Invalid value null for configuration a: entry must be non null",
    )


def test_a_config_is_frozen_and_travels() -> None:
    config = Plain(topic="t")
    with pytest.raises(AttributeError, match="frozen"):
        config.topic = "u"
    assert pickle.loads(pickle.dumps(config)) == config
    assert "hunter2" not in repr(Plain(topic="t", secret=Password("hunter2")))


def test_the_constructor_refuses_what_is_unknown_or_missing() -> None:
    with pytest.raises(TypeError, match="no field tpoic"):
        Plain(tpoic="t")
    with pytest.raises(ConfigError, match='"topic"'):
        Plain()


def test_a_default_list_is_not_shared() -> None:
    Plain.parse({"topic": "t"}).items.append("c")
    assert Plain.parse({"topic": "t"}).items == ["a", "b"]


def test_children_add_keys_and_groups_count_them() -> None:
    definition = Grouped.definition()
    assert list(definition.keys) == ["topic", "batch.size", "api.key", "items", "first", "second"]
    assert [definition[name].order for name in ("topic", "first", "second")] == [-1, 1, 2]
    assert definition.groups == ["G"]


def test_recommended_values_see_the_other_keys() -> None:
    definition = Plain.definition() + ConfigDef.of(
        [ConfigKey(name="colour", type=Type.STRING, default=None, recommender=Colours())]
    )
    found = definition.validate({"topic": "t"})[-1]
    assert (found.recommended_values, found.visible) == (("red", "t"), True)
    assert not definition.validate({"topic": "u"})[-1].visible
    assert definition.validate({"topic": "boom"})[-1].errors == ("no colours today",)


def test_dependents_must_exist() -> None:
    definition = ConfigDef.of(
        [ConfigKey(name="a", type=Type.STRING, default="", dependents=("zz",))]
    )
    found = definition.validate({})[-1]
    assert found.name == "zz"
    assert not found.visible
    assert found.errors == ("zz is referred in the dependents, but not defined.",)


def test_a_key_is_defined_once() -> None:
    with pytest.raises(ConfigError, match="topic is defined twice"):
        Plain.definition() + Plain.definition()


def test_embedded_keys_stand_under_a_prefix_in_kafkas_order() -> None:
    moved = ConfigDef.of(
        [
            ConfigKey(name="b", type=Type.INT, default=1, validator=at_least(1)),
            ConfigKey(name="a", type=Type.STRING, default="", dependents=("b",)),
            ConfigKey(name="y", type=Type.STRING, default="", importance=Importance.HIGH),
            ConfigKey(name="z", type=Type.STRING, importance=Importance.LOW),
        ]
    ).embedded("x.", "Transforms: x", 2)
    assert [(key.name, key.order) for key in moved] == [
        ("x.z", 2),
        ("x.y", 3),
        ("x.a", 4),
        ("x.b", 5),
    ]
    assert moved["x.a"].dependents == ("x.b",)
    assert {key.group for key in moved} == {"Transforms: x"}
    assert moved["x.a"].shown_name == "a"
    # Kafka names the key without its prefix in what a rule says, and with it elsewhere.
    assert moved.validate({"x.b": "0"})[3].errors == (
        "Invalid value 0 for configuration b: Value must be at least 1",
    )
    assert (
        moved.validate({"x.b": "q"})[3]
        .errors[0]
        .startswith("Invalid value q for configuration x.b")
    )
