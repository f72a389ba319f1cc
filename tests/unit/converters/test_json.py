"""JsonConverter without Spark: configuration, layouts, one record at a time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from penstock.converters.json import JsonConverter
from penstock.kernel.data.record import SchemaAndValue
from penstock.kernel.data.schema import (
    STRING_SCHEMA,
    Field,
    Schema,
    SchemaType,
    Struct,
    struct_schema,
)
from penstock.kernel.errors import ConfigError, DataError
from penstock.testing.waiting import patient

_TAG = b'{"schema":{"type":"string","optional":false},"payload":'


def _converter(**config: str) -> JsonConverter:
    given = {name.replace("_", "."): value for name, value in config.items()}
    return JsonConverter(JsonConverter.Config.parse({"converter.type": "value", **given}))


def test_a_layout_is_the_schema_and_the_bytes_before_the_payload() -> None:
    layout = _converter().layout(_TAG + b'"x"}')

    assert layout.schema == STRING_SCHEMA
    assert layout.tag == _TAG
    assert layout.regular


@pytest.mark.parametrize(
    "raw",
    [
        b'{"payload":"x","schema":{"type":"string","optional":false}}',
        b'{"more":1,"schema":{"type":"string","optional":false},"payload":"x"}',
        b'{"schema":{"type":"nonsense"},"payload":"x"}',
        b"nonsense",
        b"",
    ],
)
def test_records_of_another_order_or_none_are_irregular(raw: bytes) -> None:
    assert not _converter().layout(raw).regular


def test_payload_first_is_still_read_one_at_a_time() -> None:
    converter = _converter()
    raw = b'{"payload":"x","schema":{"type":"string","optional":false}}'

    assert converter.layout(raw).schema == STRING_SCHEMA
    assert converter.decode_one(raw) == SchemaAndValue(STRING_SCHEMA, "x")


def test_as_many_layouts_are_remembered_as_configured() -> None:
    converter = _converter(schemas_cache_size="2")
    kinds = ("int8", "int16", "int32")
    raws = [f'{{"schema":{{"type":"{kind}"}},"payload":1}}'.encode() for kind in kinds]

    layouts = [converter.layout(raw) for raw in raws]

    assert converter.layout(raws[2]) is layouts[2]
    assert converter.layout(raws[1]) is layouts[1]
    assert converter.layout(raws[0]) == layouts[0]
    assert converter.layout(raws[0]) is not layouts[0]


def test_schema_content_is_the_schema_of_all_records() -> None:
    converter = _converter(schema_content='{"type":"int32","optional":true}')

    assert converter.uniform
    assert converter.layout(None).schema == Schema(SchemaType.INT32, optional=True)
    assert converter.decode_one(b"5") == SchemaAndValue(Schema(SchemaType.INT32, optional=True), 5)


def test_schema_content_needs_schemas_enable() -> None:
    converter = _converter(schema_content='{"type":"int32"}', schemas_enable="false")

    assert converter.decode_one(b"5") == SchemaAndValue(None, 5)


def test_a_wrong_schema_content_is_named() -> None:
    with pytest.raises(ConfigError, match=r"schema\.content.*Unknown schema type: number"):
        _converter(schema_content='{"type":"number"}')


def test_keys_and_defaults() -> None:
    config = JsonConverter.Config.parse({"converter.type": "value"})

    assert (config.schemas_enable, config.schemas_cache_size) == (True, 1000)
    assert (config.decimal_format, config.replace_null_with_default) == ("BASE64", True)
    with pytest.raises(ConfigError, match=r"decimal\.format"):
        JsonConverter.Config.parse({"converter.type": "value", "decimal.format": "hex"})


def test_null_without_a_schema_is_null_and_with_one_is_written() -> None:
    converter = _converter()
    optional = Schema(SchemaType.STRING, optional=True)

    assert converter.encode_one(None, None) is None
    assert converter.encode_one(optional, None) == (
        b'{"schema":{"type":"string","optional":true},"payload":null}'
    )
    with pytest.raises(DataError, match="null value for field that is required"):
        converter.encode_one(STRING_SCHEMA, None)


def test_a_struct_of_another_schema_is_refused() -> None:
    one = struct_schema(Field("a", STRING_SCHEMA))
    two = struct_schema(Field("b", STRING_SCHEMA))

    with pytest.raises(DataError, match="Mismatching schema"):
        _converter().encode_one(one, Struct(two, {"b": "x"}))


def test_reading_the_configuration_does_not_import_spark() -> None:
    modules = ("json", "text", "raw", "numbers", "simple_header")
    imports = ";".join(f"import penstock.converters.{each}" for each in modules)
    code = f"{imports};import sys;sys.exit('pyspark' in sys.modules or 'pyarrow' in sys.modules)"

    assert (
        subprocess.run([sys.executable, "-c", code], check=False, timeout=patient()).returncode == 0
    )
