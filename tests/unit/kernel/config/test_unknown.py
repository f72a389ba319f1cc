"""Which keys of a config are told to be unknown, and what they are taken for."""

from __future__ import annotations

import pytest

from penstock.kernel.config.unknown import in_plain_words, unknown_keys

DECLARED = (
    "name",
    "topics",
    "tasks.max",
    "mode",
    "connection.url",
    "connection.user",
    "connection.password",
    "table.whitelist",
    "table.blacklist",
    "incrementing.column.name",
    "transforms",
    "transforms.a.type",
    "value.converter",
)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("table.whitlist", "table.whitelist"),
        ("table.whitelits", "table.whitelist"),
        ("table_whitelist", "table.whitelist"),
        ("tableWhitelist", "table.whitelist"),
        ("topic", "topics"),
        ("task.max", "tasks.max"),
        ("Mode", "mode"),
        ("connection.pasword", "connection.password"),
        ("incrementing.colum.name", "incrementing.column.name"),
        ("transforms.a.tpye", "transforms.a.type"),
    ],
)
def test_a_mistyped_key_is_told_with_the_one_that_was_meant(key: str, meant: str) -> None:
    told = {key: f"unknown key {key}; did you mean {meant}?"}
    assert unknown_keys([key, "name"], DECLARED) == told


@pytest.mark.parametrize("key", ["confluent.license", "node", "poll.interval.ms"])
def test_a_key_that_is_like_no_other_is_told_without_a_guess(key: str) -> None:
    declared = [each for each in DECLARED if each != "mode"]
    assert unknown_keys([key], declared) == {key: f"unknown key {key}"}


@pytest.mark.parametrize(
    "key",
    [
        "connection.ssl",
        "connection.useSSL",
        "connection.connectTimeout",
        "producer.override.linger.ms",
        "penstock.managed-by",
    ],
)
def test_what_is_passed_on_to_drivers_and_clients_is_not_told(key: str) -> None:
    assert unknown_keys([key], DECLARED) == {}


def test_keys_of_a_plugin_that_is_not_known_are_not_told() -> None:
    given = ["transforms.a.field", "value.converter.schemas.enable", "value.converter"]
    assert unknown_keys(given, DECLARED, complete=False) == {}
    assert len(unknown_keys(given, DECLARED)) == 2


def test_keys_of_a_converter_that_the_config_does_not_name_have_no_effect() -> None:
    key = "value.converter.schemas.enable"
    (told,) = unknown_keys([key], DECLARED).values()
    assert told == (
        f"unknown key {key}; without value.converter the worker's converter and its settings are"
        " used"
    )


CONNECTS_TEXT = (
    "Failed to find any class that implements Connector and which name matches {}, available"
    " connectors are: PluginDesc{{klass=class org.x.FileStreamSinkConnector, name='org.x.File"
    "StreamSinkConnector', version='4.1.1', encodedVersion=4.1.1, type=sink, typeName='sink',"
    " location='classpath'}}, PluginDesc{{klass=class org.x.FileStreamSourceConnector, name='org.x"
    ".FileStreamSourceConnector', version='4.1.1', encodedVersion=4.1.1, type=source,"
    " typeName='source', location='classpath'}}"
)


def test_an_unknown_class_is_told_with_one_that_is_near() -> None:
    told = in_plain_words("Error: " + CONNECTS_TEXT.format("com.acme.FileSource"))
    assert told == (
        "there is no connector class com.acme.FileSource on this worker; did you mean"
        " org.x.FileStreamSourceConnector? Put its wheel (for Penstock) or jar (for Kafka Connect)"
        " on the worker's plugin.path; `penstock get plugins` lists the installed ones."
    )
    assert "did you mean" not in in_plain_words(CONNECTS_TEXT.format("com.acme.S3Sink"))


@pytest.mark.parametrize("name", ["org.x.FileStreamSourceConector", "FileStremSource"])
def test_a_mistyped_class_is_told_with_the_right_one(name: str) -> None:
    told = in_plain_words(CONNECTS_TEXT.format(name))
    assert "; did you mean org.x.FileStreamSourceConnector?" in told


def test_why_a_class_could_not_be_loaded_is_kept() -> None:
    told = in_plain_words(CONNECTS_TEXT.format("acme.Lines") + " acme.py: no module named boto3")
    assert told.endswith("on this worker. acme.py: no module named boto3")


def test_other_texts_stay_as_they_are() -> None:
    assert in_plain_words("Connector a already exists") == "Connector a already exists"
