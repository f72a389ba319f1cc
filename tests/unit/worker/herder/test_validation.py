"""Every case is an answer of the real Kafka Connect; ours is equal but for the documentation."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from penstock.kernel.config.providers import Resolver, resolver
from penstock.kernel.errors import BadRequestError, ConfigError, NotFoundError, PluginError
from penstock.plugins import BUILT_IN, Plugins
from penstock.testing.waiting import patient, soon
from penstock.worker.herder.validation import OutsideProblems, Validation
from penstock.worker.settings import Mode, worker_settings
from tests.unit.worker.herder.harness import Bench, running
from tests.validation_cases import WORKERS, Json, expected, undocumented

# Kafka Connect recommends what it comes with; so must we, to be compared.
PLUGINS = Plugins(info for info in BUILT_IN if info.name.startswith("org.apache.kafka."))
KNOWN = {info.name for info in PLUGINS.infos()}


def validation(worker: str, plugins: Plugins = PLUGINS) -> Validation:
    mode = Mode.STANDALONE if worker == "standalone" else Mode.DISTRIBUTED
    return Validation(plugins, worker_settings(WORKERS[worker]["properties"], mode), Resolver({}))


VALIDATIONS = {worker: validation(worker) for worker in WORKERS}


def params() -> Iterator[Any]:
    for worker, found in WORKERS.items():
        for case in found["cases"]:
            config = {name: text for name, text in case["config"].items() if name != "topic"}
            yield pytest.param(worker, case, id=f"{worker}-{json.dumps(config)}")


def without_newer_keys(answer: Json) -> Json:
    # The JSON converter's schema.content is Kafka 4.2's, and transformations get their paths one
    # by one; Connect 4.1.1 does not list them yet. The file source's chunk.bytes is our own.
    newer = (".schema.content", ".field.syntax.version", "chunk.bytes")
    entries = answer["configs"]
    removed = [entry for entry in entries if entry["value"]["name"].endswith(newer)]
    places = {
        entry["definition"]["group"]: entry["definition"]["order"]
        for entry in removed
        if entry["definition"]["order"] > 0
    }
    kept = [_moved_up(entry, places) for entry in entries if entry not in removed]
    return {**answer, "configs": kept}


def _moved_up(entry: Json, places: dict[str, int]) -> Json:
    """The entry with the place it has where a key of its group is not there."""
    definition = entry["definition"]
    if definition is None or definition["order"] <= places.get(definition["group"], 1 << 30):
        return entry
    return {**entry, "definition": {**definition, "order": definition["order"] - 1}}


def without_own_nulls(answer: Json) -> Json:
    """As Connect answers, which reports null for the framework's keys but not for a connector's."""
    for entry in answer["configs"]:
        errors = entry["value"]["errors"]
        if entry["value"]["name"] in ("file", "topic", "batch.size") and NULL in errors:
            errors.remove(NULL)
            answer["error_count"] -= 1
    return answer


NULL = "Null value can not be supplied as the configuration value."


@pytest.mark.parametrize(("worker", "case"), list(params()))
def test_the_answer_is_connects(worker: str, case: Json) -> None:
    made = VALIDATIONS[worker]
    if "message" in case:
        with pytest.raises(BadRequestError) as caught:
            made.answer(case["plugin"], case["config"])
        assert str(caught.value).startswith(case["message"])
        return
    answer = without_own_nulls(made.answer(case["plugin"], case["config"]))
    assert list(answer) == ["name", "error_count", "groups", "configs"]
    assert without_newer_keys(undocumented(answer)) == expected(worker, case, KNOWN)


def test_there_are_many_cases() -> None:
    assert len(list(params())) > 150


def test_a_bad_config_is_refused_with_all_its_errors() -> None:
    config = {"connector.class": "FileStreamSource", "name": "", "tasks.max": "x"}
    with pytest.raises(ConfigError) as caught:
        VALIDATIONS["distributed"].check(config)
    assert str(caught.value) == (
        "Connector configuration is invalid and contains the following 4 error(s):\n"
        "Invalid value  for configuration name: String may not be empty\n"
        "Invalid value x for configuration tasks.max: Not a number of type INT\n"
        "Invalid value null for configuration tasks.max: Value must be non-null\n"
        'Missing required configuration "topic" which has no default value.\n'
        "You can also find the above list of errors at the endpoint "
        "`/connector-plugins/{connectorType}/config/validate`"
    )
    assert list(caught.value.errors) == ["name", "tasks.max", "topic"]


def test_a_good_config_is_let_through() -> None:
    config = {"connector.class": "FileStreamSource", "name": "n", "topic": "t"}
    VALIDATIONS["distributed"].check(config)


DEAD_LETTERS = [
    "errors.deadletterqueue.topic.name",
    "errors.deadletterqueue.topic.replication.factor",
    "errors.deadletterqueue.context.headers.enable",
]


def test_a_source_has_the_keys_of_dead_letters_once_it_names_one() -> None:
    source = {"connector.class": "FileStreamSource", "name": "n", "topic": "t"}

    def found(config: dict[str, str]) -> dict[str, Any]:
        answer = VALIDATIONS["distributed"].answer("FileStreamSource", config)
        entries = {entry["value"]["name"]: entry["value"] for entry in answer["configs"]}
        return {name: entries[name] for name in DEAD_LETTERS if name in entries}

    assert found(source) == {}
    listed = found({**source, DEAD_LETTERS[0]: "dead", DEAD_LETTERS[1]: "many"})
    assert list(listed) == DEAD_LETTERS
    assert listed[DEAD_LETTERS[0]]["value"] == "dead"
    assert listed[DEAD_LETTERS[2]]["value"] == "false"
    assert "Not a number of type SHORT" in listed[DEAD_LETTERS[1]]["errors"][0]


ENVIRONMENT = {
    "config.providers": "env",
    "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
}


def test_what_a_provider_keeps_is_checked_but_not_shown() -> None:
    settings = worker_settings(WORKERS["distributed"]["properties"], Mode.DISTRIBUTED)
    providers = resolver(ENVIRONMENT, {"TASKS": "hunter2", "CLASS": "FileStreamSource"})
    made = Validation(PLUGINS, settings, providers)
    config = {
        "connector.class": "${env:CLASS}",
        "name": "n",
        "topic": "t",
        "file": "/${env:TASKS}",
        "tasks.max": "${env:TASKS}",
        "producer.override.sasl.jaas.config": "${env:TASKS}",
        "producer.override.acks": "${env:TASKS}",
    }
    found = made.validate(config)
    assert found.errors_by_key() == {
        "tasks.max": (
            "Invalid value ${env:TASKS} for configuration tasks.max: Not a number of type INT",
            "Invalid value ${env:TASKS} for configuration tasks.max: Value must be non-null",
        )
    }
    answer = found.to_json()
    values = {entry["value"]["name"]: entry["value"]["value"] for entry in answer["configs"]}
    assert values["tasks.max"] == "${env:TASKS}"
    assert values["file"] == "/${env:TASKS}"
    assert values["producer.override.sasl.jaas.config"] == "[hidden]"
    assert "hunter2" not in json.dumps(answer)


def test_passwords_in_addresses_are_not_shown() -> None:
    """Stored values are checked in place of masks: an answer that repeats one would tell it."""
    config = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "name": "n",
        "connection.url": "http://me:hunter2@db",
        "mode": "http://me:hunter2@db",
    }
    settings = worker_settings(WORKERS["distributed"]["properties"], Mode.DISTRIBUTED)
    made = Validation(Plugins(BUILT_IN), settings, resolver({}, {}))
    answer = json.dumps(made.answer("JdbcSourceConnector", config))
    assert "Invalid value http://me:[hidden]@db for configuration mode" in answer
    assert "hunter2" not in answer
    with pytest.raises(ConfigError) as caught:
        made.check(config)
    assert "http://me:[hidden]@db" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_reference_without_a_provider_is_an_error_of_its_key() -> None:
    settings = worker_settings(WORKERS["distributed"]["properties"], Mode.DISTRIBUTED)
    made = Validation(PLUGINS, settings, resolver({}, {}))
    references = {"topic": "${env:T}", "of.nobody": "${file:/f:x}"}
    config = {"connector.class": "FileStreamSource", "name": "n", **references}
    assert {
        name: text.partition(";")[0]
        for name, [text] in made.validate(config).errors_by_key().items()
    } == {
        "topic": "Invalid value ${env:T} for configuration topic: the worker has no config "
        "provider env",
        "of.nobody": "Invalid value ${file:/f:x} for configuration of.nobody: the worker has no "
        "config provider file",
    }
    with pytest.raises(ConfigError, match=r"contains the following 2 error"):
        made.check(config)


def test_short_values_of_a_provider_change_no_other_word() -> None:
    settings = worker_settings(WORKERS["distributed"]["properties"], Mode.DISTRIBUTED)
    made = Validation(PLUGINS, settings, resolver(ENVIRONMENT, {"T": "e"}))
    config = {"connector.class": "FileStreamSource", "name": "n", "tasks.max": "${env:T}"}
    assert made.validate(config).errors_by_key()["tasks.max"][0] == (
        "Invalid value ${env:T} for configuration tasks.max: Not a number of type INT"
    )


REFUSED = [
    {"tasks.max": "${env:S}"},
    {"connector.class": "${env:S}"},
    {"connector.class": "FileStreamSource", "connector.plugin.version": "${env:V}"},
    {"connector.class": "FileStreamSource", "producer.override.linger.ms": "a${env:S}"},
]


@pytest.mark.parametrize("config", REFUSED)
def test_a_refusal_does_not_show_what_a_provider_keeps(config: dict[str, str]) -> None:
    settings = worker_settings(WORKERS["distributed"]["properties"], Mode.DISTRIBUTED)
    providers = resolver(ENVIRONMENT, {"S": "hunter2", "V": "[hunter2"})
    with pytest.raises((BadRequestError, ConfigError)) as caught:
        Validation(PLUGINS, settings, providers).check(config)
    assert "${env:" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


#: Own keys in order, then the framework's for connectors; as Kafka Connect 4.1.1 lists them.
DEFINITIONS = {
    "FileStreamSource": ["file", "topic", "batch.size", "chunk.bytes", "name", "connector.class"],
    "FileStreamSinkConnector": ["file", "name", "connector.class"],
    "JsonConverter": [
        "converter.type",
        "schemas.enable",
        "schemas.cache.size",
        "schema.content",
        "decimal.format",
        "replace.null.with.default",
    ],
    "StringConverter": ["converter.type", "converter.encoding"],
    "Float": ["converter.type"],
    "SimpleHeaderConverter": [],
    "RegexRouter": ["regex", "replacement"],
    "org.apache.kafka.connect.transforms.InsertField$Key": [
        "topic.field",
        "partition.field",
        "offset.field",
        "timestamp.field",
        "static.field",
        "static.value",
        "replace.null.with.default",
        "field.syntax.version",
    ],
    "org.apache.kafka.connect.transforms.ReplaceField$Value": [
        "exclude",
        "include",
        "renames",
        "replace.null.with.default",
        "field.syntax.version",
    ],
    "org.apache.kafka.connect.transforms.ExtractField$Key": [
        "field",
        "replace.null.with.default",
        "field.syntax.version",
    ],
    "org.apache.kafka.connect.transforms.Flatten$Value": ["delimiter"],
    "org.apache.kafka.connect.transforms.HoistField$Key": ["field"],
    # In Java only ExtractField has this last key.
    "org.apache.kafka.connect.transforms.MaskField$Value": [
        "fields",
        "replacement",
        "replace.null.with.default",
        "field.syntax.version",
    ],
    "org.apache.kafka.connect.transforms.SetSchemaMetadata$Key": [
        "schema.name",
        "schema.version",
        "replace.null.with.default",
    ],
    "ValueToKey": ["fields", "replace.null.with.default", "field.syntax.version"],
    "org.apache.kafka.connect.transforms.Cast$Key": [
        "spec",
        "replace.null.with.default",
        "field.syntax.version",
    ],
    "org.apache.kafka.connect.transforms.TimestampConverter$Value": [
        "field",
        "target.type",
        "format",
        "unix.precision",
        "replace.null.with.default",
        "field.syntax.version",
    ],
    "TimestampRouter": ["topic.format", "timestamp.format"],
    "HasHeaderKey": ["name"],
    "RecordIsTombstone": [],
    "TopicNameMatches": ["pattern"],
}


@pytest.mark.parametrize("plugin", DEFINITIONS)
def test_definitions_come_in_connects_order(plugin: str) -> None:
    found = [key["name"] for key in VALIDATIONS["distributed"].definitions(plugin)]
    wanted = DEFINITIONS[plugin]
    assert found[: len(wanted)] == wanted
    assert len(found) == len(wanted) or plugin.startswith("FileStream")


def test_definitions_of_what_is_not_there() -> None:
    made = VALIDATIONS["distributed"]
    with pytest.raises(NotFoundError, match=r"^Unknown plugin nosuch\.$"):
        made.definitions("nosuch")
    with pytest.raises(BadRequestError, match=r"version range \[1\.0,1\.0\], available versions"):
        made.definitions("FileStreamSink", "1.0")
    with pytest.raises(PluginError, match=r"^Instantiation error$"):
        made.definitions("org.apache.kafka.connect.transforms.InsertField")
    assert made.definitions("FileStreamSink", "4.1.1")


def test_a_sink_whose_group_would_be_the_workers() -> None:
    properties = {**WORKERS["distributed"]["properties"], "group.id": "connect-x"}
    made = Validation(PLUGINS, worker_settings(properties, Mode.DISTRIBUTED), Resolver({}))
    found = made.validate({"connector.class": "FileStreamSink", "name": "x", "topics": "t"})
    assert found.errors == [
        "Consumer group for sink connector named x conflicts with Connect worker group connect-x"
    ]


LINES = {"connector.class": "FileStreamSource", "name": "x", "topic": "t", "file": "/a"}


def looking(outside: OutsideProblems, seconds: float = 60) -> Validation:
    """A validation that looks outside so."""
    settings = worker_settings(WORKERS["distributed"]["properties"], Mode.DISTRIBUTED)
    return Validation(
        PLUGINS, settings, Resolver({}), outside_problems=outside, outside_seconds=seconds
    )


def test_the_outside_world_is_asked_last_and_tells_by_key() -> None:
    asked: list[Mapping[str, str]] = []

    def outside(config: Mapping[str, str]) -> Mapping[str, list[str]]:
        asked.append(config)
        return {"file": ["there is no such disk"]}

    made = looking(outside)
    assert made.validate({**LINES, "tasks.max": "0"}).errors_by_key().keys() == {"tasks.max"}
    assert made.validate({**LINES, "topic": "${env:TOPIC}"}).errors_by_key().keys() == {"topic"}
    assert made.validate(LINES, outside=False).errors == []
    assert asked == []
    assert made.validate(LINES).errors_by_key() == {"file": ("there is no such disk",)}
    assert asked == [LINES]


def test_a_mask_is_not_tried_as_a_password() -> None:
    asked: list[Mapping[str, str]] = []

    def outside(config: Mapping[str, str]) -> Mapping[str, list[str]]:
        asked.append(config)
        return {}

    masked = {**LINES, "my.password": "[hidden]"}
    with running(Bench(validation=looking(outside))) as bench:
        assert bench.herder.validate("FileStreamSource", masked, soon())["error_count"] == 1
        assert asked == []
        assert bench.herder.validate("FileStreamSource", LINES, soon())["error_count"] == 0
        assert asked == [LINES]


def test_a_look_outside_that_fails_is_no_error_of_the_config() -> None:
    def outside(config: Mapping[str, str]) -> Mapping[str, list[str]]:
        raise RuntimeError("no JVM")

    assert looking(outside).validate(LINES).errors == []


def test_a_look_outside_that_hangs_is_not_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    answered = threading.Event()

    def outside(config: Mapping[str, str]) -> Mapping[str, list[str]]:
        answered.wait(patient())
        return {}

    with running(Bench(validation=looking(outside, seconds=0.2))) as bench:
        bench.herder.create_connector("x", LINES, None, soon())
        bench.runs("x")
    answered.set()
    assert "was not checked against servers" in caplog.text
