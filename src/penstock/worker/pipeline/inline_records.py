"""A few records that were already fetched, as frames: raw, or decoded one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import pyarrow as pa
from pyspark.sql import functions as F

from penstock.columns.remembered import Remembered
from penstock.columns.types import arrow_array, arrow_type
from penstock.kernel.data.record import KafkaRecord
from penstock.kernel.data.schema import Schema, Struct
from penstock.kernel.errors import DataError, RetriableError, with_causes
from penstock.worker.pipeline.faults import FAULT_TYPE, ORIGINAL, Fault
from penstock.worker.pipeline.kafka_io import RAW_SCHEMA
from penstock.worker.pipeline.pipeline import Converters, Typed

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from penstock.api.converter import Converter


T = TypeVar("T", bound=KafkaRecord)

Retry = Callable[[Callable[[], Any]], Any]
"""Calls a converter, and again if it raises RetriableError."""


def once(call: Callable[[], Any]) -> Any:
    """A Retry that calls only once."""
    return call()


def raw_frame(session: SparkSession, records: Sequence[KafkaRecord]) -> DataFrame:
    """The records as a frame of one partition, in their order."""
    return session.createDataFrame(raw_table(records)).coalesce(1)


def raw_table(records: Sequence[KafkaRecord]) -> pa.Table:
    """The records as an Arrow table of RAW_SCHEMA."""
    columns = [
        [record.topic for record in records],
        [record.partition for record in records],
        [record.offset for record in records],
        [record.timestamp if record.timestamp >= 0 else None for record in records],
        [record.key for record in records],
        [record.value for record in records],
        [_headers(record.headers) for record in records],
    ]
    arrays = [
        pa.array(values, field.type) for values, field in zip(columns, RAW_SCHEMA, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=RAW_SCHEMA)


def _headers(headers: list[tuple[str, bytes | None]] | None) -> list[dict[str, Any]] | None:
    return [{"key": key, "value": value} for key, value in headers] if headers else None


class FetchedRecord(NamedTuple):
    """A record that Spark has read."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]] | None


def fetched(raw: DataFrame) -> list[FetchedRecord]:
    """The records of a small raw frame."""
    return [
        FetchedRecord(
            row.topic,
            row.partition,
            row.offset,
            -1 if row.timestamp is None else row.timestamp,
            _bytes(row.key),
            _bytes(row.value),
            [(header.key, _bytes(header.value)) for header in row.headers or ()],
        )
        for row in raw.collect()
    ]


def _bytes(data: bytearray | None) -> bytes | None:
    return None if data is None else bytes(data)


def of_one_schema(records: Sequence[T], converters: Converters) -> list[list[T]]:
    """Records of a layout that no column expression reads, split where their schemas change."""
    schemas = ((_Decoded.of(record, converters).schemas, record) for record in records)
    groups = groupby(schemas, key=lambda each: each[0])
    return [[record for _, record in group] for _, group in groups]


def decoded_frames(
    session: SparkSession,
    records: Sequence[KafkaRecord],
    converters: Converters,
    retry: Retry = once,
) -> Iterator[Typed]:
    """Records of a layout that no column expression reads, decoded one by one on the driver.

    A record that can't be decoded becomes a row with a fault. Rows are split where a schema
    changes, so that they keep their order.
    """
    decoded = [_Decoded.of(record, converters, retry) for record in records]
    for schemas, group in groupby(decoded, key=lambda each: each.schemas):
        yield _typed(session, _checked(list(group), converters, *schemas), *schemas)


def decoded_frame(
    session: SparkSession,
    records: Sequence[KafkaRecord],
    converters: Converters,
    schemas: tuple[Schema | None, Schema | None],
    retry: Retry = once,
) -> Typed | None:
    """As decoded_frames(), for records that should all have these schemas.

    None if one of them does not, is faulty, has data without a schema, or a Decimal with more
    digits than its schema: column expressions handle those.
    """
    decoded = [_Decoded.of(record, converters, retry) for record in records]
    if not all(each.fits(*schemas) for each in decoded):
        return None
    try:
        typed = _typed(session, decoded, *schemas)
    except pa.ArrowInvalid:
        return None
    return Typed(typed.frame, *schemas, clean=True)


def fault_frame(session: SparkSession, rows: Sequence[tuple[KafkaRecord, Fault]]) -> DataFrame:
    """Records that can't be read, as a frame with their raw bytes and faults."""
    table = _raw_beside([record for record, _ in rows])
    kind = pa.struct([(name, pa.string()) for name in ("stage", "class", "message")])
    faults = [
        {"stage": fault.stage, "class": fault.plugin, "message": fault.message} for _, fault in rows
    ]
    table = table.append_column("fault", pa.array(faults, kind))
    return session.createDataFrame(table).coalesce(1)


def why(error: DataError) -> str:
    """The text of a fault, without the words that ConversionRetry added."""
    return with_causes(error.__cause__ if isinstance(error.__cause__, RetriableError) else error)


class _Decoded:
    """One record after its converters, or with their fault."""

    __slots__ = ("fault", "key", "record", "schemas", "value")

    def __init__(self, record: KafkaRecord) -> None:
        self.record = record
        self.schemas: tuple[Schema | None, Schema | None] = (None, None)
        self.key: Any = None
        self.value: Any = None
        self.fault: dict[str, str] | None = None

    def fits(self, key: Schema | None, value: Schema | None) -> bool:
        """Whether it is good and its data has these schemas; null fits every schema."""
        pairs = ((self.key, self.schemas[0], key), (self.value, self.schemas[1], value))
        return self.fault is None and all(
            data is None or (found is not None and found == wanted) for data, found, wanted in pairs
        )

    def fail(self, stage: str, converter: Converter, data: Any) -> None:
        """Replace data that no column can hold with a fault."""
        self.key = self.value = None
        text = f"No column can hold {data!r:.200}"
        self.fault = {"stage": stage, "class": converter.class_name(), "message": text}

    @classmethod
    def of(cls, record: KafkaRecord, converters: Converters, retry: Retry = once) -> _Decoded:
        decoded = cls(record)
        stage = "KEY_CONVERTER"
        plugin = converters.key.class_name()
        try:
            key = retry(partial(converters.key.decode_one, record.key))
            stage, plugin = "VALUE_CONVERTER", converters.value.class_name()
            value = retry(partial(converters.value.decode_one, record.value))
        except DataError as error:
            decoded.fault = {"stage": stage, "class": plugin, "message": why(error)}
        else:
            decoded.schemas = (key.schema, value.schema)
            decoded.key, decoded.value = key.value, value.value
        return decoded


def _typed(
    session: SparkSession, rows: Sequence[_Decoded], key: Schema | None, value: Schema | None
) -> Typed:
    table = _raw_beside([row.record for row in rows])
    table = table.append_column("key", _column((row.key for row in rows), key))
    table = table.append_column("value", _column((row.value for row in rows), value))
    table = table.append_column("fault", _faults(rows))
    frame = session.createDataFrame(table).coalesce(1)
    return Typed(_with_variants(frame, key, value), key, value)


def _checked(
    rows: Sequence[_Decoded], converters: Converters, key: Schema | None, value: Schema | None
) -> Sequence[_Decoded]:
    """The rows; where no column can hold the data, with a fault instead."""
    for row in rows if not _fit(rows, key, value) else ():
        if not _fit([row], key, None):
            row.fail("KEY_CONVERTER", converters.key, row.key)
        elif not _fit([row], None, value):
            row.fail("VALUE_CONVERTER", converters.value, row.value)
    return rows


def _fit(rows: Sequence[_Decoded], key: Schema | None, value: Schema | None) -> bool:
    """Whether columns can hold the data of the schemas."""
    try:
        if key is not None:
            _column((row.key for row in rows), key)
        if value is not None:
            _column((row.value for row in rows), value)
    except (pa.ArrowException, OverflowError):
        return False
    return True


def _raw_beside(records: Sequence[KafkaRecord]) -> pa.Table:
    """The envelopes of the records, and beside them the original columns (faults.ORIGINAL)."""
    raw = raw_table(records)
    originals = raw.select(list(ORIGINAL)).rename_columns(list(ORIGINAL.values()))
    table = raw.drop_columns(["key", "value"])
    for name in originals.column_names:
        table = table.append_column(name, originals[name])
    return table


def _column(values: Iterable[Any], schema: Schema | None) -> pa.Array:
    if schema is None:
        # Schemaless values travel as JSON text and become VARIANT in Spark.
        import json

        return pa.array([None if v is None else json.dumps(v) for v in values], pa.string())
    return arrow_array([_plain(value) for value in values], arrow_type(schema))


def _plain(value: Any) -> Any:
    """A value in the form pyarrow takes: structs as dictionaries, maps as pairs."""
    if isinstance(value, Struct):
        return {name: _plain(value[name]) for name in value}
    if isinstance(value, dict):
        return [(_plain(key), _plain(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _faults(rows: Sequence[_Decoded]) -> pa.Array:
    kind = pa.struct([(name, pa.string()) for name in ("stage", "class", "message")])
    return pa.array([row.fault for row in rows], kind)


def _with_variants(frame: DataFrame, key: Schema | None, value: Schema | None) -> DataFrame:
    place = (key is None, value is None)
    return frame.withColumns(_variants.of(place, lambda: _variant_columns(*place)))


def _variant_columns(key: bool, value: bool) -> dict[str, Column]:  # noqa: FBT001 - a pair
    columns = {"fault": F.col("fault").cast(FAULT_TYPE)}
    for name, wanted in (("key", key), ("value", value)):
        if wanted:
            columns[name] = F.parse_json(F.col(name))
    return columns


_variants: Final[Remembered[dict[str, Column]]] = Remembered()
