"""Paths to fields; what they lead to is tested with ExtractField."""

from __future__ import annotations

import pytest

from penstock.kernel.errors import ConfigError
from penstock.transforms.field_path import Steps, Tree, field_steps, tree_of


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("a", ("a",)),
        ("a.b.c", ("a", "b", "c")),
        ("", ("",)),
        (".", ("", "")),
        ("a..b", ("a", "", "b")),
        (".a.", ("", "a", "")),
        ("`a.b`.c", ("a.b", "c")),
        ("a.`b.c`", ("a", "b.c")),
        ("`a.b`.`c.d`.", ("a.b", "c.d", "")),
        ("``", ("",)),
        ("a`b.c`", ("a`b", "c`")),
        ("`a`b`.c", ("a`b", "c")),
        ("`a\\`.b`.c", ("a`.b", "c")),
        ("`a\\`b`", ("a\\`b",)),
        ("ü.☃.😀", ("ü", "☃", "😀")),
    ],
)
def test_steps(path: str, steps: Steps) -> None:
    assert field_steps(path, "V2") == steps
    assert field_steps(path, "v2") == steps
    assert field_steps(path, "V1") == (path,)


@pytest.mark.parametrize("path", ["`", "`a", "`a.b", "`a`b", "`a\\`", "a.`", "`a`b.c"])
def test_a_backtick_without_its_pair(path: str) -> None:
    with pytest.raises(ConfigError, match="Incomplete backtick pair in path"):
        field_steps(path, "V2")
    assert field_steps(path, "V1") == (path,)


@pytest.mark.parametrize(
    ("paths", "tree"),
    [
        ([("a",), ("b", "c")], {"a": None, "b": {"c": None}}),
        ([("a", "b"), ("a", "c")], {"a": {"b": None, "c": None}}),
        ([("a", "b"), ("a",)], {"a": None}),
        ([("a", "b", "c"), ("a", "b"), ("a", "b")], {"a": {"b": None}}),
    ],
)
def test_tree(paths: list[Steps], tree: Tree) -> None:
    assert tree_of(paths) == tree
