"""Rows stored for several jobs, because the source may return other rows to each."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from pyspark import StorageLevel

from penstock.kernel.errors import RetriableError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = logging.getLogger(__name__)

_BLOCK_IS_GONE: Final = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"


@contextmanager
def on_disk(frame: DataFrame) -> Iterator[DataFrame]:
    """The rows that the frame has now, stored on Spark's disks while the block runs.

    A job of its own reads them. persist() would not do: when an executor dies, Spark would read
    its rows again, and might get others.

    Raises:
        RetriableError: an executor died that had some of the rows.
    """
    rows = frame.localCheckpoint(eager=False, storageLevel=StorageLevel.DISK_ONLY)
    stored: Any = rows._jdf.queryExecution().logical().rdd().toJavaRDD()  # noqa: SLF001
    try:
        stored.count()
        yield rows
    except Exception as error:
        if _BLOCK_IS_GONE in str(error):
            message = "an executor with rows of this batch died; the task reads the batch again"
            raise RetriableError(message) from error
        raise
    finally:
        _forget(stored)


def _forget(stored: Any) -> None:
    try:
        stored.unpersist()
    except Exception:
        # The JVM died, and the rows with it. The error of the block matters more.
        log.debug("Rows on disk could not be removed", exc_info=True)
