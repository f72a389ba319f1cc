"""Settings for each transformation that fit the data they are for, mostly.

A transformation is tested as soon as it stands in SHAPES and there is a class for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from penstock.kernel.data.schema import DATE, TIME, TIMESTAMP, Schema, SchemaType
from tests.spark.converters.generate import TEXTS
from tests.spark.converters.header_texts import HEADER_TEXTS

Config = dict[str, str]

TOPICS: Final = ("orders", "orders-eu", "a.b_c-1", "prod.db.orders", "x", "2024")
HEADERS: Final = ("a", "b", "trace id", "ü", "A")


class Draw:
    """Random choices for one trial, from the names that its data has and some that it has not.

    `chained`: there is more than one stage, so that what one does differently on purpose would show
    in all that the others make of it.
    """

    def __init__(
        self,
        random: Random,
        schema: Schema | None,
        values: Sequence[Any],
        *,
        chained: bool = False,
    ) -> None:
        self.random = random
        self.chained = chained
        self.schema = schema
        self.names = _names(schema, values)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def name(self, *, missing: float = 0.1) -> str:
        """A field of the data; one that it has not now and then."""
        return self.one("missing") if self.chance(missing) else self.one(*self.names)

    def some(self, *, missing: float = 0.05, most: int = 3) -> list[str]:
        """A few different fields."""
        count = self.random.randrange(1, most + 1)
        return list(dict.fromkeys(self.name(missing=missing) for _ in range(count)))

    def kind(self, name: str) -> Schema | None:
        field = self.schema.field(name) if self.schema is not None else None
        return None if field is None else field.schema

    def null_or_default(self) -> Config:
        if self.chance(0.5):
            return {}
        return {"replace.null.with.default": self.one("true", "false")}


def _names(schema: Schema | None, values: Sequence[Any]) -> list[str]:
    if schema is not None:
        return [field.name for field in schema.fields] or ["a"]
    maps = (value for value in values if isinstance(value, dict))
    return list(dict.fromkeys(name for value in maps for name in value)) or ["a"]


def made_names(config: Mapping[str, str]) -> list[str]:
    """The names that fields may get by these settings."""
    names = [text.rstrip("?!") for key, text in config.items() if key.endswith("field")]
    return names + [pair.partition(":")[2] for pair in config.get("renames", "").split(",") if pair]


def _insert_field(draw: Draw) -> Config:
    config: Config = {}
    for key in ("topic", "partition", "offset", "timestamp", "static"):
        if draw.chance(0.15 if key == "offset" else 0.4):
            new = draw.name() if draw.chance(0.15) else f"new {key}"
            config[f"{key}.field"] = new + draw.one("", "?", "!")
    if not config or "static.field" in config:
        config |= {"static.field": config.get("static.field", "s"), "static.value": "tex,t ü"}
    return config | draw.null_or_default()


def _replace_field(draw: Draw) -> Config:
    config: Config = {}
    if draw.chance(0.4):
        config["exclude"] = ",".join(draw.some())
    if draw.chance(0.4):
        config["include"] = ",".join(draw.some(most=4))
    if draw.chance(0.5):
        config["renames"] = ",".join(f"{old}:{_new_name(draw, old)}" for old in draw.some())
    return config | draw.null_or_default()


def _new_name(draw: Draw, old: str) -> str:
    own = f"{old}2"
    return own if draw.chained else draw.one("new", "ü", draw.name(), own)


def _regex_router(draw: Draw) -> Config:
    patterns = (".*", "(.*)", "orders(-.*)?", "(.*)-(.*)", "(?<n>[a-z]+).*", "x", "", "(a)|(b)")
    targets = ("new", "$1", "new_$1", "$2-$1", "$0", "${n}", "", "a\\$b", "$9", "$", "t\\")
    return {"regex": draw.one(*patterns), "replacement": draw.one(*targets)}


_CAST_TYPES: Final = (
    "int8",
    "int16",
    "int32",
    "int64",
    "float32",
    "float64",
    "boolean",
    "string",
)


def _cast(draw: Draw) -> Config:
    def target() -> str:
        return draw.one(*_CAST_TYPES) if draw.chance(0.95) else draw.one("bytes", "array", "x")

    is_struct = draw.schema is None or draw.schema.type is SchemaType.STRUCT
    if not is_struct or draw.chance(0.1):
        spec = target()
    else:
        spec = ",".join(f"{name}:{target()}" for name in draw.some(most=4))
    return {"spec": spec} | draw.null_or_default()


def _extract_field(draw: Draw) -> Config:
    config = {"field": draw.name()}
    if draw.chance(0.4):
        config = {"field.syntax.version": draw.one("V1", "V2"), "field": _path(draw)}
    return config | draw.null_or_default()


def _path(draw: Draw) -> str:
    """A path into the data, in the form that field.syntax.version=V2 reads."""
    name = draw.name()
    steps = [name]
    schema = draw.kind(name)
    while schema is not None and schema.fields and draw.chance(0.8):
        field = draw.random.choice(schema.fields)
        steps.append(field.name)
        schema = field.schema
    quoted = [f"`{step}`" if "." in step else step for step in steps]
    return ".".join(quoted) + (".more" if draw.chance(0.1) else "")


def _flatten(draw: Draw) -> Config:
    return {"delimiter": draw.one("_", ".", "", "ü🚀")} if draw.chance(0.6) else {}


def _hoist_field(draw: Draw) -> Config:
    return {"field": draw.one("a", "magic", "with space", "ü")}


def _mask_field(draw: Draw) -> Config:
    config = {"fields": ",".join(draw.some())}
    if draw.chance(0.4):
        texts = ("***", "7", "-1.5", "300", "99999999999", "true", "ü", "1e3", "")
        config["replacement"] = draw.one(*texts)
    return config | draw.null_or_default()


def _set_schema_metadata(draw: Draw) -> Config:
    config: Config = {}
    if draw.chance(0.7):
        config["schema.name"] = draw.one("com.acme.New", "x", "ü")
    if draw.chance(0.5):
        config["schema.version"] = draw.one("1", "7", "-3")
    return config | draw.null_or_default()


_FORMATS: Final = (
    "yyyy-MM-dd",
    "yyyy-MM-dd HH:mm:ss.SSS",
    "yyyy-MM-dd'T'HH:mm:ss.SSSX",
    "EEE, d MMM yyyy HH:mm:ss Z",
    "HH:mm:ss",
    "yyMMdd",
    "D/yyyy",
    "hh:mm a",
    "yyyyMMddHH",
)
_MOMENTS: Final = (
    "2024-02-29",
    "1970-01-01",
    "1969-12-31",
    "1500-02-29",
    "2024-02-30",
    "0001-01-01",
    "2024-02-29 23:59:59.999",
    "2024-2-9 1:2:3.4",
    "2024-02-29T23:59:59.999Z",
    "2024-02-29T23:59:59.999+02",
    "Thu, 29 Feb 2024 23:59:59 +0100",
    "23:59:59",
    "240229",
    "60/2024",
    "11:59 PM",
    "2024022923",
    "",
    "no date",
)


def _timestamp_converter(draw: Draw) -> Config:
    targets = ("string", "unix", "Date", "Time", "Timestamp")
    config = {"target.type": draw.one(*targets) if draw.chance(0.97) else "x"}
    needs_format = config["target.type"] == "string" or draw.chance(0.6)
    if needs_format and draw.chance(0.97):
        config["format"] = draw.one(*_FORMATS)
    if draw.chance(0.4):
        precisions = ("seconds", "milliseconds", "microseconds", "nanoseconds")
        config["unix.precision"] = draw.one(*precisions)
    is_struct = draw.schema is not None and draw.schema.type is SchemaType.STRUCT
    if is_struct or (draw.schema is None and draw.chance(0.8)):
        config["field"] = _moment_field(draw)
    return config | draw.null_or_default()


def _moment_field(draw: Draw) -> str:
    def suits(schema: Schema | None) -> bool:
        kinds = (SchemaType.STRING, SchemaType.INT64)
        return schema is None or schema.name in (DATE, TIME, TIMESTAMP) or schema.type in kinds

    suiting = [name for name in draw.names if suits(draw.kind(name))]
    return draw.one(*suiting) if suiting and draw.chance(0.8) else draw.name()


def _timestamp_router(draw: Draw) -> Config:
    config: Config = {}
    if draw.chance(0.6):
        forms = ("${topic}", "${timestamp}", "${topic}_${timestamp}", "a$1", "${topic}${topic}")
        config["topic.format"] = draw.one(*forms)
    if draw.chance(0.6):
        config["timestamp.format"] = draw.one(*_FORMATS)
    return config


def _value_to_key(draw: Draw) -> Config:
    return {"fields": ",".join(draw.some(missing=0.04))} | draw.null_or_default()


def _header_from(draw: Draw) -> Config:
    fields = draw.some(missing=0.04)
    headers = [draw.one(*HEADERS, "new") for _ in fields]
    if draw.chance(0.03):
        headers.append("surplus")
    operation = draw.one("move", "copy") if draw.chance(0.97) else "x"
    names = {"fields": ",".join(fields), "headers": ",".join(headers)}
    return names | {"operation": operation} | draw.null_or_default()


def _insert_header(draw: Draw) -> Config:
    return {"header": draw.one(*HEADERS, "new"), "value.literal": draw.one(*HEADER_TEXTS)}


def _drop_headers(draw: Draw) -> Config:
    count = draw.random.randrange(1, 4)
    return {"headers": ",".join(draw.random.sample((*HEADERS, "none"), count))}


def _filter(draw: Draw) -> Config:
    del draw
    return {}


@dataclass(frozen=True, slots=True)
class Shape:
    """How trials of one transformation are made.

    `sides`: whether it has one class for keys and one for values. `texts`: strings worth trying.
    """

    config: Callable[[Draw], Config]
    sides: bool = True
    texts: Sequence[str] = TEXTS


_NUMBER_TEXTS: Final = (
    *TEXTS,
    *(
        "0",
        "-0",
        "+7",
        " 12",
        "127",
        "128",
        "-32769",
        "1.5",
        "1e3",
        "0x1A",
        "1_000",
        "\uff11\uff12",
    ),
    *("2147483648", "9223372036854775807", "9223372036854775808", "1.7976931348623159e308"),
    *("Infinity", "-Infinity", "TRUE", "yes", "1f", "1d", "5e-324", ".5", "5.", "1e400"),
)

SHAPES: Final[Mapping[str, Shape]] = {
    "Cast": Shape(_cast, texts=_NUMBER_TEXTS),
    "DropHeaders": Shape(_drop_headers, sides=False),
    "ExtractField": Shape(_extract_field),
    "Filter": Shape(_filter, sides=False),
    "Flatten": Shape(_flatten),
    "HeaderFrom": Shape(_header_from),
    "HoistField": Shape(_hoist_field),
    "InsertField": Shape(_insert_field),
    "InsertHeader": Shape(_insert_header, sides=False),
    "MaskField": Shape(_mask_field),
    "RegexRouter": Shape(_regex_router, sides=False),
    "ReplaceField": Shape(_replace_field),
    "SetSchemaMetadata": Shape(_set_schema_metadata),
    "TimestampConverter": Shape(_timestamp_converter, texts=_MOMENTS),
    "TimestampRouter": Shape(_timestamp_router, sides=False),
    "ValueToKey": Shape(_value_to_key, sides=False),
}


def predicate_config(random: Random) -> tuple[str, Config]:
    """A predicate with settings."""
    patterns = ("orders.*", "x", "[a-z.]+")
    choices: tuple[tuple[str, Config], ...] = (
        ("predicates.RecordIsTombstone", {}),
        ("predicates.HasHeaderKey", {"name": random.choice(HEADERS)}),
        ("predicates.TopicNameMatches", {"pattern": random.choice(patterns)}),
    )
    return random.choice(choices)
