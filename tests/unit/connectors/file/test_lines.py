"""Line splitting against a reference that looks at one byte after the other."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.connectors.file.growing_file import GrowingFile
from penstock.connectors.file.lines import (
    complete_length,
    decode_like_java,
    first_line_end,
    last_line_end,
    split_lines,
    split_stream,
)

PIECES = st.lists(
    st.sampled_from([b"\n", b"\r", b"\r\n", b"a", b"bc", "ö".encode(), "☃".encode(), b"\xf0\x9f"]),
    max_size=40,
).map(b"".join)


def reference(data: bytes) -> tuple[list[bytes], int]:
    """The whole lines and where the first unfinished one starts."""
    lines, start, place = [], 0, 0
    while place < len(data):
        if data[place] == 0x0A:
            lines.append(data[start:place])
            start = place + 1
        elif data[place] == 0x0D:
            if place + 1 == len(data):
                break
            lines.append(data[start:place])
            place += data[place + 1] == 0x0A
            start = place + 1
        place += 1
    return lines, start


@given(PIECES)
def test_complete_length(data: bytes) -> None:
    assert complete_length(data) == reference(data)[1]


@given(PIECES)
def test_split_lines(data: bytes) -> None:
    lines, end = reference(data)
    assert split_lines(data[:end]).to_pylist() == [decode_like_java(line) for line in lines]


@given(PIECES, st.integers(1, 7), st.integers(0, 5))
def test_blocks_of_any_size_give_the_same_lines(data: bytes, block: int, skipped: int) -> None:
    lines, end = reference(data)
    stream = io.BytesIO(b"x" * skipped + data)
    stream.seek(skipped)
    read = [
        line for array in split_stream(stream, end, block_bytes=block) for line in array.to_pylist()
    ]
    assert read == [decode_like_java(line) for line in lines]


@given(PIECES, st.integers(0, 10))
def test_ends_found_from_the_back_and_from_the_front(data: bytes, start: int) -> None:
    start = min(start, len(data))
    lines, end = reference(data[start:])
    assert last_line_end(io.BytesIO(data), start, len(data)) == start + end
    first = first_line_end(io.BytesIO(data), start, len(data))
    if lines:
        assert reference(data[start:first] + b"x")[0] == lines[:1]
    else:
        assert first == start


@given(st.lists(PIECES, max_size=8), st.integers(1, 9))
def test_a_growing_file_gives_each_line_once(
    tmp_path_factory: pytest.TempPathFactory, appended: list[bytes], limit: int
) -> None:
    path = tmp_path_factory.mktemp("grow") / "file"
    path.touch()
    file = GrowingFile(str(path), 0)
    read: list[bytes] = []
    for data in appended:
        with path.open("ab") as stream:
            stream.write(data)
        while (size := file.grown_to()) is not None:
            found = file.take(size, limit)
            if found is None:
                break
            read += reference(path.read_bytes()[found.start : found.end] + b"x")[0]
    assert read == reference(b"".join(appended))[0]


def test_an_unfinished_line_is_searched_once(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 5000)
    file = GrowingFile(str(path), 0)
    size = file.grown_to()
    assert size == 5000
    assert file.take(size, 100) is None
    assert file.grown_to() is None


def test_a_file_cut_while_it_is_read() -> None:
    with pytest.raises(EOFError, match="the file ended 4 bytes before"):
        list(split_stream(io.BytesIO(b"a\nb\n"), 8))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xe2\x82", "\ufffd"),
        (b"\xed\xa0\x80x", "\ufffdx"),
        (b"\xed\xa0x", "\ufffdx"),
        (b"\xed\xa0", "\ufffd"),
        (b"\xe0\x80\x80", "\ufffd\ufffd\ufffd"),
        (b"\xf0\x9f\x98", "\ufffd"),
        (b"\xf5\x80\x80\x80", "\ufffd\ufffd\ufffd\ufffd"),
        (b"\xc0\x80", "\ufffd\ufffd"),
        (b"\xef\xbb\xbfx", "\ufeffx"),
    ],
)
def test_malformed_bytes_as_java_replaces_them(data: bytes, text: str) -> None:
    assert decode_like_java(data) == text
