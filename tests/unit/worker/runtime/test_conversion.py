"""Whose converters a connector gets."""

from __future__ import annotations

import pytest

from penstock.kernel.errors import ConfigError
from penstock.plugins import Plugins
from penstock.worker.runtime.conversion import converters_of, with_header_converter

WORKER = {"header.converter": "Json", "header.converter.schemas.enable": "false", "group.id": "g"}


def test_a_connector_without_one_gets_the_workers_with_its_keys() -> None:
    found = with_header_converter({"name": "c", "header.converter.schemas.enable": "true"}, WORKER)
    assert found == {
        "name": "c",
        "header.converter": "Json",
        "header.converter.schemas.enable": "false",
    }


def test_a_connectors_own_inherits_no_keys() -> None:
    own = {"name": "c", "header.converter": "String"}
    assert with_header_converter(own, WORKER) == own


AVRO = {
    "key.converter": "String",
    "value.converter": "io.confluent.connect.avro.AvroConverter",
    "value.converter.schema.registry.url": "http://localhost:8081",
}


def test_a_registry_may_be_the_workers_or_the_connectors() -> None:
    strings = {"key.converter": "String", "value.converter": "String"}
    for connector, worker in (({}, AVRO), (AVRO, strings)):
        value = converters_of(connector, worker, Plugins()).value
        assert value.class_name() == AVRO["value.converter"]
        assert value.config.schema_registry_url == ["http://localhost:8081"]
        assert value.config.converter_type == "value"


def test_a_connectors_own_converter_needs_its_own_registry() -> None:
    own = {"value.converter": AVRO["value.converter"]}
    with pytest.raises(ConfigError, match=r"schema\.registry\.url"):
        converters_of(own, AVRO, Plugins())
