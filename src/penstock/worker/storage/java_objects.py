"""The file of Connect's standalone worker: a Java-serialized HashMap of byte arrays.

Implements only the part of Java's object stream that this map needs (Java Object Serialization
Specification, chapter 6). Java reads files written here, and the other way round.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Final

from penstock.kernel.errors import StorageError

_HEADER: Final = b"\xac\xed\x00\x05"
_NULL, _REFERENCE, _CLASS, _OBJECT, _ARRAY, _BLOCK, _END = 0x70, 0x71, 0x72, 0x73, 0x75, 0x77, 0x78
_FIRST_HANDLE: Final = 0x7E0000
# Its serialVersionUID, flags (serializable, writes its own data), and two fields.
_MAP_CLASS: Final = (
    b"\x72\x00\x11java.util.HashMap\x05\x07\xda\xc1\xc3\x16\x60\xd1\x03\x00\x02"
    b"F\x00\x0aloadFactorI\x00\x09threshold\x78\x70"
)
_BYTES_CLASS: Final = b"\x72\x00\x02[B\xac\xf3\x17\xf8\x06\x08\x54\xe0\x02\x00\x00\x78\x70"
_BYTES_CLASS_HANDLE: Final = _FIRST_HANDLE + 2
_LOAD_FACTOR: Final = 0.75
_MIN_BUCKETS: Final = 16


def dump_map(entries: Mapping[bytes, bytes | None]) -> bytes:
    """The bytes of the map, as ObjectOutputStream writes them."""
    buckets = _MIN_BUCKETS
    while buckets * _LOAD_FACTOR < len(entries):
        buckets *= 2
    parts = [_HEADER, bytes([_OBJECT]), _MAP_CLASS]
    parts.append(struct.pack(">fi", _LOAD_FACTOR, int(buckets * _LOAD_FACTOR)))
    parts.append(struct.pack(">BBii", _BLOCK, 8, buckets, len(entries)))
    parts += _dump_arrays(item for entry in entries.items() for item in entry)
    parts.append(bytes([_END]))
    return b"".join(parts)


def _dump_arrays(items: Iterable[bytes | None]) -> list[bytes]:
    parts = []
    class_text = _BYTES_CLASS
    for item in items:
        if item is None:
            parts.append(bytes([_NULL]))
            continue
        parts.append(bytes([_ARRAY]) + class_text + struct.pack(">i", len(item)) + item)
        class_text = struct.pack(">Bi", _REFERENCE, _BYTES_CLASS_HANDLE)
    return parts


def load_map(data: bytes) -> dict[bytes, bytes | None]:
    """Read the map. Raises StorageError if the bytes are something else."""
    try:
        return _Stream(data).read()
    except (struct.error, IndexError, KeyError, AssertionError, UnicodeDecodeError) as error:
        raise StorageError(f"not a map of byte arrays written by Java: {error}") from error


class _Stream:
    """One pass over the bytes. Objects that later bytes may refer to get a handle, as in Java."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._handles: dict[int, object] = {}

    def read(self) -> dict[bytes, bytes | None]:
        if self._take(4) != _HEADER:
            raise AssertionError("the stream header is missing")
        self._expect(_OBJECT)
        name = self._class()
        if name not in ("java.util.HashMap", "java.util.LinkedHashMap"):
            raise AssertionError(f"it contains a {name}")
        self._remember(name)
        self._take(8)  # loadFactor and threshold
        self._expect(_BLOCK)
        self._take(1)
        _buckets, size = self._unpack(">ii")
        entries: dict[bytes, bytes | None] = {}
        for _ in range(size):
            key, value = self._array(), self._array()
            if key is not None:
                entries[key] = value
        return entries

    def _class(self) -> str:
        kind = self._byte()
        if kind == _REFERENCE:
            return str(self._handles[self._unpack(">i")[0]])
        if kind != _CLASS:
            raise AssertionError(f"unexpected type {kind:#x}")
        name = self._string()
        self._take(8)  # serialVersionUID
        self._remember(name)
        self._take(1)  # flags
        for _ in range(self._unpack(">h")[0]):
            if chr(self._byte()) in "L[":
                raise AssertionError(f"{name} has fields of a kind not expected here")
            self._string()
        self._expect(_END)
        if self._byte() != _NULL:
            raise AssertionError(f"{name} has a superclass, which is not expected here")
        return name

    def _array(self) -> bytes | None:
        kind = self._byte()
        if kind == _NULL:
            return None
        if kind == _REFERENCE:
            known = self._handles[self._unpack(">i")[0]]
            if not isinstance(known, bytes):
                raise AssertionError("a reference to something that is not a byte array")
            return known
        if kind != _ARRAY or self._class() != "[B":
            raise AssertionError("an entry that is not a byte array")
        # Java numbers the array before its content.
        handle = self._remember(None)
        content = self._take(self._unpack(">i")[0])
        self._handles[handle] = content
        return content

    def _remember(self, item: object) -> int:
        handle = _FIRST_HANDLE + len(self._handles)
        self._handles[handle] = item
        return handle

    def _expect(self, kind: int) -> None:
        found = self._byte()
        if found != kind:
            raise AssertionError(f"type {found:#x} where {kind:#x} is expected")

    def _string(self) -> str:
        return self._take(self._unpack(">H")[0]).decode()

    def _unpack(self, form: str) -> tuple[int, ...]:
        return struct.unpack(form, self._take(struct.calcsize(form)))

    def _byte(self) -> int:
        return self._take(1)[0]

    def _take(self, size: int) -> bytes:
        piece = self._data[self._at : self._at + size]
        if size < 0 or len(piece) < size:
            raise AssertionError("it ends too early")
        self._at += size
        return piece
