"""Settings of transformations and predicates, checked before there is a Spark."""

from __future__ import annotations

import subprocess
import sys

import pytest

from penstock.api import ColumnTransformation
from penstock.errors import ConfigError
from penstock.transforms.drop_headers import DropHeaders
from penstock.transforms.header_from import HeaderFromKey
from penstock.transforms.insert_field import InsertFieldValue
from penstock.transforms.predicates import HasHeaderKey, TopicNameMatches
from penstock.transforms.regex_router import RegexRouter
from penstock.transforms.replace_field import ReplaceFieldKey


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
        " penstock.transforms.header_from, penstock.transforms.insert_header,"
        " penstock.transforms.drop_headers, penstock.transforms.filter;"
        "sys.exit('pyspark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
