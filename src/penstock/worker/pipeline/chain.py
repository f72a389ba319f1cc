"""The transformations of a connector, compiled for the schemas of the records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark.errors import AnalysisException

from penstock.api.plugin import Plugin, PluginKind, Side
from penstock.api.transform import (
    ColumnPredicate,
    ColumnTransformation,
    RecordPredicate,
    RecordTransformation,
    Schemas,
)
from penstock.columns.catalyst import words_of
from penstock.columns.remembered import Remembered
from penstock.kernel.config.prefix import under_prefix
from penstock.kernel.config.values import Type, parse_value
from penstock.kernel.errors import ConfigError, DataError, PluginError
from penstock.kernel.retries import Retries
from penstock.worker.pipeline.record_step import AskRecords, MapRecords
from penstock.worker.pipeline.stage import (
    Drop,
    Guard,
    Keep,
    OpenedMaps,
    Path,
    Select,
    Stage,
    Step,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from penstock.api.converter import HeaderConverter
    from penstock.kernel.data.schema import Schema

PluginLoader = Callable[[str, PluginKind], type[Plugin]]
"""Returns the class for a name in a configuration."""

HEADER_CONVERTER: Final = "header.converter"
_DEFAULT_HEADER_CONVERTER: Final = "org.apache.kafka.connect.storage.SimpleHeaderConverter"


@dataclass(frozen=True, slots=True)
class Branch:
    """Steps for the rows of one outcome; each row takes exactly one branch of a chain.

    The columns are expressions over names, so one branch works for any number of frames.
    """

    steps: tuple[Step, ...]
    key_schema: Schema | None
    value_schema: Schema | None
    opened: OpenedMaps

    def apply(self, frame: DataFrame) -> DataFrame:
        """The rows that take this branch, transformed. Other columns of the frame stay."""
        for step in self.steps:
            frame = _applied(step, frame)
        return frame


def _applied(step: Step, frame: DataFrame) -> DataFrame:
    try:
        return step.apply(frame)
    except AnalysisException as error:
        by = step.by if isinstance(step, Select | Keep) else None
        if by is None:
            raise
        # Without Spark's error as its cause: that contains the whole plan.
        raise PluginError(f"{by} returned an invalid column: {words_of(error)}") from None


class Chain:
    """The stages of one connector. Threads may share it."""

    def __init__(self, stages: Sequence[Stage] = ()) -> None:
        self._stages = tuple(stages)
        self._branches: Remembered[tuple[Branch, ...]] = Remembered()

    @classmethod
    def of(cls, config: Mapping[str, str], load: PluginLoader) -> Chain:
        """Read `transforms`, `predicates` and `header.converter` of a connector's configuration.

        Raises:
            ConfigError: the configuration of a transformation or predicate is missing or wrong.
            NotFoundError or PluginError: there is no such plugin.
        """
        guards = {
            alias: _plugin(config, "predicates", alias, load, PluginKind.PREDICATE)
            for alias in _names(config, "predicates")
        }
        shared = _header_converter(config, load), Retries.of(config)
        return cls(
            [_stage(config, alias, load, guards, *shared) for alias in _names(config, "transforms")]
        )

    @property
    def stages(self) -> tuple[Stage, ...]:
        return self._stages

    def compile(
        self, key_schema: Schema | None, value_schema: Schema | None, *, opened: bool = False
    ) -> tuple[Branch, ...]:
        """The branches for rows of these schemas; the same object for the same schemas.

        `opened`: values without a schema may come out as opened maps (columns/opened.py).
        """
        return self._branches.of(
            (key_schema, value_schema, opened),
            lambda: self._compile(key_schema, value_schema, opened=opened),
        )

    def _compile(
        self, key_schema: Schema | None, value_schema: Schema | None, *, opened: bool
    ) -> tuple[Branch, ...]:
        paths: tuple[Path, ...] = (Path((), key_schema, value_schema),)
        for stage in self._stages:
            paths = tuple(after for path in paths for after in stage.extend(path))
        closing = (Side.KEY,) if opened else (Side.KEY, Side.VALUE)
        ends = [path.closed(*closing) for path in paths]
        return tuple(Branch(end.steps, *end.schemas, end.opened) for end in ends)

    def problems(self, schemas: Callable[[], Iterable[Schemas]]) -> dict[str, str]:
        """Errors of the stages that only Spark detects, by the configuration key to change.

        Args:
            schemas: returns schemas of records to try; called if the stages alone have no error.
        """
        found: dict[str, str] = {}
        for stage in self._stages:
            try:
                stage.transformation.check()
            except ConfigError as error:
                found[stage.checked_key] = str(error)
        for key_schema, value_schema in () if found else schemas():
            found |= self._problems(Path((), key_schema, value_schema))
        return found

    def _problems(self, path: Path) -> dict[str, str]:
        paths: tuple[Path, ...] = (path,)
        for stage in self._stages:
            try:
                paths = tuple(after for path in paths for after in stage.extend(path, strict=True))
            except (ConfigError, DataError, PluginError) as error:
                # Like Connect, check other transformations by their keys alone.
                return {stage.checked_key: str(error)} if stage.transformation.checked_key else {}
        return {}

    def explain(self, key_schema: Schema | None, value_schema: Schema | None) -> str:
        """A readable text of the stages and of what they compile to."""
        lines = [f"stage {number}: {stage}" for number, stage in enumerate(self._stages, 1)]
        for number, branch in enumerate(self.compile(key_schema, value_schema), 1):
            lines.append(
                f"branch {number}: key {_shown(branch.key_schema)},"
                f" value {_shown(branch.value_schema)}"
            )
            lines += [f"  {_described(step)}" for step in branch.steps]
        return "\n".join(lines)


def _stage(
    config: Mapping[str, str],
    alias: str,
    load: PluginLoader,
    guards: Mapping[str, Plugin],
    headers: HeaderConverter,
    retries: Retries,
) -> Stage:
    transformation = _plugin(config, "transforms", alias, load, PluginKind.TRANSFORMATION)
    if not isinstance(transformation, ColumnTransformation | RecordTransformation):
        raise PluginError(f"{transformation.class_name()} is not a transformation")
    prefix = f"transforms.{alias}."
    name = config.get(f"{prefix}predicate")
    negate = parse_value(f"{prefix}negate", config.get(f"{prefix}negate", "false"), Type.BOOLEAN)
    if name is None:
        return Stage(alias, transformation, headers, retries)
    predicate = guards.get(name)
    if not isinstance(predicate, ColumnPredicate | RecordPredicate):
        message = f"transforms.{alias}: Unknown predicate '{name}'; list it in `predicates`"
        raise ConfigError(message, {f"{prefix}predicate": (message,)})
    return Stage(alias, transformation, headers, retries, Guard(name, predicate, negate))


def _plugin(
    config: Mapping[str, str], group: str, alias: str, load: PluginLoader, kind: PluginKind
) -> Plugin:
    prefix = f"{group}.{alias}."
    own = under_prefix(config, prefix)
    if not own.get("type"):
        message = f'Missing required configuration "{prefix}type" which has no default value.'
        raise ConfigError(message, {f"{prefix}type": (message,)})
    plugin: Any = load(own["type"], kind)
    try:
        made: Plugin = plugin(plugin.Config.parse(own))
    except ConfigError as error:
        by_key = {f"{prefix}{key}": messages for key, messages in error.errors.items()}
        raise ConfigError(f"{group}.{alias}: {error}", by_key) from error
    return made


def _header_converter(config: Mapping[str, str], load: PluginLoader) -> HeaderConverter:
    name = config.get(HEADER_CONVERTER) or _DEFAULT_HEADER_CONVERTER
    plugin: Any = load(name, PluginKind.HEADER_CONVERTER)
    own = under_prefix(config, f"{HEADER_CONVERTER}.")
    made: HeaderConverter = plugin(plugin.Config.parse({**own, "converter.type": "header"}))
    return made


def _names(config: Mapping[str, str], key: str) -> list[str]:
    names: list[str] = parse_value(key, config.get(key, ""), Type.LIST)
    return list(dict.fromkeys(names))


def _shown(schema: Schema | None) -> str:
    if schema is None:
        return "without schema"
    fields = ", ".join(field.name for field in schema.fields)
    return (
        f"{schema.type}{f' {schema.name}' if schema.name else ''}{f' ({fields})' if fields else ''}"
    )


def _described(step: Step) -> str:
    match step:
        case Select(columns):
            return f"select {', '.join(columns)}"
        case Keep(condition):
            return f"filter {condition}"
        case MapRecords():
            return f"records through {step.plugin}"
        case AskRecords():
            return f"predicate {step.plugin}"
        case Drop(columns):
            return f"drop {', '.join(columns)}"
