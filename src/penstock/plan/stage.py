"""One transformation of a connector, with the predicate that guards it, as steps over a frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.api.envelope import Envelope, Part
from penstock.errors import DataError
from penstock.plan.faults import fault_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from penstock.api.converter import HeaderConverter
    from penstock.api.transform import ColumnPredicate, ColumnTransformation
    from penstock.data.schema import Schema

STAGE_NAME: Final = "TRANSFORMATION"


@dataclass(frozen=True, slots=True)
class Select:
    """Columns that get new values, all others stay."""

    columns: Mapping[str, Column]

    def apply(self, frame: DataFrame) -> DataFrame:
        return frame.withColumns(dict(self.columns))


@dataclass(frozen=True, slots=True)
class Keep:
    """Rows that go on."""

    condition: Column

    def apply(self, frame: DataFrame) -> DataFrame:
        return frame.filter(self.condition)


Step = Select | Keep


@dataclass(frozen=True, slots=True)
class Path:
    """What is known of the rows that come out of some steps."""

    steps: tuple[Step, ...]
    key_schema: Schema | None
    value_schema: Schema | None

    @property
    def schemas(self) -> tuple[Schema | None, Schema | None]:
        return self.key_schema, self.value_schema

    def then(self, *steps: Step) -> Path:
        return Path((*self.steps, *steps), *self.schemas)


@dataclass(frozen=True, slots=True)
class Guard:
    """The predicate of a stage."""

    alias: str
    predicate: ColumnPredicate
    negate: bool

    def column(self, envelope: Envelope) -> Column:
        column = self.predicate.column(envelope)
        return ~column if self.negate else column


@dataclass(frozen=True, slots=True)
class Stage:
    """A transformation under the alias the configuration gives it."""

    alias: str
    transformation: ColumnTransformation
    header_converter: HeaderConverter
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
        before = _in_flight(path, self.header_converter)
        outputs = self._outputs(before, strict=strict)
        if self.guard is None:
            return tuple(self._after(path, before, after) for after in outputs)
        holds = self.guard.column(before)
        if len(outputs) == 1 and _schemas(outputs[0]) == path.schemas:
            return (path.then(*self._steps(before, outputs[0], holds)),)
        guarded = path.then(Keep(holds))
        changed = [self._after(guarded, before, after) for after in outputs]
        return (*changed, path.then(Keep(~holds)))

    def _outputs(self, before: Envelope, *, strict: bool) -> Sequence[Envelope]:
        try:
            outputs = self.transformation.columns(before)
        except DataError as error:
            if strict:
                raise
            outputs = before.replace(fault=F.lit(str(error)))
        return (outputs,) if isinstance(outputs, Envelope) else outputs

    def _after(self, path: Path, before: Envelope, after: Envelope) -> Path:
        steps = self._steps(before, after, None)
        return Path((*path.steps, *steps), *_schemas(after))

    def _steps(self, before: Envelope, after: Envelope, holds: Column | None) -> list[Step]:
        """From the columns of one envelope to those of the other, where `holds` is true."""

        def only(new: Column, old: Column) -> Column:
            return new if holds is None else F.when(holds, new).otherwise(old)

        changes = {
            name: only(column(after), column(before))
            for name, column in _COLUMNS.items()
            if column(after) is not column(before)
        }
        steps: list[Step] = []
        fault = F.col("fault")
        if after.fault is not before.fault:
            found = fault_of(STAGE_NAME, self.transformation.class_name(), after.fault)
            fault = F.coalesce(fault, found if holds is None else F.when(holds, found))
            changes["fault"] = fault
        if after.keep is not None:
            # What is wrong with a row must be told, so a faulty row is never dropped.
            steps.append(Keep(only(after.keep, F.lit(True)) | fault.isNotNull()))
        if changes:
            steps.append(Select(changes))
        return steps

    def __str__(self) -> str:
        text = f"{self.alias}: {self.transformation.class_name()}"
        if self.guard is None:
            return text
        return f"{text} {'unless' if self.guard.negate else 'if'} {self.guard.alias}"


def _schemas(envelope: Envelope) -> tuple[Schema | None, Schema | None]:
    return envelope.key.schema, envelope.value.schema


_COLUMNS: Final[Mapping[str, Callable[[Envelope], Column]]] = {
    "topic": lambda envelope: envelope.topic,
    "partition": lambda envelope: envelope.partition,
    "offset": lambda envelope: envelope.offset,
    "timestamp": lambda envelope: envelope.timestamp,
    "key": lambda envelope: envelope.key.column,
    "value": lambda envelope: envelope.value.column,
    "headers": lambda envelope: envelope.headers,
}


def _in_flight(path: Path, header_converter: HeaderConverter) -> Envelope:
    """The columns by their names; a stage sees no faults but its own."""
    return Envelope(
        topic=F.col("topic"),
        partition=F.col("partition"),
        offset=F.col("offset"),
        timestamp=F.col("timestamp"),
        key=Part(F.col("key"), path.key_schema),
        value=Part(F.col("value"), path.value_schema),
        headers=F.col("headers"),
        header_converter=header_converter,
        fault=F.lit(None).cast("string"),
    )
