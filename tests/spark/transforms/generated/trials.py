"""Random trials from a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from random import Random
from typing import Any, Final

from penstock.kernel.data.schema import Schema, SchemaType
from tests.spark.converters.generate import DOUBLES, NAMES, Generator
from tests.spark.transforms.generated.configs import (
    HEADERS,
    SHAPES,
    TOPICS,
    Draw,
    Shape,
    made_names,
    predicate_config,
)
from tests.spark.transforms.generated.trial import Plugin, Record, Stage, Trial

RECORDS: Final = 20
#: How many trials have further stages after the first one.
_CHAINS: Final = 0.25
_FINITE: Final = tuple(each for each in DOUBLES if abs(each) < float("inf"))
_TIMES: Final = (0, 1, 1_700_000_000_123, 1_709_251_199_999, 4_102_444_800_000)
# JSON texts too, so that every header converter can read them.
_HEADER_VALUES: Final = (None, b"7", b"[1,2]", b"true", b'"x"', '{"ü":1}'.encode())
_JSON: Final = "org.apache.kafka.connect.json.JsonConverter"
_HEADER_CONVERTERS: Final = (
    Plugin("org.apache.kafka.connect.storage.SimpleHeaderConverter", {}),
    Plugin(_JSON, {"converter.type": "header", "schemas.enable": "false"}),
)


def transforms(only: str = "") -> list[str]:
    """Kafka Connect's transformations by their names; `only`: those that begin so."""
    names = [
        f"{name}{side}"
        for name, shape in SHAPES.items()
        for side in (("$Key", "$Value") if shape.sides else ("",))
    ]
    return [name for name in names if name.startswith(only)]


def trials(seed: int, names: Sequence[str]) -> Iterator[Trial]:
    """Trials without end, the transformations in turn."""
    for number in count():
        yield trial(seed, number, names[number % len(names)])


def trial(seed: int, number: int, name: str) -> Trial:
    return _Maker(Random(f"{seed} {number} {name}"), name).trial(seed, number)


def _shape(name: str) -> Shape:
    return SHAPES[name.partition("$")[0]]


class _Maker:
    """Makes the one trial of a source of randomness."""

    def __init__(self, random: Random, name: str) -> None:
        self._random = random
        self._name = name
        self._shape = _shape(name)
        self._data = Generator(
            random.getrandbits(32),
            bad_nulls=0.05 if random.random() < 0.1 else 0.0,
            texts=self._shape.texts,
        )

    def trial(self, seed: int, number: int) -> Trial:
        pick = self._random
        key_schema, value_schema = self._schemas()
        keys = [self._value(key_schema) for _ in range(RECORDS)]
        values = [self._value(value_schema) for _ in range(RECORDS)]
        data = {True: (key_schema, keys), False: (value_schema, values)}
        names = [self._name, *self._further()]
        stages: list[Stage] = []
        for name in names:
            draw = Draw(pick, *data[name.endswith("$Key")], chained=len(names) > 1)
            for stage in stages:
                draw.names += made_names(stage.transform.config)
            stages.append(self._stage(name, draw))
        sink = pick.random() < 0.6
        return Trial(
            seed,
            number,
            stages=tuple(stages),
            header_converter=pick.choice(_HEADER_CONVERTERS),
            key_schema=key_schema,
            value_schema=value_schema,
            records=tuple(self._record(*pair, sink) for pair in zip(keys, values, strict=True)),
        )

    def _further(self) -> list[str]:
        """The stages after the first one, mostly of the same side."""
        pick = self._random
        if pick.random() >= _CHAINS:
            return []
        other = "$Value" if self._on_key else "$Key"
        same = [name for name in transforms() if not name.endswith(other)]
        return [
            pick.choice(same if pick.random() < 0.8 else transforms())
            for _ in range(pick.randrange(1, 3))
        ]

    def _stage(self, name: str, draw: Draw) -> Stage:
        pick = self._random
        config = _shape(name).config(draw)
        guarded = pick.random() < (0.9 if name == "Filter" else 0.4 if draw.chained else 0.15)
        return Stage(
            Plugin(name, config),
            Plugin(*predicate_config(pick)) if guarded else None,
            negate=pick.random() < 0.5,
        )

    @property
    def _on_key(self) -> bool:
        return self._name.endswith("$Key")

    def _schemas(self) -> tuple[Schema | None, Schema | None]:
        main, other = self._main_schema(), self._other_schema()
        return (main, other) if self._on_key else (other, main)

    def _main_schema(self) -> Schema | None:
        choice = self._random.random()
        if choice < 0.25:
            return None
        schema = self._data.schema(2)
        while choice < 0.85 and schema.type is not SchemaType.STRUCT:
            schema = self._data.schema(2)
        return schema

    def _other_schema(self) -> Schema | None:
        return None if self._random.random() < 0.4 else self._data.schema(1)

    def _value(self, schema: Schema | None) -> Any:
        if self._random.random() < 0.08:
            return None
        return self._bare(3, top=True) if schema is None else self._data.value(schema)

    def _bare(self, depth: int, *, top: bool = False) -> Any:
        """Data without a schema, as JSON has it."""
        pick = self._random
        choice = pick.random()
        if depth and (choice < 0.3 or (top and choice < 0.85)):
            names = pick.sample(NAMES, pick.randrange(6))
            return {name: self._bare(depth - 1) for name in names}
        if depth and choice < 0.4:
            return [self._bare(depth - 1) for _ in range(pick.randrange(4))]
        whole = pick.choice((0, -1, 7, 127, 128, 2**31, 2**63 - 1, -(2**63)))
        text = pick.choice(self._shape.texts)
        return pick.choice((None, whole, pick.choice(_FINITE), text, text, pick.random() < 0.5))

    def _record(self, key: Any, value: Any, sink: bool) -> Record:
        pick = self._random
        timestamp = pick.choice((*_TIMES, pick.randrange(2**42)))
        return Record(
            topic=pick.choice(TOPICS),
            partition=pick.randrange(9) if sink or pick.random() < 0.5 else None,
            offset=pick.choice((0, 42, 2**62)) if sink else None,
            timestamp=None if pick.random() < 0.1 else timestamp,
            key=key,
            value=value,
            headers=tuple(
                (pick.choice(HEADERS), pick.choice(_HEADER_VALUES))
                for _ in range(pick.choice((0, 1, 2, 4)))
            ),
        )
