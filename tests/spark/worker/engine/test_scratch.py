"""Where the files of Spark's JVM are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_files_of_spark_and_java_are_where_the_next_process_finds_them(
    spark: SparkSession,
) -> None:
    context: Any = spark.sparkContext
    java = Path(context._jvm.java.lang.System.getProperty("java.io.tmpdir"))
    assert java.name.startswith("penstock-spark-")
    assert java.with_name(f"{java.name}.lock").exists()
    blocks = context._jsc.sc().env().blockManager().diskBlockManager().localDirs()
    assert [Path(each.getPath()).parent for each in blocks] == [java]
