"""Transformations and predicates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from penstock.api.plugin import Plugin, PluginKind

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.envelope import Envelope
    from penstock.config import Config


class ColumnTransformation(Plugin, ABC):
    """A transformation as column expressions. Constructed with its parsed Config."""

    kind = PluginKind.TRANSFORMATION

    def __init__(self, config: Config) -> None:
        self.config: Any = config

    @abstractmethod
    def columns(self, envelope: Envelope) -> Envelope | Sequence[Envelope]:
        """Expressions in, expressions out; several envelopes if a record becomes several.

        Called once for each pair of schemas, not for each batch. Pure: no Spark action, no
        expression that throws for one row; a row that can't be transformed gets a fault
        (penstock.columns.faults.fail).

        Raises:
            DataError: no row of these schemas can be transformed.
        """

    #: The key that only Spark can check, in check() and by columns() for the schemas that are
    #: known when a configuration is validated. None: its definition says it all.
    checked_key: ClassVar[str | None] = None

    def check(self) -> None:
        """Look at the config with Spark at hand, before any record is there.

        Raises:
            ConfigError: no record can be transformed with it.
        """
        return


class ColumnPredicate(Plugin, ABC):
    """A predicate as a column expression. Constructed with its parsed Config."""

    kind = PluginKind.PREDICATE

    def __init__(self, config: Config) -> None:
        self.config: Any = config

    @abstractmethod
    def column(self, envelope: Envelope) -> Column:
        """True for the records the predicate holds for; never null."""
