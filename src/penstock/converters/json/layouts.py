"""The layouts of a topic's JSON envelopes: which bytes stand before the payload."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from typing import Any, Final

from penstock.api.converter import Layout
from penstock.codecs.json import document
from penstock.codecs.json.read import JsonReader
from penstock.codecs.json.schema_text import schema_of
from penstock.kernel.errors import DataError

_BEFORE_SCHEMA: Final = re.compile(r'[ \t\n\r]*\{[ \t\n\r]*"schema"[ \t\n\r]*:[ \t\n\r]*')
_BEFORE_PAYLOAD: Final = re.compile(r'[ \t\n\r]*,[ \t\n\r]*"payload"[ \t\n\r]*:[ \t\n\r]*')


class Layouts:
    """Remembers as many layouts as `size` says, the latest used. Threads may share it."""

    def __init__(self, reader: JsonReader, size: int) -> None:
        self._reader = reader
        self._size = max(size, 1)
        self._known: OrderedDict[bytes, Layout] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, raw: bytes) -> Layout | None:
        """The layout of an envelope; None if its schema does not come first or can't be read."""
        with self._lock:
            known = next((tag for tag in reversed(self._known) if raw.startswith(tag)), None)
            if known is not None:
                self._known.move_to_end(known)
                return self._known[known]
        return self._learnt(raw)

    def _learnt(self, raw: bytes) -> Layout | None:
        try:
            tag, node = _split(raw)
            layout = Layout(schema_of(node, self._reader), tag)
        except (DataError, ValueError):
            return None
        with self._lock:
            self._known[tag] = layout
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return layout


def _split(raw: bytes) -> tuple[bytes, Any]:
    """The bytes before the payload, and the schema's JSON among them."""
    text = raw.decode()
    start = _BEFORE_SCHEMA.match(text)
    if start is None:
        raise ValueError("the schema does not come first")
    node, end = document.scan(text, start.end())
    middle = _BEFORE_PAYLOAD.match(text, end)
    if middle is None:
        raise ValueError("the payload does not come second")
    return text[: middle.end()].encode(), node
