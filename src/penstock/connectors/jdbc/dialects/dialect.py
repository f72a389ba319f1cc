"""One database: all that the source and the sink ask about it, in a few parts.

The defaults are standard SQL and the driver's own conversions.
"""

from __future__ import annotations

from typing import ClassVar

from penstock.connectors.jdbc.dialects.connecting import Connecting
from penstock.connectors.jdbc.dialects.creating import Creating
from penstock.connectors.jdbc.dialects.faults import Faults
from penstock.connectors.jdbc.dialects.loading import Loader, LoadingDatabase, ValueForm
from penstock.connectors.jdbc.dialects.merging import Merging
from penstock.connectors.jdbc.dialects.notation import Notation
from penstock.connectors.jdbc.dialects.reading import Reading


class Dialect(Notation):
    """A database's notation, and its parts.

    Args:
        quoting: whether identifiers are quoted.
        faults: the words of the driver, if that is another database's.
    """

    #: The values of `dialect.name` that stand for it.
    names: ClassVar[tuple[str, ...]] = ()
    #: The parts of JDBC URLs behind `jdbc:` that stand for it.
    schemes: ClassVar[tuple[str, ...]] = ()
    #: For the documentation, of databases whose drivers come with Penstock.
    example_urls: ClassVar[tuple[str, ...]] = ()
    #: Whether a result that is open keeps others from writing.
    results_lock: ClassVar[bool] = False

    connecting_class: ClassVar[type[Connecting]] = Connecting
    reading_class: ClassVar[type[Reading]] = Reading
    creating_class: ClassVar[type[Creating]] = Creating
    merging_class: ClassVar[type[Merging]] = Merging
    own_faults: ClassVar[Faults] = Faults()
    #: How values leave Spark for the batches of its JDBC writer.
    batch_form: ClassVar[ValueForm] = ValueForm()

    def __init__(self, *, quoting: bool = True, faults: Faults | None = None) -> None:
        super().__init__(quoting=quoting)
        self.connecting = self.connecting_class()
        self.reading = self.reading_class(self)
        self.creating = self.creating_class(self)
        self.merging = self.merging_class(self.creating)
        self.faults = faults or self.own_faults

    def bulk_loader(self, database: LoadingDatabase) -> Loader | None:
        """The loader of files on the driver's disk; None if Spark's JDBC batches are used."""
        del database
        return None

    def explain(self, statement: str) -> str:
        """A query that only asks whether a statement could be run: rights are checked first."""
        return f"EXPLAIN {statement}"
