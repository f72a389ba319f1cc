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
from penstock.data.schema import Schema
from penstock.errors import DataError, PluginError
from penstock.plan.faults import fault_of
from penstock.plan.record_step import AskRecords, MapRecords
from penstock.settings.retries import Retries

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from penstock.api.converter import HeaderConverter

STAGE_NAME: Final = "TRANSFORMATION"


@dataclass(frozen=True, slots=True)
class Select:
    """Columns that get new values, all others stay. `by`: the plugin they are from, if one."""

    columns: Mapping[str, Column]
    by: str | None = None

    def apply(self, frame: DataFrame) -> DataFrame:
        return frame.withColumns(dict(self.columns))


@dataclass(frozen=True, slots=True)
class Keep:
    """Rows that go on. `by`: the plugin that says which."""

    condition: Column
    by: str

    def apply(self, frame: DataFrame) -> DataFrame:
        return frame.filter(self.condition)


@dataclass(frozen=True, slots=True)
class Forget:
    """Columns that are gone."""

    columns: tuple[str, ...]

    def apply(self, frame: DataFrame) -> DataFrame:
        return frame.drop(*self.columns)


Step = Select | Keep | Forget | MapRecords | AskRecords


@dataclass(frozen=True, slots=True)
class OpenedMaps:
    """Which of key and value are opened maps (columns/opened.py).

    `columns`: where the frame has their members.
    """

    maps: Mapping[Side, Opened] = field(default_factory=dict)
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """What is known of the rows that come out of some steps."""

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
            steps.append(Forget(self.opened.columns))
        return replace(self.then(*steps), opened=OpenedMaps())


@dataclass(frozen=True, slots=True)
class _Way:
    """What a transformation makes of records: their schemas, and its steps for the rows that a
    column is true for (None: for all).
    """

    schemas: Schemas
    opened: OpenedMaps
    steps: Callable[[Column | None], list[Step]]

    def after(self, path: Path) -> Path:
        """The path after all rows went this way."""
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
        """The key that problems with the transformation are about."""
        return f"transforms.{self.alias}.{self.transformation.checked_key or 'type'}"

    def extend(self, path: Path, *, strict: bool = False) -> tuple[Path, ...]:
        """The path after this stage, or paths: one for each way that some rows take alone.

        Raises:
            DataError: if `strict`, when no row of the path's schemas can pass; else each such row
                gets a fault.
        """
        predicate = None if self.guard is None else self.guard.predicate
        if not isinstance(predicate, RecordPredicate):
            return self._extend(path, strict=strict)
        path = path.closed()
        ask = AskRecords.of(predicate, self.header_converter, path.schemas, self.retries)
        asked = path.then(ask)
        return tuple(after.then(Forget((HOLDS,))) for after in self._extend(asked, strict=strict))

    def _extend(self, path: Path, *, strict: bool) -> tuple[Path, ...]:
        if self.guard is not None or isinstance(self.transformation, RecordTransformation):
            path = path.closed()
        before = _in_flight(path, self.header_converter)
        ways = self._ways(before, path, strict=strict)
        if self.guard is None:
            return tuple(way.after(path) for way in ways)
        holds = self.guard.column(before)
        if len(ways) == 1 and ways[0].schemas == path.schemas:
            return (path.then(*ways[0].steps(holds)),)
        guarded, others = Keep(holds, str(self.guard)), Keep(~holds, str(self.guard))
        return (*(way.after(path.then(guarded)) for way in ways), path.then(others))

    def _ways(self, before: Envelope, path: Path, *, strict: bool) -> list[_Way]:
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
        return [self._way(path, before, _untouched(before, given, after)) for after in envelopes]

    def _tombstones(self, given: Envelope, error: str) -> Sequence[Envelope]:
        """Rows with a value get the error; those without may have a way."""
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

    def _way(self, path: Path, before: Envelope, after: Envelope) -> _Way:
        # Rows that the guard leaves out stay as they are, so the others take their form.
        ending = after if self.guard is None else without_opened(after)
        # Steps only grow in number, so no other stage gives columns these names.
        members = _Members(path.opened, f"member_{len(path.steps)}")
        key, value = members.named(Side.KEY, ending.key), members.named(Side.VALUE, ending.value)
        return _Way(
            (key.schema, value.schema),
            members.opened,
            partial(self._steps, before, ending.replace(key=key, value=value), members.new),
        )

    def _through_records(self, transformation: RecordTransformation, given: Schemas) -> _Way:
        schemas = _declared(transformation, given)

        def steps(holds: Column | None) -> list[Step]:
            shared = self.header_converter, given, schemas, holds, self.retries
            return [MapRecords.of(transformation, *shared)]

        return _Way(schemas, OpenedMaps(), steps)

    def _steps(
        self,
        before: Envelope,
        after: Envelope,
        members: Mapping[str, Column],
        holds: Column | None,
    ) -> list[Step]:
        """From the columns of one envelope to those of the other, where `holds` is true.

        `members`: new columns that the other envelope speaks of.
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
            # What is wrong with a row must be told, so a faulty row is never dropped.
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
        """The maps that were named, and all columns that the frame has for members."""
        return OpenedMaps(self._maps, (*self._before.columns, *self.new))

    def named(self, side: Side, part: Part) -> Part:
        """The part with members that are nothing but columns."""
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
            raise PluginError(f"{name}: columns() gave a {type(each).__qualname__}, no Envelope")
    return list(found)


def _untouched(before: Envelope, given: Envelope, after: Envelope) -> Envelope:
    """The envelope with the parts from before where it has what it was given."""
    key = before.key if after.key is given.key else after.key
    value = before.value if after.value is given.value else after.value
    return after.replace(key=key, value=value)


def _declared(transformation: RecordTransformation, given: Schemas) -> Schemas:
    """What schemas() gives, checked.

    Raises:
        DataError: no record of the given schemas can be transformed.
        PluginError: it fails, or does not give two schemas.
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
        f"{name}: schemas() must give the schemas of key and value, each a Schema or None, and"
        f" gave {found!r}"
    )


def _part(path: Path, side: Side) -> Part:
    schema = path.key_schema if side is Side.KEY else path.value_schema
    return Part(F.col(side), schema, path.opened.maps.get(side))


def _in_flight(path: Path, header_converter: HeaderConverter) -> Envelope:
    """The columns by their names; a stage sees no faults but its own."""
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
