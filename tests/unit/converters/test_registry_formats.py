"""What the converters for Protobuf and JSON Schema need before they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from penstock.converters.json_schema.converter import JsonSchemaConverter
from penstock.converters.protobuf.converter import ProtobufConverter
from penstock.kernel.errors import ConfigError
from penstock.testing.waiting import patient

PROPS = {"converter.type": "value", "schema.registry.url": "http://localhost:1"}


@pytest.mark.parametrize("package", ["protobuf", "json_schema"])
def test_the_keys_are_read_without_spark_and_protobuf(package: str) -> None:
    code = (
        f"import sys, penstock.converters.{package}.converter;"
        "print({'pyspark', 'pyarrow', 'google.protobuf'} & set(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=patient()
    )
    assert run.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("plugin", "key", "value"),
    [
        (ProtobufConverter, "connect.meta.data", "false"),
        (ProtobufConverter, "int.for.enums", "perhaps"),
        (JsonSchemaConverter, "json.fail.invalid.schema", "true"),
        (JsonSchemaConverter, "json.schema.spec.version", "draft_99"),
        (JsonSchemaConverter, "decimal.format", "hex"),
        (JsonSchemaConverter, "preserve.additional.properties", "true"),
        (JsonSchemaConverter, "scrub.invalid.names", "true"),
    ],
)
def test_what_can_not_be_done_is_refused(
    plugin: type[ProtobufConverter | JsonSchemaConverter], key: str, value: str
) -> None:
    with pytest.raises(ConfigError, match=key):
        plugin.Config.parse(PROPS | {key: value})
