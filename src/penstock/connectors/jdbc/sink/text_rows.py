"""Arrow batches as the text that COPY and LOAD DATA read: tabs, line ends, backslash escapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

_BACKSLASH: Final = 0x5C
_LAST_CONTROL: Final = 0x0D
#: The backslash first, as the others bring new ones.
_ESCAPES: Final = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))
_NULL: Final = "\\N"


def text_rows(batch: pa.RecordBatch) -> memoryview:
    """The rows as text, one after another; no Python for a single one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if batch.num_rows == 0:
        return memoryview(b"")
    large = pa.large_string()
    *columns, last = (_text(column) for column in batch.columns)
    last = pc.binary_join_element_wise(last, pa.scalar("", large), pa.scalar("\n", large))
    rows = pc.binary_join_element_wise(*columns, last, pa.scalar("\t", large)) if columns else last
    return _contents(rows)


def _text(column: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = column.cast(pa.large_string())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        text = _escaped(text)
    return pc.fill_null(text, _NULL) if text.null_count else text


def _escaped(text: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    if not _has_special(text):
        return text
    for plain, escaped in _ESCAPES:
        text = pc.replace_substring(text, plain, escaped)
    return text


def _has_special(text: pa.Array) -> bool:
    """Whether a text may need escapes: one look at all bytes of the column."""
    import numpy as np

    data = np.frombuffer(_contents(text), np.uint8)
    return bool(((data == _BACKSLASH) | (data <= _LAST_CONTROL)).any())


def _contents(texts: pa.Array) -> memoryview:
    """The bytes of all texts, without a copy."""
    _, offsets, data = texts.buffers()
    if data is None or len(texts) == 0:
        return memoryview(b"")
    places = memoryview(offsets).cast("q")
    return memoryview(data)[places[texts.offset] : places[texts.offset + len(texts)]]
