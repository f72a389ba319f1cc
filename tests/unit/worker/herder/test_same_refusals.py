"""Whatever creating a connector refuses, validating its config reports, in the same words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.config.providers import Resolver
from penstock.kernel.errors import ConfigError, PenstockError
from penstock.plugins import BUILT_IN, Plugins
from penstock.testing.waiting import soon
from penstock.worker.herder.validation import Validation
from tests.unit.worker.herder.harness import SETTINGS, VAULT, Bench, running

Config = dict[str, str | None]
NULL = "Null value can not be supplied as the configuration value."
CLASSES = ("FileStreamSource", "FileStreamSink", VAULT.name, "Nope", None)
KEYS = (
    *("tasks.max", "file", "topic", "topics", "topics.regex", "url", "connection.password"),
    *("transforms", "transforms.a.type", "transforms.a.api.secret", "predicates", "unknown"),
    *("key.converter", "key.converter.schemas.enable", "topic.creation.groups", "my.password"),
    *("producer.override.linger.ms", "consumer.override.sasl.jaas.config", "errors.tolerance"),
)
VALUES = (
    *("[hidden]", "", "1", "-1", "a", "a,a", "(", "all", "9" * 5000, "true", "${file:x}"),
    *("org.apache.kafka.connect.json.JsonConverter", "org.apache.kafka.connect.transforms.Cast"),
    *("org.apache.kafka.connect.transforms.InsertField$Value", None),
)
CONFIGS = st.builds(
    lambda name, rest: {"connector.class": name, **rest},
    st.sampled_from(CLASSES),
    st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=6),
)
STORED = {"name": "there", "connector.class": VAULT.name, "url": "u", "connection.password": "p"}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    plugins = Plugins([*BUILT_IN, VAULT])
    validation = Validation(plugins, SETTINGS, Resolver({}))
    with running(Bench(plugins=plugins, validation=validation)) as found:
        found.configs.put_connector("there", STORED, soon())
        yield found


def reported(bench: Bench, config: Config) -> list[str] | str:
    """The errors of a validation; a text if there was none."""
    try:
        found = bench.herder.validate(config["connector.class"] or "x", config, soon())
    except PenstockError as error:
        return str(error)
    errors = [
        text for each in found["configs"] if each["value"] for text in each["value"]["errors"]
    ]
    assert found["error_count"] == len(errors)
    return errors


def refused(bench: Bench, config: Config) -> list[str] | str:
    """The errors that a connector is refused with; none if it is taken."""
    name = config["name"] or ""
    try:
        bench.herder.put_connector_config(name, config, soon())
    except ConfigError as error:
        if not error.errors:
            return str(error)  # an override of the wrong type: no list, as in Connect
        first, *texts, last = str(error).split("\n")
        assert last.startswith("You can also find the above list")
        assert first.endswith(f"contains the following {len(texts)} error(s):")
        return texts
    except PenstockError as error:
        return str(error)
    if name == "there":
        bench.configs.put_connector("there", STORED, soon())
    else:
        bench.herder.delete_connector(name, soon())
    return []


@given(CONFIGS, st.sampled_from(["new", "there"]))
def test_creating_refuses_where_validating_reports(bench: Bench, config: Config, name: str) -> None:
    named = {**config, "name": name}
    assert refused(bench, named) == reported(bench, named)


def test_a_mask_that_hides_nothing_is_reported_at_its_key(bench: Bench) -> None:
    config: Config = {**STORED, "name": "new", "connection.password": "[hidden]"}
    found = bench.herder.validate(VAULT.name, config, soon())
    errors = {
        each["value"]["name"]: each["value"]["errors"]
        for each in found["configs"]
        if each["value"] and each["value"]["errors"]
    }
    assert list(errors) == ["connection.password"]
    assert "it hides a stored value" in errors["connection.password"][0]
    assert reported(bench, {**config, "name": "there"}) == []


@pytest.mark.parametrize("key", ["file", "topic", "batch.size", "unknown"])
def test_null_is_reported_at_every_key(bench: Bench, key: str) -> None:
    config: Config = {"name": "n", "connector.class": "FileStreamSource", "topic": "t", key: None}
    assert reported(bench, config) == refused(bench, config) == [NULL]


@pytest.mark.parametrize("key", ["transforms", "predicates", "topic.creation.groups"])
def test_null_for_aliases_is_wrong_twice_as_in_connect(bench: Bench, key: str) -> None:
    config: Config = {"name": "n", "connector.class": "FileStreamSource", "topic": "t", key: None}
    first = f"Invalid value null for configuration {key}: entry must be non null"
    assert reported(bench, config) == refused(bench, config) == [first, NULL]
