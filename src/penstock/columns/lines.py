"""Columns of text as the lines of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

#: Options of Spark's text writer for plain files, one for each partition.
LINE_FILES: Final = {"lineSep": "\n", "compression": "none", "maxRecordsPerFile": "0"}


def join_lines(lines: pa.Array) -> memoryview:
    """The lines one after another, each with its end; no Python for a single one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(lines) == 0:
        return memoryview(b"")
    large = pa.large_string()
    whole = pc.binary_join_element_wise(
        lines.cast(large), pa.scalar("", large), pa.scalar("\n", large)
    )
    _, offsets, data = whole.buffers()
    places = memoryview(offsets).cast("q")
    return memoryview(data)[places[whole.offset] : places[whole.offset + len(whole)]]
