from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.errors import StorageError
from penstock.worker.storage.java_objects import dump_map, load_map

# Written by Java's ObjectOutputStream: new HashMap with {1,2} -> {3}, and {4} -> null.
JAVA = bytes.fromhex(
    "aced0005737200116a6176612e7574696c2e486173684d61700507dac1c31660d103000246000a6c6f6164466163"
    "746f724900097468726573686f6c6478703f4000000000000c770800000010000000027572"
    "00025b42acf317f8060854e0020000787000000002010275"
    "71007e0002000000010375"
    "71007e000200000001047078"
)


def test_what_java_wrote() -> None:
    assert load_map(JAVA) == {b"\x01\x02": b"\x03", b"\x04": None}


def test_the_bytes_are_java_s() -> None:
    assert dump_map({b"\x01\x02": b"\x03", b"\x04": None}) == JAVA


@given(st.dictionaries(st.binary(), st.none() | st.binary(), max_size=40))
def test_both_ways(entries: dict[bytes, bytes | None]) -> None:
    assert load_map(dump_map(entries)) == entries


def test_an_array_that_is_referred_to_again() -> None:
    shared = dump_map({b"k": b"v"}).replace(b"\x00\x00\x00\x01v", b"\x00\x00\x00\x01v")
    again = shared[:-1].replace(
        b"\x00\x00\x00\x10\x00\x00\x00\x01", b"\x00\x00\x00\x10\x00\x00\x00\x02"
    )
    array = b"\x75\x71\x00\x7e\x00\x02\x00\x00\x00\x01w"
    reference_to_v = b"\x71\x00\x7e\x00\x04"
    assert load_map(again + array + reference_to_v + b"\x78") == {b"k": b"v", b"w": b"v"}


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", JAVA[:-12], JAVA[:20], JAVA.replace(b"java.util.HashMap", b"java.util.HashSet")],
)
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(StorageError, match="not a map"):
        load_map(data)
