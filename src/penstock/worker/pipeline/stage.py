"""One transformation of a connector, with the predicate that guards it, as steps over a frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.api.envelope import Envelope, Member, Opened, Part
from penstock.api.plugin import Side
from penstock.api.transform import (
    ColumnPredicate,
    ColumnTransformation,
    RecordPredicate,
    RecordTransformation,
    Schemas,
)
from penstock.columns.faults import fail
from penstock.columns.opened import closed, without_opened
from penstock.columns.record_kernel import HOLDS
from penstock.columns.types import spark_type
from penstock.kernel.data.schema import Schema
from penstock.kernel.errors import DataError, PluginError
from penstock.kernel.retries import Retries
from penstock.worker.pipeline.faults import fault_of
from penstock.worker.pipeline.record_step import AskRecords, MapRecords

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from penstock.api.converter import HeaderConverter

STAGE_NAME: Final = "TRANSFORMATION"


@dataclass(frozen=True, slots=True)
class Select:
    """Replaces columns; all others stay. `by`: the plugin that made them, or None."""

    columns: Mapping[str, Column]
    by: str | None = None

    def apply(self, frame: DataFrame) -> DataFrame:
        return frame.withColumns(dict(self.columns))


@dataclass(frozen=True, slots=True)
class Keep:
    """Filters rows. `by`: the plugin that made the condition."""

    condition: Column
    by: str

    def apply(self, frame: DataFrame) -> DataFrame:
        return frame.filter(self.condition)


@dataclass(frozen=True, slots=True)
class Drop:
    """Drops columns."""

    columns: tuple[str, ...]

    def apply(self, frame: DataFrame) -> DataFrame:
        return frame.drop(*self.columns)


Step = Select | Keep | Drop | MapRecords | AskRecords


@dataclass(frozen=True, slots=True)
class OpenedMaps:
    """Which of key and value are opened maps (columns/opened.py).

    `columns`: the columns of the frame that hold their members.
    """

    maps: Mapping[Side, Opened] = field(default_factory=dict)
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """Some steps, and the schemas of the rows that come out of them."""

    steps: tuple[Step, ...]
    key_schema: Schema | None
    value_schema: Schema | None
    opened: OpenedMaps = OpenedMaps()

    @property
    def schemas(self) -> Schemas:
        return self.key_schema, self.value_schema

    def then(self, *steps: Step) -> Path:
        return replace(self, steps=(*self.steps, *steps))

    def closed(self, *sides: Side) -> Path:
        """The path after opened maps were closed: those of these sides, or all."""
        maps = dict(self.opened.maps)
        closing = [side for side in sides or Side if maps.pop(side, None) is not None]
        columns = {str(side): closed(_part(self, side)).column for side in closing}
        steps: list[Step] = [Select(columns)] if columns else []
        if maps:
            return replace(self.then(*steps), opened=replace(self.opened, maps=maps))
        if self.opened.columns:
            steps.append(Drop(self.opened.columns))
        return replace(self.then(*steps), opened=OpenedMaps())


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One result of a transformation: the schemas of its records, and its steps for the rows for
    which a column is true (None: for all rows).
    """

    schemas: Schemas
    opened: OpenedMaps
    steps: Callable[[Column | None], list[Step]]

    def after(self, path: Path) -> Path:
        """The path if all rows get this result."""
        return Path((*path.steps, *self.steps(None)), *self.schemas, self.opened)


@dataclass(frozen=True, slots=True)
class Guard:
    """The predicate of a stage."""

    alias: str
    predicate: ColumnPredicate | RecordPredicate
    negate: bool

    def column(self, envelope: Envelope) -> Column:
        if isinstance(self.predicate, ColumnPredicate):
            column = self.predicate.column(envelope)
        else:
            column = F.col(HOLDS)
        return ~column if self.negate else column

    def __str__(self) -> str:
        return f"predicates.{self.alias} ({self.predicate.class_name()})"


@dataclass(frozen=True, slots=True)
class Stage:
    """A transformation under the alias the configuration gives it."""

    alias: str
    transformation: ColumnTransformation | RecordTransformation
    header_converter: HeaderConverter
    retries: Retries
    guard: Guard | None = None

    @property
    def checked_key(self) -> str:
        """The configuration key that errors of the transformation are reported for."""
        return f"transforms.{self.alias}.{self.transformation.checked_key or 'type'}"

    def extend(self, path: Path, *, strict: bool = False) -> tuple[Path, ...]:
        """The path after this stage, or several: one for each outcome.

        Raises:
            DataError: `strict`, and no row of the path's schemas can pass; if not strict, each row
                gets a fault.
        """
        predicate = None if self.guard is None else self.guard.predicate
        if not isinstance(predicate, RecordPredicate):
            return self._extend(path, strict=strict)
        path = path.closed()
        ask = AskRecords.of(predicate, self.header_converter, path.schemas, self.retries)
        asked = path.then(ask)
        return tuple(after.then(Drop((HOLDS,))) for after in self._extend(asked, strict=strict))

    def _extend(self, path: Path, *, strict: bool) -> tuple[Path, ...]:
        if self.guard is not None or isinstance(self.transformation, RecordTransformation):
            path = path.closed()
        before = _in_flight(path, self.header_converter)
        outcomes = self._outcomes(before, path, strict=strict)
        if self.guard is None:
            return tuple(outcome.after(path) for outcome in outcomes)
        holds = self.guard.column(before)
        if len(outcomes) == 1 and outcomes[0].schemas == path.schemas:
            return (path.then(*outcomes[0].steps(holds)),)
        guarded, others = Keep(holds, str(self.guard)), Keep(~holds, str(self.guard))
        return (*(outcome.after(path.then(guarded)) for outcome in outcomes), path.then(others))

    def _outcomes(self, before: Envelope, path: Path, *, strict: bool) -> list[_Outcome]:
        try:
            if isinstance(self.transformation, RecordTransformation):
                return [self._through_records(self.transformation, path.schemas)]
            given = before if self.transformation.takes_opened else without_opened(before)
            outputs = self.transformation.columns(given)
        except DataError as error:
            if strict:
                raise
            given = without_opened(before)
            outputs = self._tombstones(given, str(error))
        envelopes = _envelopes(self.transformation.class_name(), outputs)
        return [
            self._outcome(path, before, _untouched(before, given, after)) for after in envelopes
        ]

    def _tombstones(self, given: Envelope, error: str) -> Sequence[Envelope]:
        """Rows with a value get the error; those without may pass."""
        all_faulty = given.replace(fault=F.lit(error))
        if given.value.schema is not None or isinstance(self.transformation, RecordTransformation):
            return [all_faulty]
        try:
            outputs = self.transformation.tombstones(given)
        except DataError:
            return [all_faulty]
        envelopes = _envelopes(self.transformation.class_name(), outputs)
        no_value = F.is_variant_null(given.value.column)
        has_value = given.value.column.isNotNull() & ~F.coalesce(no_value, F.lit(False))
        return [fail(each, has_value, error) for each in envelopes]

    def _outcome(self, path: Path, before: Envelope, after: Envelope) -> _Outcome:
        # Rows that the guard excludes keep their maps closed, so the others must too.
        ending = after if self.guard is None else without_opened(after)
        # The number of steps only grows, so no other stage uses these names.
        members = _Members(path.opened, f"member_{len(path.steps)}")
        key, value = members.named(Side.KEY, ending.key), members.named(Side.VALUE, ending.value)
        return _Outcome(
            (key.schema, value.schema),
            members.opened,
            partial(self._steps, before, ending.replace(key=key, value=value), members.new),
        )

    def _through_records(self, transformation: RecordTransformation, given: Schemas) -> _Outcome:
        schemas = _declared(transformation, given)

        def steps(holds: Column | None) -> list[Step]:
            shared = self.header_converter, given, schemas, holds, self.retries
            return [MapRecords.of(transformation, *shared)]

        return _Outcome(schemas, OpenedMaps(), steps)

    def _steps(
        self,
        before: Envelope,
        after: Envelope,
        members: Mapping[str, Column],
        holds: Column | None,
    ) -> list[Step]:
        """From the columns of one envelope to those of the other, where `holds` is true.

        `members`: new columns that the other envelope refers to.
        """

        def only(new: Column, old: Column) -> Column:
            return new if holds is None else F.when(holds, new).otherwise(old)

        changes = {
            name: only(column(after), column(before))
            for name, column in _COLUMNS.items()
            if column(after) is not column(before)
        } | dict(members)
        steps: list[Step] = []
        by = f"transforms.{self.alias} ({self.transformation.class_name()})"
        if holds is not None:
            by = f"{by} with {self.guard}"
        fault = F.col("fault")
        if after.fault is not before.fault:
            found = fault_of(STAGE_NAME, self.transformation.class_name(), after.fault)
            fault = F.coalesce(fault, found if holds is None else F.when(holds, found))
            changes["fault"] = fault
        if after.keep is not None:
            # A faulty row is never dropped, because its fault must be reported.
            steps.append(Keep(only(after.keep, F.lit(True)) | fault.isNotNull(), by))
        if changes:
            steps.append(Select(changes, by))
        return steps

    def __str__(self) -> str:
        text = f"{self.alias}: {self.transformation.class_name()}"
        if self.guard is None:
            return text
        return f"{text} {'unless' if self.guard.negate else 'if'} {self.guard.alias}"


_COLUMNS: Final[Mapping[str, Callable[[Envelope], Column]]] = {
    "topic": lambda envelope: envelope.topic,
    "partition": lambda envelope: envelope.partition,
    "offset": lambda envelope: envelope.offset,
    "timestamp": lambda envelope: envelope.timestamp,
    "key": lambda envelope: envelope.key.column,
    "value": lambda envelope: envelope.value.column,
    "headers": lambda envelope: envelope.headers,
}


class _Members:
    """Gives each new member of opened maps a column of the frame.

    Attributes:
        new: these columns.
    """

    def __init__(self, before: OpenedMaps, prefix: str) -> None:
        self.new: dict[str, Column] = {}
        self._before = before
        self._prefix = prefix
        self._maps: dict[Side, Opened] = {}

    @property
    def opened(self) -> OpenedMaps:
        """The maps passed to named(), and all columns of the frame for members."""
        return OpenedMaps(self._maps, (*self._before.columns, *self.new))

    def named(self, side: Side, part: Part) -> Part:
        """The part, with each member as a column of the frame."""
        if part.opened is None:
            return part
        members = {name: each and self._named(each) for name, each in part.opened.members.items()}
        self._maps[side] = Opened(members)
        return replace(part, opened=self._maps[side])

    def _named(self, member: Member) -> Member:
        if any(member.column is known for known in self._known()):
            return member
        name = f"{self._prefix}_{len(self.new)}"
        self.new[name] = member.column
        return replace(member, column=F.col(name))

    def _known(self) -> Iterator[Column]:
        for opened in self._before.maps.values():
            for member in opened.members.values():
                if member is not None:
                    yield member.column


def _envelopes(name: str, outputs: object) -> list[Envelope]:
    found = outputs if isinstance(outputs, list | tuple) else [outputs]
    for each in found:
        if not isinstance(each, Envelope):
            given = type(each).__qualname__
            raise PluginError(f"{name}: columns() must return an Envelope, not a {given}")
    return list(found)


def _untouched(before: Envelope, given: Envelope, after: Envelope) -> Envelope:
    """The envelope, with the earlier parts in place of those that it did not change."""
    key = before.key if after.key is given.key else after.key
    value = before.value if after.value is given.value else after.value
    return after.replace(key=key, value=value)


def _declared(transformation: RecordTransformation, given: Schemas) -> Schemas:
    """The checked result of schemas().

    Raises:
        DataError: no record of the given schemas can be transformed.
        PluginError: schemas() fails, or does not return two schemas.
    """
    name = transformation.class_name()
    try:
        found: object = transformation.schemas(*given)
    except DataError:
        raise
    except Exception as error:
        text = f"{name}: schemas() failed with {type(error).__qualname__}: {error}"
        raise PluginError(text) from error
    match found:
        case (Schema() | None as key, Schema() | None as value):
            for schema in (key, value):
                spark_type(schema)
            return key, value
    raise PluginError(
        f"{name}: schemas() must return the schemas of key and value, each a Schema or None,"
        f" not {found!r}"
    )


def _part(path: Path, side: Side) -> Part:
    schema = path.key_schema if side is Side.KEY else path.value_schema
    return Part(F.col(side), schema, path.opened.maps.get(side))


def _in_flight(path: Path, header_converter: HeaderConverter) -> Envelope:
    """The columns by their names; a stage sees only its own faults."""
    return Envelope(
        topic=F.col("topic"),
        partition=F.col("partition"),
        offset=F.col("offset"),
        timestamp=F.col("timestamp"),
        key=_part(path, Side.KEY),
        value=_part(path, Side.VALUE),
        headers=F.col("headers"),
        header_converter=header_converter,
        fault=F.lit(None).cast("string"),
    )
