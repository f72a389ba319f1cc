"""Spark's JDBC writer: the way in for databases that have no bulk loader, or can't use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.connectors.jdbc.dialects.loading import TableToLoad, ValueForm

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: So few rows are fetched and put into a file here sooner than Spark has opened one.
FEW_ROWS: Final = 2000


class BatchLoader:
    """JDBC batches, which every database takes.

    Args:
        options: of Spark's JDBC writer, without the table.
        batch_size: how many rows travel in one batch.
    """

    in_transaction = False

    def __init__(self, form: ValueForm, options: dict[str, str], batch_size: int) -> None:
        self.form = form
        self._options = {**options, "batchsize": str(max(1, batch_size))}

    def load(self, rows: DataFrame, table: TableToLoad, *, few: bool) -> int:
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        del few
        seen = Observation()
        # One partition is one transaction.
        counted = rows.coalesce(1).observe(seen, F.count(F.lit(1)).alias("rows"))
        writer = counted.write.format("jdbc").mode("append")
        writer.options(**self._options, dbtable=table.name).save()
        return int(seen.get["rows"])
