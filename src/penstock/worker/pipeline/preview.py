"""A few records after each step of a chain, as JSON for people."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F

from penstock.kernel.errors import ConfigError, DataError
from penstock.worker.pipeline.chain import Chain
from penstock.worker.pipeline.pipeline import JsonForm, SourcePipeline, Typed

if TYPE_CHECKING:
    from pyspark.sql import Column, Row

    from penstock.kernel.data.schema import Schema
    from penstock.worker.pipeline.stage import Stage

PLACE: Final = "preview_place"
_SHOWN: Final = ("topic", "partition", "offset", "timestamp", "headers")


@dataclass(frozen=True, slots=True)
class Step:
    """The records after one step, by place: several, one or none, or an error."""

    name: str
    plugin: str | None
    records: Mapping[int, Sequence[Mapping[str, Any]]]
    errors: Mapping[int, Mapping[str, str]]


class SteppedChain:
    """Shows records after each stage of a chain."""

    def __init__(self, chain: Chain, form: JsonForm) -> None:
        self._stages = chain.stages
        self._json = form

    def steps(self, typed: Typed, target: SourcePipeline | None = None) -> Iterator[Step]:
        """The rows as read, then after each stage; a Spark job for each step.

        The frame has a column PLACE. For a source, the last step is the bytes for its target.
        """
        after = [typed]
        yield self._step("read", None, after)
        for count, stage in enumerate(self._stages, 1):
            name = f"transforms.{stage.alias}"
            try:
                after = list(_through(self._stages[:count], typed))
            except (ConfigError, DataError) as error:
                yield self._failed(name, stage, typed, error)
                return
            yield self._step(name, stage.transformation.class_name(), after)
        if target is not None:
            yield _written(target, after)

    def _step(self, name: str, plugin: str | None, parts: Sequence[Typed]) -> Step:
        records: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
        errors: dict[int, Mapping[str, str]] = {}
        for part in parts:
            for row in part.frame.select(*self._columns(part)).collect():
                if row.fault is not None:
                    errors[row.place] = row.fault.asDict()
                else:
                    records[row.place].append(_shown(row, part))
        return Step(name, plugin, records, errors)

    def _failed(self, name: str, stage: Stage, typed: Typed, error: Exception) -> Step:
        plugin = stage.transformation.class_name()
        fault = {"stage": "TRANSFORMATION", "class": plugin, "message": str(error)}
        places = [row[0] for row in typed.frame.select(PLACE).collect()]
        return Step(name, plugin, {}, dict.fromkeys(places, fault))

    def _columns(self, part: Typed) -> list[Column]:
        return [
            F.col(PLACE).alias("place"),
            F.col("fault"),
            *map(F.col, _SHOWN),
            self._form(part.key_schema, "key"),
            self._form(part.value_schema, "value"),
        ]

    def _form(self, schema: Schema | None, name: str) -> Column:
        made = self._json.encode(schema, F.col(name))
        error = F.to_json(F.struct(made.getField("error").alias("not shown")))
        text = made.getField("data").cast("string")
        return F.when(made.getField("error").isNull(), text).otherwise(error).alias(name)


def _written(target: SourcePipeline, parts: Sequence[Typed]) -> Step:
    records: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    errors: dict[int, Mapping[str, str]] = {}
    for part in parts:
        for row in target.encode(part, frozenset(), also=(PLACE,)).collect():
            if row.fault is not None:
                errors[row[PLACE]] = row.fault.asDict()
                continue
            shown = {name: row[name] for name in _SHOWN if name not in ("headers", "offset")}
            shown |= {name: text_of(row[name]) for name in ("key", "value")}
            records[row[PLACE]].append(shown | {"headers": _headers(row)})
    return Step("converters", None, records, errors)


def _through(stages: Sequence[Stage], typed: Typed) -> Iterator[Typed]:
    for branch in Chain(stages).compile(typed.key_schema, typed.value_schema):
        yield Typed(branch.apply(typed.frame), branch.key_schema, branch.value_schema)


def _shown(row: Row, part: Typed) -> dict[str, Any]:
    shown: dict[str, Any] = {name: row[name] for name in _SHOWN if name != "headers"}
    for name, schema in (("key", part.key_schema), ("value", part.value_schema)):
        document = None if row[name] is None else json.loads(row[name])
        if schema is not None and document is not None and "schema" in document:
            shown[name], shown[f"{name}_schema"] = document["payload"], document["schema"]
        else:
            shown[name], shown[f"{name}_schema"] = document, None
    shown["headers"] = _headers(row)
    return shown


def _headers(row: Row) -> list[dict[str, Any]]:
    return [{"key": each["key"], "value": text_of(each["value"])} for each in row.headers or ()]


def text_of(raw: bytes | bytearray | None) -> Any:
    """Bytes as text if they are UTF-8, else as {"base64": …}."""
    if raw is None:
        return None
    try:
        return bytes(raw).decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}
