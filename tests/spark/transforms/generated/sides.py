"""Both sides of a trial: Kafka's classes and our chain, with their answers in one form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import VariantVal
from pyspark.sql.variant_utils import VariantUtils

from penstock.columns.types import spark_type
from penstock.kernel.data.schema import Schema
from penstock.kernel.errors import ConfigError
from penstock.plugins import Plugins
from penstock.worker.pipeline.chain import Branch, Chain
from penstock.worker.pipeline.faults import no_fault
from tests.spark.converters.bridge import (
    BRIDGE,
    in_order,
    java_object,
    told_schema,
    told_value,
)
from tests.spark.converters.generate import arrow_column, connect_value
from tests.spark.transforms.generated.trial import Trial

if TYPE_CHECKING:
    from pyspark.sql import Column

Result = dict[str, Any]
"""What becomes of a record: {"error": ...}, {"dropped": True}, or all parts of the new one."""

_BRIDGE = Path(__file__).with_name("TransformBridge.java")
_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
_PLUGINS = Plugins()


class JavaTransforms:
    """Kafka's own transformations, inside Spark's JVM."""

    def __init__(self, session: SparkSession) -> None:
        self._bridge = java_object(session, BRIDGE, _BRIDGE)

    def results(self, trials: Sequence[Trial]) -> list[list[Result]]:
        """For each trial what becomes of its records; one that is refused has one result."""
        answers = json.loads(self._bridge.run(json.dumps([trial.told() for trial in trials])))
        return [_of_answer(answer) for answer in answers]


def _of_answer(answer: Mapping[str, Any]) -> list[Result]:
    if "refused" in answer:
        return [{"refused": answer["refused"]}]
    return [in_order(result) for result in answer["results"]]


def our_results(session: SparkSession, trial: Trial) -> list[Result]:
    """As JavaTransforms.results(), of our chain."""
    try:
        chain = Chain.of(trial.chain_config(), _PLUGINS.load_named)
    except ConfigError as error:
        return [{"refused": str(error)}]
    frame = _frame(session, trial)
    found: dict[int, Result] = {}
    for branch in chain.compile(trial.key_schema, trial.value_schema):
        made = branch.apply(frame)
        if wrong := _wrong_type(branch, made):
            return [{"raised": wrong}] * len(trial.records)
        found |= {row.place: in_order(_of_row(branch, row)) for row in made.collect()}
    return [found.get(place, {"dropped": True}) for place in range(len(trial.records))]


def _wrong_type(branch: Branch, made: DataFrame) -> str | None:
    """A column that does not have the type of its schema would be read as something else."""
    for name, schema in (("key", branch.key_schema), ("value", branch.value_schema)):
        has, needs = (
            kind.simpleString() for kind in (made.schema[name].dataType, spark_type(schema))
        )
        if has != needs:
            return f"the {name} is {has} and should be {needs}"
    return None


def _of_row(branch: Branch, row: Any) -> Result:
    if row.fault is not None:
        return {"error": row.fault["message"], "class": row.fault["class"]}
    return {
        "dropped": False,
        "topic": row.topic,
        "partition": row.partition,
        "timestamp": row.timestamp,
        "key_schema": told_schema(branch.key_schema),
        "key": _told(branch.key_schema, row.key),
        "value_schema": told_schema(branch.value_schema),
        "value": _told(branch.value_schema, row.value),
        "headers": [
            [header.key, None if header.value is None else bytes(header.value).hex()]
            for header in row.headers or ()
        ],
    }


def _told(schema: Schema | None, value: Any) -> Any:
    if schema is not None:
        return told_value(schema, connect_value(schema, value))
    if not isinstance(value, VariantVal):
        return told_value(None, value)
    return _told_bare(_Variants.to_python(value.value, value.metadata))


def _told_bare(value: Any) -> Any:
    """What a VARIANT holds as what JsonConverter makes in Java: Spark keeps fractions as decimals,
    and what was a Date in Java is a timestamp.
    """
    match value:
        case Decimal():
            return told_value(None, float(value))
        case _Micros(since):
            millis, finer = divmod(since, 1000)
            return ["DATE", f"{millis} and {finer} µs" if finer else str(millis)]
        case list():
            return ["ARRAY", [_told_bare(each) for each in value]]
        case dict():
            return ["MAP", [[told_value(None, k), _told_bare(each)] for k, each in value.items()]]
    return told_value(None, value)


@dataclass(frozen=True, slots=True)
class _Micros:
    """A timestamp; Python's own end with the year 9999."""

    since_1970: int


class _Variants(VariantUtils):
    @classmethod
    def _get_timestamp(cls, value: bytes, pos: int, zone_id: str) -> Any:
        del zone_id
        return _Micros(cls._read_long(value, pos + 1, 8, signed=True))


def _frame(session: SparkSession, trial: Trial) -> DataFrame:
    """The records as rows in flight, with their places."""
    records = trial.records
    columns = {
        "place": pa.array(range(len(records)), pa.int32()),
        "topic": pa.array([record.topic for record in records], pa.string()),
        "partition": pa.array([record.partition for record in records], pa.int32()),
        "offset": pa.array([record.offset for record in records], pa.int64()),
        "timestamp": pa.array([record.timestamp for record in records], pa.int64()),
        "headers": pa.array(
            [[{"key": name, "value": raw} for name, raw in each.headers] for each in records],
            _HEADERS,
        ),
        "key": _data(trial.key_schema, [record.key for record in records]),
        "value": _data(trial.value_schema, [record.value for record in records]),
    }
    frame = session.createDataFrame(pa.table(columns))
    parts = {"key": trial.key_schema, "value": trial.value_schema}
    variants = {name: _parsed(name) for name, schema in parts.items() if schema is None}
    return frame.withColumns({"fault": no_fault(), **variants})


def _data(schema: Schema | None, values: list[Any]) -> pa.Array:
    if schema is not None:
        return arrow_column(schema, values)
    texts = [None if value is None else json.dumps(value) for value in values]
    return pa.array(texts, pa.string())


def _parsed(name: str) -> Column:
    return F.parse_json(F.col(name))
