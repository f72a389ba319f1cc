from __future__ import annotations

from pathlib import Path

import pytest

from penstock.kernel.config.properties import load_connector_file, load_properties, parse_properties
from penstock.kernel.errors import ConfigError

CASES = [
    ("a=1\nb:2\nc 3\nd", {"a": "1", "b": "2", "c": "3", "d": ""}),
    ("  a \t= \f 1  ", {"a": "1  "}),
    ("# no\n ! no\n\n\t\na=#yes", {"a": "#yes"}),
    ("a=1\\\n   2\\\r\n3\rb=4", {"a": "123", "b": "4"}),
    ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
    ("a=1\\\n#2\n", {"a": "1#2"}),
    ("# c\\\na=1", {"a": "1"}),
    ("a\\ b\\=c\\:d=1", {"a b=c:d": "1"}),
    ("a==1", {"a": "=1"}),
    ("a = : 1", {"a": ": 1"}),
    ("a=\\t\\n\\r\\f\\q\\u0041", {"a": "\t\n\r\fqA"}),
    ("a=\\ud83d\\ude00", {"a": "\U0001f600"}),
    ("=v", {"": "v"}),
    ("a=1\na=2", {"a": "2"}),
    ("a=1\\", {"a": "1"}),
    ("a=1\\\n", {"a": "1"}),
    ("\\", {"": ""}),
    ("", {}),
]


@pytest.mark.parametrize(("text", "values"), CASES)
def test_properties_read_as_in_java(text: str, values: dict[str, str]) -> None:
    assert parse_properties(text) == values


def test_a_broken_escape_is_refused_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "worker.properties"
    path.write_text("a=\\u00g1")
    with pytest.raises(
        ConfigError, match=r"worker\.properties: line 1: Malformed \\uxxxx encoding"
    ):
        load_properties(path)


def test_the_file_is_latin_1(tmp_path: Path) -> None:
    path = tmp_path / "worker.properties"
    path.write_bytes(b"a=\xe9")
    assert load_properties(path) == {"a": "\u00e9"}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.properties: can't be read: No such file"):
        load_properties(tmp_path / "none.properties")


def connector(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.properties", "name=c\ntasks.max=2\nlog=true"),
        ("c.json", '{"name": "c", "tasks.max": 2, "log": true, "none": null}'),
        ("c.json", '{"name": "c", "config": {"tasks.max": "2", "log": "true"}}'),
        ("c.conf", '{"config": {"name": "c", "tasks.max": 2, "log": true}, "more": 1}'),
    ],
)
def test_a_connector_in_each_form(tmp_path: Path, name: str, text: str) -> None:
    found = load_connector_file(connector(tmp_path, name, text))
    assert found.name == "c"
    assert found.config == {"name": "c", "tasks.max": "2", "log": "true"}
    assert found.initial_state is None


def test_the_initial_state_of_a_request(tmp_path: Path) -> None:
    text = '{"name": "c", "config": {"a": "b"}, "initial_state": "STOPPED"}'
    assert load_connector_file(connector(tmp_path, "c.json", text)).initial_state == "STOPPED"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("c.properties", "a=b", "is missing the mandatory 'name' configuration"),
        ("c.json", '{"a": "b"}', "is missing the mandatory 'name' configuration"),
        ("c.json", '{"name": "c", "config": {"name": "d"}}', "doesn't match the one specified"),
        ("c.json", '{"name": "c"', "not valid JSON"),
        ("c.json", "[]", "expected a JSON object"),
        ("c.json", '{"name": "c", "a": {}}', "the value of a must be"),
    ],
)
def test_a_connector_file_that_is_refused(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        load_connector_file(connector(tmp_path, name, text))
