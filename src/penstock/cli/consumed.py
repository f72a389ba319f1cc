"""Records as `penstock consume` prints them: a table, lines of JSON, or a format of kcat's."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final, Protocol

from penstock.kafka.clients import RawRecord
from penstock.kernel.errors import DataError
from penstock.kernel.times import shown_moment
from penstock.tools.broker.encodings import Decoder, Form, Shown
from penstock.tools.broker.kcat import compile_format

Decoders = tuple[Decoder, Decoder]
_MEASURED: Final = 100
_WIDEST_KEY: Final = 60
_TIME_TYPES: Final = {1: "CreateTime", 2: "LogAppendTime"}
_header: Final = Decoder(Form.AUTO)


class Printed(Protocol):
    """One form of output."""

    def pieces(self, records: Iterator[RawRecord], *, at_once: bool) -> Iterator[bytes]:
        """The output, piece by piece; with `at_once` no record waits for the next one."""
        ...


class JsonLines:
    """An object on each line; `penstock produce --json` reads them."""

    def __init__(self, decoders: Decoders) -> None:
        self._key, self._value = decoders

    def pieces(self, records: Iterator[RawRecord], *, at_once: bool) -> Iterator[bytes]:
        del at_once
        for record in records:
            yield self._line(record).encode("utf-8", "backslashreplace")

    def _line(self, record: RawRecord) -> str:
        key, value = self._key(record.key), self._value(record.value)
        members = {
            "topic": json.dumps(record.topic),
            "partition": str(record.partition),
            "offset": str(record.offset),
            "timestamp": str(record.timestamp) if record.timestamp >= 0 else "null",
            "timestamp_type": json.dumps(_TIME_TYPES.get(record.timestamp_type)),
            "key": key.json,
            "value": value.json,
            "headers": _json_headers(record),
        }
        errors = {"key_error": key.error, "value_error": value.error}
        members |= {name: json.dumps(text) for name, text in errors.items() if text}
        inside = ", ".join(f'"{name}": {text}' for name, text in members.items())
        return f"{{{inside}}}\n"


def _json_headers(record: RawRecord) -> str:
    entries = (
        f'{{"key": {json.dumps(name)}, "value": {_header_json(value)}}}'
        for name, value in record.headers or ()
    )
    return f"[{', '.join(entries)}]"


def _header_json(value: bytes | None) -> str:
    """A header as a string, also if it is a JSON document, so that it can be produced again."""
    shown = _header(value)
    is_document = shown.json[:1] in "{[" and shown.text[:1] in "{["
    return json.dumps(shown.text, ensure_ascii=False) if is_document else shown.json


class Formatted:
    """Bytes by a format string as in kcat."""

    def __init__(self, text: str, decoders: Decoders, *, null: bool) -> None:
        key, value = decoders
        self._render = compile_format(
            text, lambda raw: _bytes(key, raw), lambda raw: _bytes(value, raw), b"NULL" * null
        )

    def pieces(self, records: Iterator[RawRecord], *, at_once: bool) -> Iterator[bytes]:
        del at_once
        for record in records:
            try:
                yield self._render(record)
            except DataError as error:
                place = f"{record.topic}-{record.partition}, offset {record.offset}"
                raise DataError(f"{place}: {error}") from error


def _bytes(decode: Decoder, raw: bytes | None) -> bytes:
    """The bytes of a record, or the text that a format makes of them."""
    if raw is None:
        return b""
    if decode.form in (Form.AUTO, Form.STRING, Form.BYTES) and not decode.asks_registry(raw):
        return raw
    shown = decode(raw)
    if shown.error:
        raise DataError(shown.error)
    return shown.text.encode()


class Table:
    """A line for each record under a line of titles; the first records decide the widths."""

    def __init__(self, decoders: Decoders, *, headers: bool) -> None:
        self._key, self._value = decoders
        self._headers = headers
        self._width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None

    def pieces(self, records: Iterator[RawRecord], *, at_once: bool) -> Iterator[bytes]:
        titles = ["PARTITION", "OFFSET", "TIME", "KEY"]
        titles += ["HEADERS"] if self._headers else []
        titles.append("VALUE")
        first = [] if at_once else [self._cells(each) for each in islice(records, _MEASURED)]
        if not first and not at_once:
            yield b"There are no records.\n"
            return
        widths = _widths([titles, *first], wide=at_once)
        for cells in chain([titles], first, map(self._cells, records)):
            yield self._line(cells, widths)

    def _cells(self, record: RawRecord) -> list[str]:
        cells = [
            str(record.partition),
            str(record.offset),
            shown_moment(record.timestamp),
            _cell(self._key(record.key), record.key is None),
        ]
        if self._headers:
            pairs = (
                f"{name}={_cell(_header(raw), raw is None)}" for name, raw in record.headers or ()
            )
            cells.append(" ".join(pairs))
        cells.append(_cell(self._value(record.value), record.value is None))
        return cells

    def _line(self, cells: Sequence[str], widths: Sequence[int]) -> bytes:
        padded = [cell.ljust(width) for cell, width in zip(cells[:-1], widths, strict=False)]
        line = "  ".join([*padded, cells[-1]])
        if self._width is not None and len(line) > self._width:
            line = f"{line[: self._width - 1]}…"
        return f"{line}\n".encode("utf-8", "backslashreplace")


def _widths(rows: Iterable[Sequence[str]], *, wide: bool) -> list[int]:
    """The widths of all columns but the last; usual ones without rows to measure."""
    found = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    usual = [9, 10, 24, 16, 16] if wide else [0] * 5
    return [min(max(each, least), _WIDEST_KEY) for each, least in zip(found, usual, strict=False)]


def _cell(shown: Shown, is_null: bool) -> str:
    if is_null:
        return "(null)"
    text = shown.text
    if not text.isprintable():
        text = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    return f"{text}  ({shown.error})" if shown.error else text
