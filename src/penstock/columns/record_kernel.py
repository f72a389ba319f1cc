"""Record transformations and predicates over Arrow batches, in Spark's Python processes."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import dropwhile
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pyarrow as pa

from penstock.api.record import Header, Headers, Record
from penstock.columns.python_values import python_type, reader, writer
from penstock.kernel.clock import SystemClock
from penstock.kernel.errors import DataError, PluginError, RetriableError
from penstock.kernel.retries import Retries

if TYPE_CHECKING:
    from penstock.api.converter import HeaderConverter
    from penstock.api.transform import RecordPredicate, RecordTransformation
    from penstock.kernel.config import Config
    from penstock.kernel.data.record import SchemaAndValue
    from penstock.kernel.data.schema import Schema

T = TypeVar("T")

#: A boolean column beside a record's: whether the transformation is meant for it.
HOLDS: Final = "transform_holds"
_STAGE: Final = "TRANSFORMATION"
_READ: Final = ("topic", "partition", "offset", "timestamp", "key", "value", "headers", "fault")
_WRITTEN: Final = ("topic", "partition", "timestamp", "key", "value", "headers", "fault")
_TIMESTAMP: Final = range(-(1 << 63), 1 << 63)
_PARTITION: Final = range(1 << 31)
_PENSTOCK: Final = PurePath(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Made:
    """A plugin as it travels: its class and Config, from which each process makes its own."""

    plugin: Callable[[Any], Any]
    config: Config

    def make(self) -> Any:
        return self.plugin(self.config)


@dataclass(frozen=True, slots=True)
class RecordKernel:
    """Everything a process needs to transform the records of one pair of schemas."""

    transformation: Made
    header_converter: Made
    before: tuple[Schema | None, Schema | None]
    after: tuple[Schema | None, Schema | None]
    retries: Retries

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        transformation: RecordTransformation = self.transformation.make()
        transformation.configure()
        try:
            records = _Transformed(
                transformation, self.header_converter.make(), self.before, self.after, self.retries
            )
            yield from map(records.batch, batches)
        finally:
            transformation.close()


@dataclass(frozen=True, slots=True)
class PredicateKernel:
    """Everything a process needs to add the column HOLDS to records of one pair of schemas."""

    predicate: Made
    header_converter: Made
    schemas: tuple[Schema | None, Schema | None]
    retries: Retries

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        predicate: RecordPredicate = self.predicate.make()
        reader = _RecordReader(self.header_converter.make(), self.schemas)
        for batch in batches:
            tested = [_tested(predicate, reader, row, self.retries) for row in _rows(batch)]
            faults = pa.array([fault for _, fault in tested], batch.column("fault").type)
            holds = pa.array([held for held, _ in tested], pa.bool_())
            place = batch.schema.get_field_index("fault")
            yield batch.set_column(place, "fault", faults).append_column(HOLDS, holds)


def _tested(
    predicate: RecordPredicate, reader: _RecordReader, row: dict[str, Any], retries: Retries
) -> tuple[bool, dict[str, str] | None]:
    """Whether the predicate holds, and the fault of the row."""
    if row["fault"] is not None:
        return False, row["fault"]
    try:
        return bool(_repeated(lambda: predicate.holds(reader.record(row)), retries)), None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a fault of this record alone
        return False, _fault(predicate.class_name(), error)


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    columns = [batch.column(name).to_pylist() for name in _READ]
    for row in zip(*columns, strict=True):
        yield dict(zip(_READ, row, strict=True))


class _RecordReader:
    """Makes records of rows."""

    def __init__(
        self, headers: HeaderConverter, schemas: tuple[Schema | None, Schema | None]
    ) -> None:
        self._headers = headers
        self._schemas = schemas
        self._read_key, self._read_value = map(reader, schemas)

    def record(self, row: dict[str, Any]) -> Record:
        raw = ((each["key"], each["value"]) for each in row["headers"] or ())
        return Record(
            row["topic"],
            row["partition"],
            row["offset"],
            row["timestamp"],
            self._read_key(row["key"]),
            self._read_value(row["value"]),
            Headers(raw, self._decode),
            *self._schemas,
        )

    def _decode(self, raw: bytes | None) -> SchemaAndValue:
        return self._headers.decode_header(raw)


class _Transformed:
    """Applies a transformation to the rows of a batch, each on its own."""

    def __init__(
        self,
        transformation: RecordTransformation,
        headers: HeaderConverter,
        before: tuple[Schema | None, Schema | None],
        after: tuple[Schema | None, Schema | None],
        retries: Retries,
    ) -> None:
        self._transformation = transformation
        self._retries = retries
        self._plugin = transformation.class_name()
        self._headers = headers
        self._before, self._after = before, after
        self._reader = _RecordReader(headers, before)
        self._write_key = writer(after[0], "key")
        self._write_value = writer(after[1], "value")
        self._types = {"key": python_type(after[0]), "value": python_type(after[1])}

    def batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch without its dropped rows, and without the column HOLDS."""
        made = _Rows()
        holds = batch.column(HOLDS).to_pylist() if HOLDS in batch.schema.names else None
        for place, row in enumerate(_rows(batch)):
            if row["fault"] is not None or (holds is not None and not holds[place]):
                made.add(place, self._untouched(row))
            else:
                made.add(place, self._applied(row))
        return self._put_together(batch, made)

    def _applied(self, row: dict[str, Any]) -> dict[str, Any] | None:
        """The row after the transformation, or with its fault; None if it is dropped."""
        try:
            return _repeated(lambda: self._attempt(row), self._retries)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a fault of this record alone
            return {**self._untouched(row), "fault": _fault(self._plugin, error)}

    def _attempt(self, row: dict[str, Any]) -> dict[str, Any] | None:
        # A new record each time: one that failed halfway may have been changed.
        record = self._reader.record(row)
        result = self._transformation.apply(record)
        return None if result is None else self._row(row, record, result)

    def _untouched(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row as it is; data of another schema than the others' is left out."""
        same_key, same_value = (
            old == new for old, new in zip(self._before, self._after, strict=True)
        )
        return {
            **row,
            "key": row["key"] if same_key else None,
            "value": row["value"] if same_value else None,
        }

    def _row(self, row: dict[str, Any], record: Record, result: Record) -> dict[str, Any]:
        if not isinstance(result, Record):
            raise PluginError(
                f"apply() returned a {type(result).__qualname__}, not a Record or None"
            )
        self._check(record, result)
        return {
            "topic": result.topic,
            "partition": _number(result.partition, _PARTITION, "partition"),
            "timestamp": _number(result.timestamp, _TIMESTAMP, "timestamp"),
            "key": self._write_key(result.key),
            "value": self._write_value(result.value),
            "headers": self._raw(row, record, result),
            "fault": None,
        }

    def _check(self, record: Record, result: Record) -> None:
        if result.topic != record.topic:
            _check_text(result.topic, "topic")
            if not self._transformation.routes:
                raise PluginError("it changed the topic; its class must set routes = True for that")
        declared = zip(self._before, self._after, strict=True)
        given = (result.key_schema, result.value_schema)
        for side, schema, known in zip(("key", "value"), given, declared, strict=True):
            if all(schema is not each and schema != each for each in known):
                raise PluginError(f"{side}: the schema of the result is not the one of schemas()")

    def _raw(self, row: dict[str, Any], record: Record, result: Record) -> list[Any] | None:
        if result.headers is record.headers:
            found: list[Any] | None = row["headers"]
            return found
        headers: Any = result.headers  # or any list of Header
        items = headers.items if isinstance(headers, Headers) else Headers(headers).items
        return [self._raw_header(item) for item in items]

    def _raw_header(self, item: Any) -> dict[str, Any]:
        if isinstance(item, Header):
            _check_text(item.key, "the key of a header")
            raw = self._headers.encode_header(item.schema, item.value)
            return {"key": item.key, "value": raw}
        if not isinstance(item, tuple):
            raise DataError(f"headers: a {type(item).__qualname__} is not a Header")
        key, raw = item
        return {"key": key, "value": raw}

    def _put_together(self, batch: pa.RecordBatch, made: _Rows) -> pa.RecordBatch:
        kept = batch.take(pa.array(made.places, pa.int64()))
        names = [name for name in batch.schema.names if name != HOLDS]
        arrays = [
            pa.array(made.columns[name], self._types.get(name, kept.column(name).type))
            if name in made.columns
            else kept.column(name)
            for name in names
        ]
        return pa.RecordBatch.from_arrays(arrays, names)


@dataclass(slots=True)
class _Rows:
    """The rows that stay, column by column, and where each of them was."""

    places: list[int] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in _WRITTEN})

    def add(self, place: int, row: dict[str, Any] | None) -> None:
        if row is not None:
            self.places.append(place)
            for name, column in self.columns.items():
                column.append(row[name])


def _repeated(attempt: Callable[[], T], retries: Retries) -> T:
    """What an attempt gives; one that raises RetriableError is made again as settings allow.

    A task that is to stop ends this process, so there is nothing else to wait for.
    """
    clock, failures = SystemClock(), 0
    begun = clock.now()
    while True:
        try:
            return attempt()
        except RetriableError:
            left = retries.left(clock.now() - begun)
            if left <= 0:
                raise
            time.sleep(min(retries.delay(failures), left))
            failures += 1


def _number(value: Any, allowed: range, what: str) -> int | None:
    if value is None or (type(value) is int and value in allowed):
        return value
    raise DataError(f"{what}: {value!r} is not None or an integer from {allowed.start} on")


def _check_text(value: object, what: str) -> None:
    if not isinstance(value, str) or not value:
        raise DataError(f"{what}: {value!r} is not a text")
    value.encode()  # raises for half a character, which no batch can hold


def _fault(plugin: str, error: BaseException) -> dict[str, str]:
    return {"stage": _STAGE, "class": plugin, "message": _message_of(error)}


def _message_of(error: BaseException) -> str:
    """The class and the words of an exception, and the line of the plugin it comes from.

    Lines of code that the plugin called, such as a JSON parser, would not help its author.
    """
    text = f"{type(error).__qualname__}: {error}"
    trace = traceback.extract_tb(error.__traceback__)
    frames = list(dropwhile(lambda frame: frame.filename == __file__, trace))
    if not frames or PurePath(frames[0].filename).is_relative_to(_PENSTOCK):
        return text  # it is about the result of apply(), and says so
    own = [frame for frame in frames if frame.filename == frames[0].filename][-1]
    return f"{text} ({PurePath(own.filename).name}, line {own.lineno})"
