"""Connector files in every format and form, and what is said about wrong ones."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock import manager
from penstock.manager import Connector, ProblemsError, Wanted

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file below the test's directory."""

    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return written


def problems(path: Path, root: Path) -> list[str]:
    """What is wrong, with short paths."""
    with pytest.raises(ProblemsError) as found:
        manager.load(path)
    return [str(problem).replace(f"{root}/", "") for problem in found.value.problems]


CONFIG = {"connector.class": "FileStreamSource", "topic": "lines"}


# -------------------------------------------------------------------------------------- JSON


@pytest.mark.parametrize(
    ("document", "state"),
    [
        ({"name": "a", "config": CONFIG}, None),
        ({"name": "a", "config": {**CONFIG, "name": "a"}}, None),
        ({"config": {**CONFIG, "name": "a"}}, None),
        ({"name": "a", **CONFIG}, None),
        ([{"name": "a", **CONFIG}], None),
        ({"name": "a", "config": CONFIG, "state": "stopped"}, Wanted.STOPPED),
        ({"name": "a", "config": CONFIG, "tasks": [], "type": "source"}, None),
        ({"connectors": {"a": CONFIG}}, None),
        ({"connectors": {"a": {"config": CONFIG, "state": "running"}}}, Wanted.RUNNING),
    ],
)
def test_forms_of_json(write: Write, document: object, state: Wanted | None) -> None:
    [found] = manager.load(write("a.json", json.dumps(document))).values()
    assert found == Connector("a", CONFIG, state)


def test_connect_s_initial_state_is_for_new_connectors_only(write: Write) -> None:
    document = {"name": "a", "config": CONFIG, "initial_state": "PAUSED"}
    [found] = manager.load(write("a.json", json.dumps(document))).values()
    assert found == Connector("a", CONFIG, Wanted.PAUSED, initial_only=True)
    assert (found.initial, found.target) == (Wanted.PAUSED, None)
    made = "Connector('a', {'connector.class': 'X'}, 'paused', initial_only=True)"
    text = f"from penstock.manager import Connector\nconnectors = [{made}]"
    assert manager.load(write("a.py", text))["a"].initial_only


def test_numbers_and_booleans_stay_as_they_are_written(write: Write) -> None:
    text = '{"name":"a","connector.class":"X","n":1.50,"e":1E3,"t":true,"gone":null,"l":[1,"b"]}'
    found = manager.load(write("a.json", text))["a"]
    assert found.config == {
        "connector.class": "X",
        "n": "1.50",
        "e": "1E3",
        "t": "true",
        "l": "1,b",
    }


def test_places_in_json_with_tabs_escapes_and_line_ends(write: Write) -> None:
    text = (
        '[\r\n\t{"name": "a {\\"\\ud83d\\ude00",\r\n\t\t"config": {\r\n\t\t\t"x": [\r\n1\r\n],'
        '\r\n\t\t\t"connector.class": "X"\r\n}}]'
    )
    [found] = manager.load(write("a.json", text)).values()
    assert found.name == 'a {"\U0001f600'
    assert found.origin is not None
    assert (found.origin.line, dict(found.origin.keys)) == (2, {"x": 4, "connector.class": 7})


# -------------------------------------------------------------------------------------- YAML


def test_yaml_with_defaults_anchors_and_documents(write: Write) -> None:
    text = """\
# shared by all of the file
defaults:
  connector.class: FileStreamSource
  tasks.max: 1
  errors.tolerance: all
connectors:
  first: &first        # the flat form
    topic: one
    query: |
      SELECT *
      FROM t
  second:
    state: Paused
    config:
      <<: *first
      topic: two
      errors.tolerance: null
      transforms: [a, b]
      secret: ${env:SECRET}
      path: \\${x}
---
name: third
config: {topic: three, on: yes, time: 12:30, number: 1_000, flag: True, octal: 010}
"""
    found = manager.load(write("a.yaml", text))
    shared = {"connector.class": "FileStreamSource", "tasks.max": "1"}
    query = {"query": "SELECT *\nFROM t\n"}
    assert dict(found["first"].config) == {
        **shared, "errors.tolerance": "all", "topic": "one", **query
    }  # fmt: skip
    assert dict(found["second"].config) == {
        **shared, **query, "topic": "two", "transforms": "a,b", "secret": "${env:SECRET}",
        "path": "\\${x}",
    }  # fmt: skip
    assert found["second"].state is Wanted.PAUSED
    assert dict(found["third"].config) == {
        **shared, "errors.tolerance": "all", "topic": "three", "on": "yes", "time": "12:30",
        "number": "1_000", "flag": "true", "octal": "010",
    }  # fmt: skip
    origin = found["second"].origin
    assert origin is not None
    assert origin.line == 12
    assert (origin.line_of("topic"), origin.line_of("query"), origin.line_of("tasks.max")) == (
        16, 9, 4,
    )  # fmt: skip


def test_aliases_of_aliases_take_no_time(write: Write, tmp_path: Path) -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12)]
    text = "\n".join(["name: a", "l0: &l0 [x, x]", *levels])
    assert len(problems(write("a.yaml", text), tmp_path)) == 12


def test_a_file_may_say_that_there_are_none(write: Write) -> None:
    assert len(manager.load(write("none.yaml", "connectors: []\n"))) == 0


# ------------------------------------------------------------------------------- properties


def test_properties_are_java_s(write: Write) -> None:
    text = "# c\nname=a\nconnector.class = X\nquery = SELECT \\\n   1\nu=\\u00e9\n"
    found = manager.load(write("a.properties", text))["a"]
    assert dict(found.config) == {"connector.class": "X", "query": "SELECT 1", "u": "é"}
    assert found.origin is not None
    assert dict(found.origin.keys) == {"name": 2, "connector.class": 3, "query": 4, "u": 6}


# ------------------------------------------------------------------------------------ Python

PROGRAM = """\
from penstock.manager import Connector
from _tables import TABLES

SQL = "SELECT * FROM {}"


def connectors():
    for table in TABLES:
        config = {"connector.class": "X", "query": SQL.format(table), "tasks.max": 2, "b": True}
        yield {"name": f"jdbc_{table}", **config}
    yield Connector("last", {"connector.class": "Y", "topics": ["a", "b"]}, "paused")
"""


def test_python_gives_connectors_and_imports_its_neighbours(write: Write, tmp_path: Path) -> None:
    write("one/_tables.py", "TABLES = ['orders', 'items']\n")
    write("one/jdbc.py", PROGRAM)
    write("two/_tables.py", "TABLES = ['other']\n")
    write("two/jdbc.py", PROGRAM.replace('"last"', '"last2"'))
    found = manager.load(tmp_path)
    assert list(found) == ["jdbc_orders", "jdbc_items", "last", "jdbc_other", "last2"]
    assert found["jdbc_items"].config["query"] == "SELECT * FROM items"
    assert found["jdbc_items"].config["b"] == "true"
    assert found["last"] == Connector("last", {"connector.class": "Y", "topics": "a,b"}, "paused")
    origin = found["last"].origin
    assert origin is not None
    assert (origin.file, origin.line) == (tmp_path / "one/jdbc.py", 7)
    assert not list(tmp_path.rglob("__pycache__"))
    write("one/_tables.py", "TABLES = ['changed']\n")
    assert "jdbc_changed" in manager.load(tmp_path / "one")


def test_modules_may_have_dataclasses_and_names_of_the_library(
    write: Write, tmp_path: Path
) -> None:
    text = """\
from __future__ import annotations
from dataclasses import dataclass
import json


@dataclass
class Table:
    name: str


def connectors():
    return [{"name": Table(json.loads('"t"')).name, "connector.class": __name__}]
"""
    found = manager.load(write("json.py", text))
    assert found["t"].plugin == "_connectors_json"
    assert "_connectors_json" not in sys.modules
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    "text",
    [
        "connectors = [{'name': 'a', 'connector.class': 'X'}]",
        "CONNECTORS = {'a': {'connector.class': 'X'}}",
        "connectors = {'name': 'a', 'config': {'connector.class': 'X'}}",
        "connectors = ({'name': n, 'connector.class': 'X'} for n in 'a')",
        "connectors = {'defaults': {'connector.class': 'X'}, 'connectors': {'a': {}}}",
    ],
)
def test_forms_of_python(write: Write, text: str) -> None:
    assert manager.load(write("a.py", text))["a"] == Connector("a", {"connector.class": "X"})


def test_what_a_module_prints_is_not_the_answer_of_a_command(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "print('top')\ndef connectors():\n    print('called')\n    return []\n"
    manager.load(write("a.py", text))
    assert capsys.readouterr() == ("", "top\ncalled\n")


def test_a_generator_that_fails_is_a_problem_of_its_file(write: Write, tmp_path: Path) -> None:
    file = write("a.py", "connectors = (\n    1 / 0\n    for _ in 'a'\n)\n")
    assert problems(file, tmp_path) == ["a.py:2: ZeroDivisionError: division by zero"]


def test_values_of_a_program() -> None:
    found = manager.connectors([{"name": "a", "connector.class": "X", "tasks.max": 3}])
    assert dict(found["a"].config) == {"connector.class": "X", "tasks.max": "3"}
    with pytest.raises(ProblemsError, match=r"test_files\.py:\d+: a: connector\.class: is missing"):
        manager.connectors([Connector("a", {})])


# ------------------------------------------------------------------------------- directories


def test_directories_are_read_recursively_and_hidden_files_are_not(
    write: Write, tmp_path: Path
) -> None:
    body = '{"name": "%s", "connector.class": "X"}'
    for name in ("b.json", "deep/er/a.json", ".git/c.json", "_d.json", "_e/f.json", "deep/.g.json"):
        write(name, body % name)
    write("README.md", "no connector")
    assert list(manager.load(tmp_path)) == ["b.json", "deep/er/a.json"]
    assert len(manager.load([tmp_path, tmp_path / "b.json"])) == 2
    assert list(manager.load(tmp_path / "_d.json")) == ["_d.json"]


def test_links_are_followed_and_what_can_t_be_read_is_an_error(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("shared/a.json", '{"name": "a", "connector.class": "X"}')
    write("team/b.json", '{"name": "b", "connector.class": "X"}')
    (tmp_path / "team/linked").symlink_to(tmp_path / "shared")
    (tmp_path / "team/loop").symlink_to(tmp_path / "team")
    assert list(manager.load(tmp_path / "team")) == ["b", "a"]
    (tmp_path / "team/gone.json").symlink_to(tmp_path / "none.json")
    assert problems(tmp_path / "team", tmp_path) == [
        "team/gone.json: can't be read: No such file or directory"
    ]
    real = Path.iterdir

    def refused(path: Path) -> Iterator[Path]:
        if path.name == "linked":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(Path, "iterdir", refused)
    assert "team/linked: can't be read: Permission denied" in problems(tmp_path / "team", tmp_path)


def test_a_directory_without_files_is_no_wish_for_an_empty_cluster(tmp_path: Path) -> None:
    [told] = problems(tmp_path, tmp_path.parent)
    assert "has no connector files (.json, .yaml, .yml, .properties, .py)" in told


def test_a_path_that_is_mistyped_is_told_as_such(tmp_path: Path) -> None:
    told = "conectors: there is no such file or directory"
    assert problems(tmp_path / "conectors", tmp_path) == [told]


# ---------------------------------------------------------------------------------- problems


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("x.txt", "", "x.txt: a connector file ends in one of .json, .yaml"),
        ("x.json", '{"name":\n "a",}', "x.json:2: not valid JSON: "),
        ("x.json", "", "x.json:1: not valid JSON: Expecting value (column 1)"),
        (
            "x.json",
            '{"name": "a",\n # b\n}',
            "x.json:2: not valid JSON: Expecting property name enclosed in double quotes (column 2)"
            ". JSON has no comments; use YAML, which has them: `penstock create FILE.yaml`",
        ),
        ("x.json", '{"name": NaN}', "x.json: not valid JSON: NaN is not a JSON value"),
        (
            "x.json",
            '{"name": "a", "connector.class": "X",\n"b": 1,\n"b": 1}',
            "x.json:3: a: b: the key is given twice",
        ),
        ("x.json", "3", "x.json:1: expected a connector, or a list of connectors"),
        ("x.json", "[\n3]", "x.json:2: expected a connector: a mapping with a name"),
        ("x.yaml", "a: [1", "x.yaml:1: not valid YAML: while parsing a flow sequence"),
        ("x.yaml", "# nothing\n", "x.yaml:1: the file is empty"),
        ("x.yaml", "a: &x [*x]", "x.yaml:1: values are nested too deeply, or contain themselves"),
        ("x.yaml", "a: !!python/name:os.system x", "x.yaml:1: the tag tag:yaml.org,2002:python/"),
        ("x.yaml", "name: 3\n? [a]\n: b", "x.yaml:2: a key must be a text"),
        ("x.yaml", "name: a\n<<: 3", "x.yaml:2: << needs a mapping, or a list of mappings"),
        ("x.yaml", "connector.class: X", "x.yaml:1: the connector has no name"),
        ("x.yaml", "name: ' a'\nconnector.class: X", "x.yaml:1: ' a' is not a valid name"),
        ("x.yaml", "name: [a]\nconnector.class: X", "x.yaml:1: name: must be a text"),
        ("x.yaml", "name: a\ntopic: t", "x.yaml:1: a: connector.class: is missing"),
        (
            "x.yaml",
            "name: a\nconnector.class: X\nb: 1\nb: 2",
            "x.yaml:4: a: b: the key is given twice",
        ),
        (
            "x.yaml",
            "name: a\nconnector.class: X\nstate: paused",
            "x.yaml:3: a: state: write the state beside `config:`",
        ),
        (
            "x.yaml",
            "name: a\nconfig: {connector.class: X}\nstate: resting",
            "x.yaml:3: a: state: is 'resting'; it must be one of running, paused, stopped",
        ),
        (
            "x.yaml",
            "name: a\nconfig: {connector.class: X}\ninitial_state: paused\nstate: paused",
            "x.yaml:4: a: state: the state is given twice",
        ),
        (
            "x.yaml",
            "name: a\nconfig: {connector.class: X}\nversion: 3",
            "x.yaml:3: a: version: unknown key beside config; there are name, config, state, ",
        ),
        (
            "x.yaml",
            "connectors: {}\ndefault: {}",
            "x.yaml:2: default: unknown key; there are defaults and connectors",
        ),
        (
            "x.yaml",
            "connectors: {}\n---\ndefaults: {}\n---\ndefaults: {}",
            "x.yaml:5: defaults: the file has more than one `defaults`",
        ),
        ("x.yaml", "connectors: 3", "x.yaml:1: connectors: must be a list of connectors, or a "),
        ("x.yaml", "defaults: 3", "x.yaml:1: defaults: defaults must be a mapping of keys"),
        ("x.yaml", "defaults: {name: a}", "x.yaml:1: name: can't be a default"),
        ("x.yaml", "connectors:\n  a: 3", "x.yaml:2: a: expected a mapping"),
        (
            "x.yaml",
            "connectors:\n  a:\n    name: b\n    connector.class: X",
            "x.yaml:3: a: name: is b, but the connector is named a",
        ),
        (
            "x.yaml",
            "name: a\nconnector.class: X\ntransforms:\n  a: {type: b}",
            "x.yaml:3: a: transforms: is a mapping; write its keys with dots, as transforms.<key>",
        ),
        (
            "x.yaml",
            "name: a\nconnector.class: X\nl: [[1]]",
            "x.yaml:3: a: l: a list may only contain texts and numbers",
        ),
        (
            "x.yaml",
            "name: a\nconnector.class: X\nl: ['1,2']",
            "x.yaml:3: a: l: a list element contains a comma",
        ),
        (
            "x.yaml",
            "name: a\nconnector.class: X\npenstock.managed-by: me",
            "x.yaml:3: a: penstock.managed-by: is written by Penstock",
        ),
        ("x.yaml", "name: a\nconfig: 3", "x.yaml:2: a: config: must be a mapping of keys"),
        (
            "x.properties",
            "name=a\nconnector.class=X\nb=1\nb=2",
            "x.properties:4: a: b: the key is given twice",
        ),
        ("x.properties", "a=b\n\nc=\\u12", "x.properties: line 3: Malformed"),
        ("x.py", "def f(:\n  pass", "x.py:1: not valid Python: "),
        ("x.py", "x = 1\n", "x.py:1: the module has no connectors: define a function"),
        ("x.py", "def connectors():\n    x = {}\n    return x['a']", "x.py:3: KeyError: 'a'"),
        ("x.py", "def connectors():\n    yield 1\n    1 / 0", "x.py:3: ZeroDivisionError"),
        ("x.py", "\nimport no_such_thing", "x.py:2: ModuleNotFoundError: No module named"),
        ("x.py", "import sys\nsys.exit(3)", "x.py:1: the module ends the program (3)"),
        ("x.py", "\nconnectors = 3", "x.py:2: expected a connector, or a list of connectors"),
        (
            "x.py",
            "\ndef connectors():\n    return [{'name': 'a', 'connector.class': object}]",
            "x.py:2: <class 'object'> is a type; expected a text, number, boolean or list",
        ),
        ("x.py", "connectors = {3: {}}", "x.py:1: the key 3 is not a text"),
        (
            "x.py",
            "from penstock.manager import Connector\nconnectors = [\n  Connector('a', {}, 'x')]",
            "x.py:3: ConfigError: the state is 'x'; it must be one of running, paused, stopped",
        ),
    ],
)
def test_what_is_wrong_and_where(
    write: Write, tmp_path: Path, name: str, text: str, expected: str
) -> None:
    told = problems(write(name, text), tmp_path)
    assert any(each.startswith(expected) for each in told), told


def test_all_problems_of_all_files_are_told_at_once(write: Write, tmp_path: Path) -> None:
    write("a.json", '[{"name": "a", "x": {}},\n{"name": "b", "connector.class": "X"}]')
    write("b.yaml", "connectors:\n  b:\n    connector.class: X\n  c: {}")
    write("c.py", "connectors = 1 / 0")
    assert problems(tmp_path, tmp_path) == [
        "a.json:1: a: x: is a mapping; write its keys with dots, as x.<key>",
        "c.py:1: ZeroDivisionError: division by zero",
        "a.json:1: a: connector.class: is missing; it names the connector's plugin",
        "b.yaml:4: c: connector.class: is missing; it names the connector's plugin",
        f"b.yaml:2: b: another connector has this name in {tmp_path}/a.json:2".replace(
            f"{tmp_path}/", ""
        ),
    ]


def test_files_that_can_t_be_read(tmp_path: Path) -> None:
    assert problems(tmp_path / "no.yaml", tmp_path) == [
        "no.yaml: can't be read: No such file or directory"
    ]
    (tmp_path / "latin.yaml").write_bytes(b"name: a\nb: \xe9\n")
    assert problems(tmp_path / "latin.yaml", tmp_path) == ["latin.yaml:2: the file is not UTF-8"]
