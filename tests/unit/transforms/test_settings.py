"""Settings of transformations and predicates, checked before there is a Spark."""

from __future__ import annotations

import subprocess
import sys

import pytest

from penstock.api import ColumnTransformation
from penstock.kernel.errors import ConfigError
from penstock.plugins import BUILT_IN
from penstock.transforms.cast import CastKey, CastValue
from penstock.transforms.drop_headers import DropHeaders
from penstock.transforms.extract_field import ExtractFieldValue
from penstock.transforms.flatten import FlattenKey
from penstock.transforms.header_from import HeaderFromKey
from penstock.transforms.hoist_field import HoistFieldKey
from penstock.transforms.insert_field import InsertFieldValue
from penstock.transforms.mask_field import MaskFieldKey, MaskFieldValue
from penstock.transforms.predicates import HasHeaderKey, TopicNameMatches
from penstock.transforms.regex_router import RegexRouter
from penstock.transforms.replace_field import ReplaceFieldKey
from penstock.transforms.set_schema_metadata import SetSchemaMetadataValue
from penstock.transforms.timestamp_converter import (
    TimestampConverterKey,
    TimestampConverterValue,
)
from penstock.transforms.timestamp_router import TimestampRouter
from penstock.transforms.value_to_key import ValueToKey

NO_TYPE = (
    "Invalid value java.lang.IllegalArgumentException: No enum constant"
    " org.apache.kafka.connect.data.Schema.Type.{} for configuration"
    " Invalid type found in casting spec: {}"
)
BAD_PATTERN = (
    "Invalid value java.lang.IllegalArgumentException: {} for configuration TimestampConverter"
    " requires a SimpleDateFormat-compatible pattern for string timestamps: {}"
)
REFUSED = (
    "Invalid value {} for configuration {}:"
    " The letter {} is not supported in patterns; refused are Y, w, W and F"
)


@pytest.mark.parametrize(
    ("plugin", "config", "message"),
    [
        (InsertFieldValue, {}, "No field insertion configured"),
        (
            InsertFieldValue,
            {"static.field": "a"},
            "Invalid value null for configuration static.value:"
            " No value specified for static field: a",
        ),
        (
            ReplaceFieldKey,
            {"renames": "a:b:c,d"},
            "Invalid value [a:b:c, d] for configuration renames: Invalid rename mapping: a:b:c",
        ),
        (
            ReplaceFieldKey,
            {"renames": "a:"},
            "Invalid value [a:] for configuration renames: Invalid rename mapping: a:",
        ),
        (
            HeaderFromKey,
            {"fields": "a,b", "headers": "x", "operation": "move"},
            "'fields' config must have the same number of elements as 'headers' config.",
        ),
        (
            HeaderFromKey,
            {"fields": "a", "headers": "x", "operation": "MOVE"},
            "Invalid value MOVE for configuration operation: String must be one of: move, copy",
        ),
        (
            DropHeaders,
            {"headers": ""},
            "Invalid value [] for configuration headers: Empty list",
        ),
        (
            RegexRouter,
            {"regex": "(", "replacement": "x"},
            "Invalid value ( for configuration regex:"
            " Invalid regex: Unclosed group near index 1\n(",
        ),
        (
            TopicNameMatches,
            {"pattern": ""},
            "Invalid value  for configuration pattern: String must be non-empty",
        ),
        (
            HasHeaderKey,
            {"name": ""},
            "Invalid value  for configuration name: String must be non-empty",
        ),
        (
            ExtractFieldValue,
            {},
            'Missing required configuration "field" which has no default value.',
        ),
        (
            ExtractFieldValue,
            {"field": "a", "field.syntax.version": "V3"},
            "Invalid value V3 for configuration field.syntax.version:"
            " String must be one of (case insensitive): V1, V2",
        ),
        (
            ExtractFieldValue,
            {"field": "a.`b.c", "field.syntax.version": "V2"},
            "Incomplete backtick pair in path: [a.`b.c], consider adding a backslash before"
            " backtick at position 2 to escape it",
        ),
        (
            ExtractFieldValue,
            {"field": "a", "replace.null.with.default": "perhaps"},
            "Invalid value perhaps for configuration replace.null.with.default:"
            " Expected value to be either true or false",
        ),
        (HoistFieldKey, {}, 'Missing required configuration "field" which has no default value.'),
        (MaskFieldKey, {}, 'Missing required configuration "fields" which has no default value.'),
        (MaskFieldValue, {"fields": ""}, "Invalid value [] for configuration fields: Empty list"),
        (
            MaskFieldValue,
            {"fields": "a", "replacement": ""},
            "Invalid value  for configuration replacement: String must be non-empty",
        ),
        (
            MaskFieldValue,
            {"fields": "a,`b", "field.syntax.version": "v2"},
            "Incomplete backtick pair in path: [`b], consider adding a backslash before"
            " backtick at position 0 to escape it",
        ),
        (SetSchemaMetadataValue, {}, "Neither schema name nor version configured"),
        (
            SetSchemaMetadataValue,
            {"schema.version": "x"},
            "Invalid value x for configuration schema.version: Not a number of type INT",
        ),
        (ValueToKey, {}, 'Missing required configuration "fields" which has no default value.'),
        (ValueToKey, {"fields": ""}, "Invalid value [] for configuration fields: Empty list"),
        (
            CastValue,
            {},
            'Missing required configuration "spec" which has no default value.',
        ),
        (CastValue, {"spec": ""}, "Must specify at least one field to cast."),
        (CastValue, {"spec": "a:int7"}, NO_TYPE.format("INT7", "int7")),
        (CastKey, {"spec": " a : Float "}, NO_TYPE.format("FLOAT", "Float")),
        (CastKey, {"spec": "a:"}, NO_TYPE.format("A", "a")),
        (
            CastValue,
            {"spec": "a:int8:b"},
            "Invalid value [a:int8:b] for configuration renames: Invalid rename mapping: a:int8:b",
        ),
        *[
            (
                CastValue,
                {"spec": spec},
                f"Cast transformation does not support casting to {name}; supported types are"
                " [INT8, INT16, INT32, INT64, FLOAT32, FLOAT64, BOOLEAN, STRING]",
            )
            for spec, name in (("a:bytes", "BYTES"), ("struct", "STRUCT"), ("a:Map", "MAP"))
        ],
        (
            CastValue,
            {"spec": "int8,a:int8"},
            "Cast transformations that specify a type to cast the entire value to may only"
            " specify a single cast in their spec",
        ),
        (
            TimestampConverterValue,
            {"target.type": "date"},
            "Invalid value date for configuration target.type:"
            " String must be one of: string, unix, Date, Time, Timestamp",
        ),
        (
            TimestampConverterValue,
            {"target.type": "unix", "unix.precision": "hours"},
            "Invalid value hours for configuration unix.precision:"
            " String must be one of: nanoseconds, microseconds, milliseconds, seconds",
        ),
        *[
            (
                TimestampConverterKey,
                {"target.type": "string", **given},
                "TimestampConverter requires format option to be specified when using string"
                " timestamps",
            )
            for given in ({}, {"format": " "})
        ],
        *[
            (
                TimestampConverterValue,
                {"target.type": "string", "format": pattern},
                BAD_PATTERN.format(words, pattern),
            )
            for pattern, words in (
                ("yyyy-b", "Illegal pattern character 'b'"),
                ("yyyy 'o''clock", "Unterminated quote"),
                ("'''", "Unterminated quote"),
                ("XXXX", "invalid ISO 8601 format: length=4"),
            )
        ],
        *[
            (
                TimestampConverterValue,
                {"target.type": "Date", "format": pattern},
                REFUSED.format(pattern, "format", letter),
            )
            for pattern, letter in (("YYYY-MM-dd", "Y"), ("yyyy-ww", "w"), ("W F", "W"))
        ],
        (
            TimestampRouter,
            {"timestamp.format": "yyyy-F"},
            REFUSED.format("yyyy-F", "timestamp.format", "F"),
        ),
        (
            TimestampRouter,
            {"timestamp.format": "T"},
            "Invalid value T for configuration timestamp.format: Illegal pattern character 'T'",
        ),
    ],
)
def test_refused(plugin: type[ColumnTransformation], config: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        plugin(plugin.Config.parse(config))
    assert str(caught.value) == message


def test_flatten_needs_no_settings() -> None:
    assert FlattenKey(FlattenKey.Config.parse({})).config.delimiter == "."


def test_importing_the_plugins_does_not_import_spark() -> None:
    modules = {info.module for info in BUILT_IN if info.module.startswith("penstock.transforms")}
    code = f"import sys, {', '.join(sorted(modules))};sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
