"""Frames over Spark's JDBC reader, each partition with a condition and an order of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from penstock.connectors.jdbc.source.fields import ReadField, TimeRules, field_value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class FrameReader:
    """Makes lazy frames of a table's rows; what all of them share is made once.

    Spark's public reader asks the database for the schema before each batch, and drops the order
    of a sub-select. Its relation takes the schema we know already, and writes a partition's
    condition at the end of the statement, where ORDER BY is in its place; nothing may be
    pushed down to stand behind it.

    Args:
        options: of Spark's JDBC reader, without the table.
        source: what stands behind FROM.
    """

    def __init__(
        self,
        spark: SparkSession,
        options: Mapping[str, str],
        source: str,
        fields: Sequence[ReadField],
        rules: TimeRules,
    ) -> None:
        self._spark = spark
        jvm: Any = spark._jvm  # noqa: SLF001 - pyspark's own way to the JVM
        self._session: Any = spark._jsparkSession  # noqa: SLF001
        self._jdbc: Any = jvm.org.apache.spark.sql.execution.datasources.jdbc
        table = {"dbtable": converting(source, fields), "pushDownPredicate": "false"}
        self._options = self._jdbc.JDBCOptions(_scala_map(jvm, {**options, **table}))
        self._nothing = _scala_map(jvm, {})
        self._schema = self._session.parseDataType(_read_schema(fields).json())
        self._new_array = jvm.java.lang.reflect.Array.newInstance
        self._partition = jvm.java.lang.Class.forName("org.apache.spark.Partition")
        values = [
            field_value(field, rules, F.col(_quoted(field.name))).alias(field.column.name)
            for field in fields
        ]
        self._value = F.struct(*values).alias("value")
        self._made: dict[int, tuple[DataFrame, Any]] = {}

    def frame(self, conditions: Sequence[str]) -> DataFrame:
        """The rows as records, with a partition for each text behind WHERE.

        For as many texts it is the same frame again, which has the rows of the last call: Spark
        takes the partitions from our array each time it runs, but plans only once.
        """
        size = len(conditions)
        if size not in self._made:
            parts = self._new_array(self._partition, size)
            self._made[size] = self._over(parts), parts
        frame, parts = self._made[size]
        for number, condition in enumerate(conditions):
            parts[number] = self._jdbc.JDBCPartition(condition, number)
        return frame

    def _over(self, parts: Any) -> DataFrame:
        relation = self._jdbc.JDBCRelation(
            self._schema, parts, self._options, self._nothing, self._session
        )
        frame = DataFrame(self._session.baseRelationToDataFrame(relation), self._spark)
        return frame.select(self._value)


def converting(source: str, fields: Sequence[ReadField]) -> str:
    """What stands behind FROM so that the database converts columns, which stay there as well."""
    converted = [f"{field.sql} AS {field.name}" for field in fields if field.sql]
    if not converted:
        return source
    # A query has a name already, and can't have two: so all get it one level up.
    rows = f"(SELECT * FROM {source}) penstock_rows"
    return f"(SELECT penstock_rows.*, {', '.join(converted)} FROM {rows}) converted"


def _read_schema(fields: Sequence[ReadField]) -> T.StructType:
    return T.StructType([T.StructField(each.name, each.read_type) for each in fields])


def _scala_map(jvm: Any, entries: Mapping[str, str]) -> Any:
    made = jvm.java.util.HashMap()
    for name, value in entries.items():
        made.put(name, value)
    return jvm.PythonUtils.toScalaMap(made)


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
