"""Whatever a cluster has can be written to a file and read again; places in JSON are right."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from penstock.manager import Export, Format
from penstock.tools.manager.exporting import write_text
from penstock.tools.manager.file_shapes import Form
from penstock.tools.manager.json_nodes import read_json
from penstock.tools.manager.nodes import Items, Node, Scalar, Table
from penstock.tools.manager.yaml_nodes import read_yaml

# What REST can transport: everything but halves of surrogate pairs.
TEXTS = st.text(st.characters(codec="utf-8"), max_size=30) | st.from_regex(
    r"[ \t\n:#'\"|>&*!%@`{}\[\],?~a0-]{0,12}", fullmatch=True
)
CONFIGS = st.dictionaries(TEXTS.filter(lambda key: key not in ("name", "connector.class")), TEXTS)


@given(CONFIGS)
def test_any_config_comes_back_from_a_file(config: dict[str, str]) -> None:
    config = {"connector.class": "X", **config}
    found = Export({"a": {"name": "a", "config": config}})
    for form in Format:
        text = write_text(found, form)
        documents = [read_json(text)] if form is Format.JSON else read_yaml(text)
        reader = Form(file=None)  # type: ignore[arg-type]
        [connector] = reader.connectors(documents)
        assert reader.problems == []
        assert connector.config == config


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
BLANKS = st.text(" \t\n\r", max_size=3)


@st.composite
def spaced(draw: Any, value: Any) -> str:
    """The value as JSON with blanks wherever they may be."""

    def blank() -> str:
        return str(draw(BLANKS))

    if isinstance(value, dict):
        parts = [
            f"{blank()}{json.dumps(key)}{blank()}:{blank()}{draw(spaced(each))}{blank()}"
            for key, each in value.items()
        ]
        return "{" + ",".join(parts) + "}"
    if isinstance(value, list):
        return "[" + ",".join(blank() + draw(spaced(each)) + blank() for each in value) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@given(st.data(), VALUES)
def test_json_is_read_with_its_lines(data: Any, value: Any) -> None:
    text = data.draw(spaced(value))
    node = read_json(text)
    assert _value(node) == _texts(value)
    for line, key in _keys(node):
        assert key in text.split("\n")[line - 1]


def _value(node: Node) -> Any:
    match node:
        case Scalar():
            return node.text
        case Items():
            return [_value(item) for item in node.items]
        case Table():
            return {entry.key: _value(entry.value) for entry in node}


def _texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _texts(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_texts(each) for each in value]
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _keys(node: Node) -> list[tuple[int, str]]:
    """The lines of keys, as far as these stand in the text as they are."""
    match node:
        case Scalar():
            return []
        case Items():
            return [each for item in node.items for each in _keys(item)]
        case Table():
            own = [(entry.line, entry.key) for entry in node if entry.key.isalnum()]
            inner = [each for entry in node for each in _keys(entry.value)]
            return [(line, key) for line, key in own if key.isascii()] + inner
