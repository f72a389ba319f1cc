"""Transformations and predicates: as column expressions, or one record at a time in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from penstock.api.plugin import Plugin, PluginKind
from penstock.kernel.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.envelope import Envelope
    from penstock.api.record import Record
    from penstock.kernel.config import Config
    from penstock.kernel.data.schema import Schema

Schemas = tuple["Schema | None", "Schema | None"]
"""The schemas of key and value; None without a schema."""


class Transformation(Plugin, ABC):
    """The base of both kinds of transformations. Constructed with its parsed Config.

    Class attributes:
        checked_key: the key that only Spark can check, in check() and with the schemas known when
            a configuration is validated. None: its definition checks everything.
    """

    kind = PluginKind.TRANSFORMATION
    checked_key: ClassVar[str | None] = None

    def __init__(self, config: Config) -> None:
        self.config: Any = config

    def check(self) -> None:
        """Check the config with Spark, before the first record.

        Raises:
            ConfigError: no record can be transformed with it.
        """
        return


class ColumnTransformation(Transformation, ABC):
    """A transformation as column expressions.

    Class attributes:
        takes_opened: whether columns() also accepts opened maps for data without a schema, and may
            return them: so that a chain need not close and open them at each step.
    """

    takes_opened: ClassVar[bool] = False

    @abstractmethod
    def columns(self, envelope: Envelope) -> Envelope | Sequence[Envelope]:
        """The envelope with new expressions; several envelopes if a record becomes several.

        Called once for each pair of schemas, not for each batch. Pure: no Spark action, no
        expression that throws for one row; a row that can't be transformed gets a fault
        (penstock.columns.faults.fail).

        Raises:
            DataError: no row of these schemas can be transformed.
        """

    def tombstones(self, envelope: Envelope) -> Envelope | Sequence[Envelope]:  # noqa: ARG002
        """As columns(), for records without a value, which may come without a schema.

        Called after columns() raised DataError for values without a schema. Its result is used
        only for records without a value; the others get that error.

        Raises:
            DataError: these can't be transformed either; the default.
        """
        raise DataError(f"{self.class_name()} can't transform tombstones")


class RecordTransformation(Transformation, ABC):
    """A transformation in plain Python, one record at a time.

    It is constructed in the worker, to check its Config and to call schemas(), and again for each
    batch in every Python process of Spark, several at once. So an instance can't collect anything
    over all records.

    Class attributes:
        routes: whether apply() may change a record's topic. Only then does the framework look up
            the topics of a batch in its records, which reads a source's batch twice.
    """

    routes: ClassVar[bool] = False

    def schemas(self, key_schema: Schema | None, value_schema: Schema | None) -> Schemas:
        """The schemas of key and value after apply(), from those before; by default the same.

        Pure: called once for each pair of schemas, before any record. None means data without a
        schema, as argument and as result.

        Raises:
            DataError: no record of these schemas can be transformed.
        """
        return key_schema, value_schema

    def configure(self) -> None:
        """Called before the first record of a batch, to open what apply() needs."""

    @abstractmethod
    def apply(self, record: Record) -> Record | None:
        """The record after the transformation; None drops it.

        Whatever it raises is a fault of this record alone, and so is a result that does not fit
        the schemas. A mapping fits a struct if it has its fields; missing fields are null.
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

    See RecordTransformation for where and how often it is constructed.
    """

    kind = PluginKind.PREDICATE

    def __init__(self, config: Config) -> None:
        self.config: Any = config

    @abstractmethod
    def holds(self, record: Record) -> bool:
        """Whether it holds for the record. What it raises is a fault of this record alone."""
