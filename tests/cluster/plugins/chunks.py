"""The JDBC source with short chunks, so that a small table has several."""

from __future__ import annotations

from penstock.connectors.jdbc.source.connector import ConfluentJdbcSourceConnector
from penstock.connectors.jdbc.source.reader import Limits
from penstock.connectors.jdbc.source.task import ConfluentJdbcSourceTask


class ShortChunksTask(ConfluentJdbcSourceTask):
    """Stores an offset after each 20,000 rows of a backlog."""

    def __init__(self, limits: Limits | None = None) -> None:
        super().__init__(limits or Limits(chunk_rows=20_000))


class ShortChunksConnector(ConfluentJdbcSourceConnector):
    """A source for tests that interrupt a first load."""

    java_name = "chunks.ShortChunksConnector"
    task_class = ShortChunksTask
