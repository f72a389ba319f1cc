"""The orders were read from answers of the real Kafka Connect."""

from __future__ import annotations

from penstock.kernel.java.hash_order import hash_order


def test_keys_come_as_from_a_java_hash_map() -> None:
    keys = [
        "converter.type",
        "schemas.enable",
        "schemas.cache.size",
        "decimal.format",
        "replace.null.with.default",
    ]
    assert hash_order(keys) == [
        "decimal.format",
        "converter.type",
        "schemas.cache.size",
        "replace.null.with.default",
        "schemas.enable",
    ]


def test_keys_of_one_bucket_keep_their_order() -> None:
    # "Aa" and "BB" have the same hash code in Java.
    assert hash_order(["Aa", "BB"]) == ["Aa", "BB"]
    assert hash_order(["BB", "Aa", "BB"]) == ["BB", "Aa"]
