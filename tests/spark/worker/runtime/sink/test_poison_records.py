"""Bad records among good ones: each costs itself, whatever its converter and its target are."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.api.plugin import PluginKind
from penstock.api.sink import FrameSinkTask, OffsetRange
from penstock.connectors.file.sink import FileStreamSinkTask
from penstock.connectors.jdbc.sink.task import JdbcSinkTask
from penstock.converters.registry.converter import RegistryConverter
from penstock.kafka.clients import RawRecord
from penstock.kernel.clock import SystemClock
from penstock.kernel.data.record import TaskId, TopicPartition
from penstock.kernel.data.schema import (
    DATE,
    DECIMAL,
    TIMESTAMP,
    Field,
    Schema,
    SchemaType,
    Struct,
    struct_schema,
    timestamp_schema,
)
from penstock.plugins import Plugins
from penstock.testing.databases import FreshDatabase
from penstock.testing.registry import SchemaRegistry
from penstock.worker.interface import TargetState
from penstock.worker.pipeline.chain import Chain
from penstock.worker.pipeline.pipeline import SinkPipeline
from penstock.worker.runtime.conversion import converters_of
from penstock.worker.runtime.conversion_retry import ConversionRetry
from penstock.worker.runtime.sink import decode
from penstock.worker.runtime.sink.batches import SinkBatches
from penstock.worker.runtime.sink.decode import Decoder
from penstock.worker.runtime.sink.write import Writer
from penstock.worker.runtime.task_host import TaskControl
from penstock.worker.runtime.tolerance import ErrorSettings, FaultReports
from tests.shared.sizes import Size

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

P0 = TopicPartition("t", 0)
TASK = TaskId("sink", 0)
STRINGS = "org.apache.kafka.connect.storage.StringConverter"
JSON = "org.apache.kafka.connect.json.JsonConverter"
ERRORS = {
    "errors.tolerance": "all",
    "errors.deadletterqueue.topic.name": "dead",
    "errors.deadletterqueue.context.headers.enable": "true",
    "key.converter": STRINGS,
}
#: More of them than are decoded one by one on the driver, here.
FEW, MANY = 100, 120


@pytest.fixture(autouse=True, scope="module")
def few_are_fewer() -> Iterator[None]:
    """Thousands of records would take long, and show no more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decode, "FEW_RECORDS", FEW)
        yield


class Letters:
    """The dead letter topic: the offsets of its records."""

    def __init__(self) -> None:
        self.offsets: list[int] = []

    def prepare(self) -> None:
        pass

    def write(self, frame: DataFrame) -> int:
        rows = frame.collect()
        for row in rows:
            found = {header.key: bytes(header.value).decode() for header in row.headers}
            self.offsets.append(int(found["__connect.errors.offset"]))
        return len(rows)


@dataclass
class Context:
    spark: SparkSession
    stopping: bool = False

    def topic_ids(self, topics: Collection[str]) -> Mapping[str, str]:
        return dict.fromkeys(topics, "id")


class Sink:
    """A tolerant sink task, and what the runtime makes of its records."""

    def __init__(self, spark: SparkSession, task: FrameSinkTask, keys: Mapping[str, str]) -> None:
        self.letters = Letters()
        config = {**ERRORS, **keys}
        task.start(config, Context(spark))
        plugins = Plugins()

        def load(name: str, kind: PluginKind) -> Any:
            return plugins.load_named(name, kind)

        errors = ErrorSettings.parse(config)
        decoder = Decoder(
            lambda: spark,
            make_converters=lambda: converters_of(config, {}, plugins),
            make_pipeline=lambda converters: SinkPipeline(Chain.of({}, load), converters),
            reader={},
            conversions=ConversionRetry(errors, TaskControl(TargetState.STARTED, SystemClock())),
            pieces=task.traits.pieces_per_core,
        )
        reports = FaultReports(errors, TASK, self.letters)
        writer = Writer("some.Connector", task, decoder, errors, reports, lambda: False)
        self._batches = SinkBatches(TASK, decoder, writer, lambda partitions: {}, one_topic=False)

    def write(self, values: Sequence[bytes | None]) -> None:
        records = [
            RawRecord("t", 0, number, -1, 0, b"k", value, None)
            for number, value in enumerate(values)
        ]
        done = 0
        while done < len(records):
            (written,) = self._batches.write(records[done:], (OffsetRange(P0, done, len(records)),))
            assert written.end > done, "no progress"
            done = written.end


@dataclass(frozen=True)
class Pool:
    """Records of one converter. `bad` are so for every target, `rows` for a table alone.

    The odd ones arrive or become letters, as the target decides; but none stops the others.
    """

    keys: Mapping[str, str]
    good: Callable[[int], bytes]
    bad: Sequence[bytes | None]
    rows: Sequence[bytes | None] = ()
    odd: Sequence[bytes | None] = ()


def optional(field: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"field": field, "type": kind, "optional": True, **more}


def struct(*fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "struct", "fields": list(fields), "optional": False}


FIELDS = struct(
    optional("id", "int32"),
    optional("at", "int64", name=TIMESTAMP, version=1),
    optional("day", "int32", name=DATE, version=1),
    optional("price", "bytes", name=DECIMAL, version=1, parameters={"scale": "2"}),
    optional("text", "string"),
    optional("number", "double"),
)
HUGE_SCALE = struct(
    optional("id", "int32"),
    optional("price", "bytes", name=DECIMAL, version=1, parameters={"scale": "99"}),
)


def envelope(payload: Any, schema: Mapping[str, Any] | None = FIELDS) -> bytes:
    """`payload`: as text, it is JSON already."""
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return f'{{"schema": {json.dumps(schema)}, "payload": {text}}}'.encode()


JSON_ENVELOPES = Pool(
    {"value.converter": JSON},
    lambda number: envelope({"id": number, "at": 1_700_000_000_000, "text": "ü", "number": 1.5}),
    bad=[
        b"{",
        envelope({"id": 1, "price": 9.999e50}),
        envelope({"id": 1, "price": 1.2345}),
        envelope({"id": 1, "price": "AQ=="}, HUGE_SCALE),
        envelope("[" * 3000 + "]" * 3000),
    ],
    rows=[
        envelope(5, {"type": "int32", "optional": False}),
        envelope("text", {"type": "string", "optional": False}),
        envelope({"id": 1, "in": {"a": 1}}, struct(optional("id", "int32"), struct() | {
            "field": "in", "optional": True, "fields": [optional("a", "int32")]})),
        envelope({"id": 1}, None),
        None,
    ],
    odd=[
        envelope({"id": 1001, "at": 2**63 - 1}),
        envelope({"id": 1002, "at": -(2**63)}),
        envelope({"id": 1003, "day": 2**31 - 1}),
        envelope(r'{"id": 1004, "text": "\ud800"}'),
        envelope({"id": 1005, "text": "\0"}),
        envelope('{"id": 1006, "number": 1e999}'),
        # With the schema behind, no column expression reads it.
        json.dumps({"payload": {"id": 1007, "text": "\ud800"}, "schema": FIELDS}).encode(),
        json.dumps({"payload": {"id": 1008, "price": 9.9e50}, "schema": FIELDS}).encode(),
    ],
)  # fmt: skip
PLAIN_JSON = Pool(
    {"value.converter": JSON, "value.converter.schemas.enable": "false"},
    lambda number: b'{"id": %d}' % number,
    bad=[b"{", b"\xff"],
    odd=[rb'{"id": 1001, "text": "\ud800"}', b'{"id": 1002, "number": 1e999}', None],
)
LONGS = Pool(
    {"value.converter": "org.apache.kafka.connect.converters.LongConverter"},
    lambda number: number.to_bytes(8, "big"),
    bad=[b"", b"1234567", b"123456789"],
    odd=[None],
)
TEXTS = Pool(
    {"value.converter": STRINGS},
    lambda number: b"id=%d" % number,
    bad=[],
    rows=[None],
    odd=[b"\xff", b"\0", b"\xed\xa0\x80"],
)


def registered(registry: SchemaRegistry, kind: str) -> Pool:
    keys = {
        "value.converter": f"io.confluent.connect.{kind}Converter",
        "value.converter.schema.registry.url": registry.url,
    }
    converter = converters_of(ERRORS | keys, {}, Plugins()).value
    assert isinstance(converter, RegistryConverter)
    schema = struct_schema(
        Field("id", Schema(SchemaType.INT32)),
        Field("at", timestamp_schema(optional=True)),
        name="Row",
    )

    def encoded(number: int, at: int | None = None) -> bytes:
        value = Struct(schema, {"id": number, "at": at})
        return converter.encode_one_for(f"poison-{kind}", schema, value) or b""

    cut = encoded(1, 1_700_000_000_000)[:-1]
    odd = [encoded(1001, 2**53)] if kind != "protobuf.Protobuf" else []
    return Pool(
        keys,
        encoded,
        bad=[b"", b"\1234567", b"\0\0\0\0\xff\0", cut],
        rows=[None],
        odd=odd,
    )


@dataclass(frozen=True)
class Target:
    """Where the records of one example go: whose are there, and how many there are in all."""

    sink: Sink
    numbers: Callable[[], list[int]]
    size: Callable[[], int]


def file_target(spark: SparkSession, pool: Pool, path: Path) -> Target:
    sink = Sink(spark, FileStreamSinkTask(), {**pool.keys, "file": str(path)})

    def lines() -> list[str]:
        # Only these end a line of the sink; Python's splitlines() knows many more.
        return path.read_bytes().decode(errors="replace").split("\n")[:-1]

    def numbers() -> list[int]:
        found = (re.search(r"(?:^|\bid=)(\d+)", line) for line in lines())
        return [int(each.group(1)) for each in found if each]

    return Target(sink, numbers, lambda: len(lines()))


def table_target(
    spark: SparkSession, pool: Pool, database: FreshDatabase, table: str, **more: str
) -> Target:
    keys = {name.replace("_", "."): value for name, value in more.items()}
    config = {**pool.keys, **database.config, "table.name.format": table, "auto.create": "true"}
    sink = Sink(spark, JdbcSinkTask(), {**config, "name": table, **keys})

    def numbers() -> list[int]:
        column = "record_value" if pool is TEXTS else "id"
        found = [row[0] or "" for row in database.rows(f"SELECT {column} FROM {table}")]
        return [int(text.removeprefix("id=")) for text in found if text.strip("id=").isdecimal()]

    return Target(sink, numbers, lambda: int(database.rows(f"SELECT COUNT(*) FROM {table}")[0][0]))


@dataclass(frozen=True)
class Mixture:
    """Which bad records are among the good ones, bytes of any kind, and whether there are many."""

    picked: Sequence[int]
    noise: Sequence[bytes]
    many: bool


def check(pool: Pool, target: Target, mixture: Mixture, *, table: bool) -> None:
    """Write good records with these bad ones in between; look where each is afterwards."""
    bad = [*pool.bad, *(pool.rows if table else ())]
    odd = [*pool.odd, *(() if table else pool.rows)]
    values: list[bytes | None] = [pool.good(0)]
    wrong: set[int] = set()
    for pick in mixture.picked:
        chosen = pick % (len(bad) + len(odd))
        if chosen < len(bad):
            wrong.add(len(values))
        values += [(bad + odd)[chosen], pool.good(len(values) + 1)]
    for noise in mixture.noise:
        values += [noise, pool.good(len(values) + 1)]
    if mixture.many:
        values += [pool.good(number) for number in range(len(values), MANY)]
    good = [number for number, value in enumerate(values) if value == pool.good(number)]

    target.sink.write(values)

    letters = target.sink.letters.offsets
    assert len(letters) == len(set(letters))
    assert wrong <= set(letters)
    assert not set(letters) & set(good)
    assert set(good) <= set(target.numbers())
    assert target.size() == len(values) - len(letters)


def _is_one_line(value: bytes) -> bool:
    return b"\n" not in value


def for_mixtures(size: Size, write: Callable[[Mixture], None]) -> None:
    @settings(
        max_examples=size.mixtures,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        st.builds(
            Mixture,
            picked=st.lists(st.integers(0, 1000), min_size=5, max_size=7),
            noise=st.lists(st.binary(max_size=20).filter(_is_one_line), max_size=2),
            many=st.booleans(),
        )
    )
    def each(mixture: Mixture) -> None:
        write(mixture)

    each()


@pytest.mark.parametrize("pool", [JSON_ENVELOPES, PLAIN_JSON, LONGS, TEXTS])
def test_bad_records_among_good_ones_into_a_file(
    spark: SparkSession, tmp_path: Path, pool: Pool, size: Size
) -> None:
    for_mixtures(size, into_files(spark, pool, tmp_path))


def into_files(spark: SparkSession, pool: Pool, folder: Path) -> Callable[[Mixture], None]:
    def write(mixture: Mixture) -> None:
        target = file_target(spark, pool, folder / f"{next(NUMBERS)}.txt")
        check(pool, target, mixture, table=False)

    return write


@pytest.mark.parametrize(
    ("pool", "once"), [(JSON_ENVELOPES, "true"), (JSON_ENVELOPES, "false"), (TEXTS, "false")]
)
def test_bad_records_among_good_ones_into_a_table(
    spark: SparkSession, postgresql: FreshDatabase, pool: Pool, once: str, size: Size
) -> None:
    """Plain JSON and numbers are not among them: a table takes neither."""

    def write(mixture: Mixture) -> None:
        table = f"t{next(NUMBERS)}"
        target = table_target(spark, pool, postgresql, table, exactly_once=once)
        check(pool, target, mixture, table=True)

    for_mixtures(size, write)


@pytest.mark.parametrize("kind", ["avro.Avro", "json.JsonSchema", "protobuf.Protobuf"])
def test_bad_records_among_good_ones_with_a_registry(
    spark: SparkSession,
    registry: SchemaRegistry,
    mariadb: FreshDatabase,
    tmp_path: Path,
    kind: str,
    size: Size,
) -> None:
    pool = registered(registry, kind)

    def into_a_table(mixture: Mixture) -> None:
        target = table_target(spark, pool, mariadb, f"t{next(NUMBERS)}")
        check(pool, target, mixture, table=True)

    for_mixtures(size, into_a_table)
    for_mixtures(size, into_files(spark, pool, tmp_path))


NUMBERS = itertools.count()
