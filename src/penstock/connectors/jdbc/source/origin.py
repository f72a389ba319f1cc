"""The origin of a source's rows: a table or a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.connectors.jdbc.tables import TableId


@dataclass(frozen=True, slots=True)
class Origin:
    """A table or a query, and where its rows go.

    Attributes:
        source: what stands behind FROM.
        partition: the source partition under which its offsets are stored.
        table: None for a query.
        mark: what another origin with the same partition does not have; None if there is none.
    """

    source: str
    topic: str
    partition: Mapping[str, Any]
    table: TableId | None = None
    mark: str | None = None

    def __str__(self) -> str:
        return "the query" if self.table is None else f"table {self.table}"
