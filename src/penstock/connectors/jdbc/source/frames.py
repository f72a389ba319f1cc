"""Frames over Spark's JDBC reader, each partition with a condition and an order of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from penstock.connectors.jdbc.source.fields import ReadField

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def read_frame(
    spark: SparkSession,
    options: Mapping[str, str],
    table: str,
    fields: Sequence[ReadField],
    partitions: Sequence[str],
) -> DataFrame:
    """A lazy frame of a table's rows, a partition for each text behind WHERE.

    Spark's public reader asks the database for the schema before each batch, and drops the order
    of a sub-select. Its relation takes the schema we know already, and writes a partition's
    condition at the end of the statement, where ORDER BY is in its place; nothing may be
    pushed down to stand behind it.
    """
    jvm: Any = spark._jvm  # noqa: SLF001 - pyspark's own way to the JVM
    session: Any = spark._jsparkSession  # noqa: SLF001
    jdbc = jvm.org.apache.spark.sql.execution.datasources.jdbc
    settings = {**options, "dbtable": table, "pushDownPredicate": "false"}
    parts = jvm.java.lang.reflect.Array.newInstance(
        jvm.java.lang.Class.forName("org.apache.spark.Partition"), len(partitions)
    )
    for number, condition in enumerate(partitions):
        parts[number] = jdbc.JDBCPartition(condition, number)
    relation = jdbc.JDBCRelation(
        session.parseDataType(_read_schema(fields).json()),
        parts,
        jdbc.JDBCOptions(_scala_map(jvm, settings)),
        _scala_map(jvm, {}),
        session,
    )
    return DataFrame(session.baseRelationToDataFrame(relation), spark)


def converting(source: str, fields: Sequence[ReadField]) -> str:
    """What stands behind FROM so that the database converts columns, which stay there as well."""
    converted = [f"{field.sql} AS {field.name}" for field in fields if field.sql]
    if not converted:
        return source
    return f"(SELECT penstock_rows.*, {', '.join(converted)} FROM {source} penstock_rows) converted"


def _read_schema(fields: Sequence[ReadField]) -> T.StructType:
    return T.StructType([T.StructField(each.name, each.read_type) for each in fields])


def _scala_map(jvm: Any, entries: Mapping[str, str]) -> Any:
    made = jvm.java.util.HashMap()
    for name, value in entries.items():
        made.put(name, value)
    return jvm.PythonUtils.toScalaMap(made)
