r"""Lines of a byte stream, found and cut without looking at each from Python.

A line ends at "\n", "\r\n" or a lone "\r". What comes after the last line end is no line yet, and
a "\r" that is the very last byte is held back, because a "\n" may still follow.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from typing import BinaryIO, Final

import pyarrow as pa
import pyarrow.compute as pc

BLOCK_BYTES: Final = 4 << 20
_SEARCH_BYTES: Final = 256 << 10


def complete_length(data: bytes) -> int:
    """How many bytes of the data are whole lines with their ends."""
    line_feed = data.rfind(b"\n")
    carriage_return = data.rfind(b"\r", line_feed + 1, len(data) - 1)
    return max(line_feed, carriage_return) + 1


def split_lines(data: bytes) -> pa.Array:
    """The lines of data that consists of whole lines, as an Arrow string array."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    text = _one_string(data)
    parts = pc.split_pattern(text, pattern="\n").values
    # The last line end is followed by the empty string.
    return parts.slice(0, len(parts) - 1)


def _one_string(data: bytes) -> pa.Array:
    whole = pa.array([data], pa.binary())
    try:
        return whole.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([decode_like_java(data)], pa.string())


def decode_like_java(data: bytes) -> str:
    """UTF-8 with U+FFFD for malformed bytes, as many of them as Java's decoder writes."""
    return data.decode("utf-8", errors=_REPLACE)


def _replace_malformed(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    found = error.object[error.start : error.start + 3]
    # A surrogate, whole or cut short, is one mistake for Java; Python counts its bytes.
    if len(found) > 1 and found[0] == 0xED and 0xA0 <= found[1] <= 0xBF:
        whole = len(found) > 2 and 0x80 <= found[2] <= 0xBF
        return "\ufffd", error.start + (3 if whole else 2)
    return "\ufffd", error.end


_REPLACE: Final = "penstock.replace"
codecs.register_error(_REPLACE, _replace_malformed)


def read_lines(
    path: str, start: int, end: int, *, block_bytes: int = BLOCK_BYTES
) -> Iterator[pa.Array]:
    """The lines of the bytes [start, end) of a file, a block at a time.

    `end` must stand behind a line end. Holds one block and one line in memory, not the range.
    """
    with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 - unbuffered, on purpose
        stream.seek(start)
        yield from split_stream(stream, end - start, block_bytes=block_bytes)


def split_stream(
    stream: BinaryIO, length: int, *, block_bytes: int = BLOCK_BYTES
) -> Iterator[pa.Array]:
    """As read_lines(), of the next `length` bytes of a stream.

    Raises:
        EOFError: the stream has fewer bytes; the file was cut while it was read.
    """
    pending: list[bytes] = []
    while length > 0:
        block = stream.read(min(block_bytes, length))
        if not block:
            raise EOFError(f"the file ended {length} bytes before the end of the last line found")
        length -= len(block)
        # A "\r" that ended the last block is decided by the first byte of this one.
        if pending and pending[-1].endswith(b"\r"):
            block = pending.pop() + block
        complete = complete_length(block) if length > 0 else len(block)
        if complete == 0:
            pending.append(block)
            continue
        yield split_lines(b"".join((*pending, block[:complete])))
        pending = [block[complete:]] if complete < len(block) else []


def last_line_end(stream: BinaryIO, start: int, stop: int) -> int:
    """The place behind the last line end in [start, stop), or `start` if there is none.

    Looks from the back, so that it reads one line's worth and not the range.
    """
    tail = b""
    place = stop
    while place > start:
        block_start = max(start, place - _SEARCH_BYTES)
        stream.seek(block_start)
        block = _read_exactly(stream, place - block_start)
        # One byte of what came before is enough to tell a lone "\r" from a last one.
        complete = complete_length(block + tail[:1])
        if complete:
            return block_start + complete
        tail, place = block, block_start
    return start


def first_line_end(stream: BinaryIO, start: int, stop: int) -> int:
    """The place behind the first line end in [start, stop), or `start` if there is none."""
    stream.seek(start)
    place = start
    carry = b""
    while place < stop:
        block = carry + _read_exactly(stream, min(_SEARCH_BYTES, stop - place))
        found = _first_end(block)
        if found:
            return place - len(carry) + found
        place += len(block) - len(carry)
        carry = b"\r" if block.endswith(b"\r") else b""
    return start


def _first_end(block: bytes) -> int:
    line_feed = block.find(b"\n")
    limit = line_feed if line_feed >= 0 else len(block) - 1
    carriage_return = block.find(b"\r", 0, max(limit, 0))
    if carriage_return >= 0:
        return carriage_return + (
            2 if block[carriage_return + 1 : carriage_return + 2] == b"\n" else 1
        )
    return line_feed + 1


def _read_exactly(stream: BinaryIO, count: int) -> bytes:
    data = stream.read(count)
    while len(data) < count:
        more = stream.read(count - len(data))
        if not more:
            raise EOFError("the file became shorter while it was read")
        data += more
    return data


def size_of(path: str) -> int | None:
    """The length of a file; None if it does not exist."""
    try:
        return os.stat(path).st_size  # noqa: PTH116 - called many times a second
    except FileNotFoundError:
        return None
