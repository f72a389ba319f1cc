"""Settings of transformations and predicates, checked before there is a Spark."""

from __future__ import annotations

import subprocess
import sys

import pytest

from penstock.api import ColumnTransformation
from penstock.errors import ConfigError
from penstock.transforms.cast import CastKey, CastValue
from penstock.transforms.insert_field import InsertFieldValue
from penstock.transforms.predicates import HasHeaderKey, TopicNameMatches
from penstock.transforms.regex_router import RegexRouter
from penstock.transforms.replace_field import ReplaceFieldKey
from penstock.transforms.timestamp_converter import (
    TimestampConverterKey,
    TimestampConverterValue,
)
from penstock.transforms.timestamp_router import TimestampRouter

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


def test_importing_the_plugins_does_not_import_spark() -> None:
    code = (
        "import sys, penstock.transforms.insert_field, penstock.transforms.replace_field,"
        " penstock.transforms.regex_router, penstock.transforms.predicates,"
        " penstock.transforms.cast, penstock.transforms.timestamp_converter,"
        " penstock.transforms.timestamp_router;"
        "sys.exit('pyspark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
