from __future__ import annotations

from penstock.kernel.config.prefix import under_prefix


def test_keys_lose_the_prefix_and_keep_their_order() -> None:
    config = {"a.z": "1", "b": "2", "a.b.c": "3", "a": "4", "x.a.b": "5"}
    assert list(under_prefix(config, "a.").items()) == [("z", "1"), ("b.c", "3")]


def test_the_prefix_alone_is_no_key() -> None:
    assert under_prefix({"a.": "1"}, "a.") == {}
