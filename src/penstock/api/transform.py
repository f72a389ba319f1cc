"""Transformations and predicates: as column expressions, or one record at a time in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from penstock.api.plugin import Plugin, PluginKind
from penstock.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.envelope import Envelope
    from penstock.api.record import Record
    from penstock.config import Config
    from penstock.data.schema import Schema

Schemas = tuple["Schema | None", "Schema | None"]
"""The schemas of key and value; None without a schema."""


class Transformation(Plugin, ABC):
    """What both shapes of transformations have. Constructed with its parsed Config.

    Class attributes:
        checked_key: the key that only Spark can check, in check() and for the schemas that are
            known when a configuration is validated. None: its definition says it all.
    """

    kind = PluginKind.TRANSFORMATION
    checked_key: ClassVar[str | None] = None

    def __init__(self, config: Config) -> None:
        self.config: Any = config

    def check(self) -> None:
        """Look at the config with Spark at hand, before any record is there.

        Raises:
            ConfigError: no record can be transformed with it.
        """
        return


class ColumnTransformation(Transformation, ABC):
    """A transformation as column expressions.

    Class attributes:
        takes_opened: whether columns() takes maps without a schema also as opened ones, and may
            give such: then a chain of transformations need not close and open them at each step.
    """

    takes_opened: ClassVar[bool] = False

    @abstractmethod
    def columns(self, envelope: Envelope) -> Envelope | Sequence[Envelope]:
        """Expressions in, expressions out; several envelopes if a record becomes several.

        Called once for each pair of schemas, not for each batch. Pure: no Spark action, no
        expression that throws for one row; a row that can't be transformed gets a fault
        (penstock.columns.faults.fail).

        Raises:
            DataError: no row of these schemas can be transformed.
        """

    def tombstones(self, envelope: Envelope) -> Envelope | Sequence[Envelope]:  # noqa: ARG002
        """As columns(), for records without a value, which have no schema if no other is near.

        Asked when columns() has raised a DataError for values without a schema. What it says of
        records that have a value does not count: they get that error.

        Raises:
            DataError: these can't be transformed either, as is the rule.
        """
        raise DataError(f"{self.class_name()} knows no tombstones")


class RecordTransformation(Transformation, ABC):
    """A transformation in plain Python, one record at a time.

    It is constructed in the worker, to check its Config and to ask for schemas, and again in every
    Python process of Spark that applies it: for each batch anew, and several at once. So an
    instance can't collect anything over all records.

    Class attributes:
        routes: whether apply() may change a record's topic. Only then are the topics of a batch
            looked up in its records, which reads a source's batch twice.
    """

    routes: ClassVar[bool] = False

    def schemas(self, key_schema: Schema | None, value_schema: Schema | None) -> Schemas:
        """The schemas of key and value after apply(), from those before; by default the same.

        Pure: it is asked once for each pair of schemas, before any record is seen. None in: data
        without a schema; None out: apply() gives data without a schema.

        Raises:
            DataError: no record of these schemas can be transformed.
        """
        return key_schema, value_schema

    def configure(self) -> None:
        """Called before the first record of a batch: a place to open what apply() needs."""

    @abstractmethod
    def apply(self, record: Record) -> Record | None:
        """The record after the transformation; None drops it.

        Whatever it raises is a fault of this record alone, and so is a result that does not fit
        the schemas. A mapping fits a struct if it has its fields; what is missing is null.
        """

    def close(self) -> None:
        """Called after the last record of a batch, also if the batch failed."""


class ColumnPredicate(Plugin, ABC):
    """A predicate as a column expression. Constructed with its parsed Config."""

    kind = PluginKind.PREDICATE

    def __init__(self, config: Config) -> None:
        self.config: Any = config

    @abstractmethod
    def column(self, envelope: Envelope) -> Column:
        """True for the records the predicate holds for; never null."""


class RecordPredicate(Plugin, ABC):
    """A predicate in plain Python, one record at a time. Constructed with its parsed Config.

    Where and how often it is constructed is said at RecordTransformation.
    """

    kind = PluginKind.PREDICATE

    def __init__(self, config: Config) -> None:
        self.config: Any = config

    @abstractmethod
    def holds(self, record: Record) -> bool:
        """Whether it holds for the record. What it raises is a fault of this record alone."""
