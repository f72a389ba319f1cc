"""Kernels in Spark's Python processes: what each task costs before its first row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.types import LongType, StructType

from penstock.columns.arrow_map import map_in_arrow

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


def archives(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """How many places in zip files and jars Python looks for modules in."""
    import sys
    import zipimport

    import pyarrow as pa

    for _ in batches:
        pass
    finders = sys.path_importer_cache.values()
    count = sum(isinstance(finder, zipimport.zipimporter) for finder in finders)
    yield pa.RecordBatch.from_pydict({"archives": [count]})


def test_no_task_reads_the_lists_of_archives(spark: SparkSession) -> None:
    """Spark would have each task read them anew, which takes longer than a small batch."""
    schema = StructType().add("archives", LongType())
    frame = map_in_arrow(spark.range(0, 1, 1, 1), archives, schema)
    assert [row.archives for row in frame.collect()] == [0]
