"""Record transformations and predicates as steps over a frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql.types import BooleanType, StructField, StructType

from penstock.columns.arrow_map import ArrowKernel, arrow_function, map_by
from penstock.columns.record_kernel import HOLDS, Made, PredicateKernel, RecordKernel
from penstock.columns.remembered import Remembered
from penstock.columns.types import spark_type

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.udf import UserDefinedFunction

    from penstock.api.converter import HeaderConverter
    from penstock.api.transform import RecordPredicate, RecordTransformation, Schemas
    from penstock.kernel.retries import Retries


class _Functions:
    """A kernel as a Spark function, made once for all frames of the same columns."""

    def __init__(self) -> None:
        self._made: Remembered[UserDefinedFunction] = Remembered()

    def map(self, frame: DataFrame, kernel: ArrowKernel, fields: list[StructField]) -> DataFrame:
        schema = StructType(fields)
        function = self._made.of(schema.json(), lambda: arrow_function(kernel, schema))
        return map_by(frame, function)


@dataclass(frozen=True, slots=True)
class MapRecords:
    """Maps rows in Python, batch by batch; rows for which `holds` is false stay unchanged."""

    kernel: RecordKernel
    plugin: str
    routes: bool
    holds: Column | None = None
    _functions: _Functions = field(default_factory=_Functions, compare=False)

    @classmethod
    def of(
        cls,
        transformation: RecordTransformation,
        header_converter: HeaderConverter,
        before: Schemas,
        after: Schemas,
        holds: Column | None,
        retries: Retries,
    ) -> MapRecords:
        kernel = RecordKernel(
            Made(type(transformation), transformation.config),
            Made(type(header_converter), header_converter.config),
            before,
            after,
            retries,
        )
        return cls(kernel, transformation.class_name(), transformation.routes, holds)

    def apply(self, frame: DataFrame) -> DataFrame:
        data = {"key": self.kernel.after[0], "value": self.kernel.after[1]}
        fields = [
            StructField(each.name, spark_type(data[each.name])) if each.name in data else each
            for each in frame.schema.fields
            if each.name != HOLDS
        ]
        # Without a condition all rows are mapped, whatever an earlier predicate returned.
        frame = frame.drop(HOLDS) if self.holds is None else frame.withColumn(HOLDS, self.holds)
        return self._functions.map(frame, self.kernel, fields)


@dataclass(frozen=True, slots=True)
class AskRecords:
    """Calls a predicate in Python, batch by batch, for the column HOLDS."""

    kernel: PredicateKernel
    plugin: str
    _functions: _Functions = field(default_factory=_Functions, compare=False)

    @classmethod
    def of(
        cls,
        predicate: RecordPredicate,
        header_converter: HeaderConverter,
        schemas: Schemas,
        retries: Retries,
    ) -> AskRecords:
        kernel = PredicateKernel(
            Made(type(predicate), predicate.config),
            Made(type(header_converter), header_converter.config),
            schemas,
            retries,
        )
        return cls(kernel, predicate.class_name())

    def apply(self, frame: DataFrame) -> DataFrame:
        fields = [*frame.schema.fields, StructField(HOLDS, BooleanType())]
        return self._functions.map(frame, self.kernel, fields)
