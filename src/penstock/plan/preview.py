"""A few records after each step of a chain: what people look at, so what is shown is JSON."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F

from penstock.converters.json.converter import JsonConverter
from penstock.errors import ConfigError, DataError
from penstock.plan.chain import Chain
from penstock.plan.pipeline import SourcePipeline, Typed

if TYPE_CHECKING:
    from pyspark.sql import Column, Row

    from penstock.data.schema import Schema
    from penstock.plan.stage import Stage

PLACE: Final = "preview_place"
_SHOWN: Final = ("topic", "partition", "offset", "timestamp", "headers")


def json_converter(*, schemas: bool) -> JsonConverter:
    config = JsonConverter.Config.parse(
        {"schemas.enable": str(schemas).lower(), "converter.type": "value"}
    )
    return JsonConverter(config, is_key=False)


@dataclass(frozen=True, slots=True)
class Step:
    """What became of the records at one step, by their place: several, one, none or an error."""

    name: str
    plugin: str | None
    records: Mapping[int, Sequence[Mapping[str, Any]]]
    errors: Mapping[int, Mapping[str, str]]


class SteppedChain:
    """A chain that is looked at after each of its stages."""

    def __init__(self, chain: Chain) -> None:
        self._stages = chain.stages
        self._forms = {True: json_converter(schemas=True), False: json_converter(schemas=False)}

    def steps(self, typed: Typed, target: SourcePipeline | None = None) -> Iterator[Step]:
        """The rows as they came, then after each stage; a Spark job for each of these.

        The frame has a column PLACE. At last, for a source, the bytes that its target gets.
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
        story = {"stage": "TRANSFORMATION", "class": plugin, "message": str(error)}
        places = [row[0] for row in typed.frame.select(PLACE).collect()]
        return Step(name, plugin, {}, dict.fromkeys(places, story))

    def _columns(self, part: Typed) -> list[Column]:
        return [
            F.col(PLACE).alias("place"),
            F.col("fault"),
            *map(F.col, _SHOWN),
            self._form(part.key_schema, "key"),
            self._form(part.value_schema, "value"),
        ]

    def _form(self, schema: Schema | None, name: str) -> Column:
        made = self._forms[schema is not None].encode(schema, F.col(name))
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
            told = {name: row[name] for name in _SHOWN if name not in ("headers", "offset")}
            told |= {name: text_of(row[name]) for name in ("key", "value")}
            records[row[PLACE]].append(told | {"headers": _headers(row)})
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
    """Bytes for people: as text if they are text, else as {"base64": …}."""
    if raw is None:
        return None
    try:
        return bytes(raw).decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}
