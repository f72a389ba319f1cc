"""The job by hand: plain PySpark as one would write it, in a process of its own.

It keeps what Connect promises, that the lines stay in order, so it has one partition.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from bench.measure import measured
from penstock.machine.jars import classpath

SCHEMA = '{"schema":{"type":"string","optional":false},'


def main() -> None:
    kind, servers, heap, directory, *rest = sys.argv[1:]
    spark = (
        SparkSession.builder.master("local[*]")
        .config("spark.driver.memory", f"{heap}m")
        .config("spark.jars", ",".join(map(str, classpath("spark", "drivers"))))
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    target = Path(directory) / "by-hand"
    *where, warm, warm_topic, what, topic = rest
    jobs: dict[str, Callable[[str, str], None]] = {
        "to-kafka": lambda path, topic: to_kafka(spark, servers, path, topic),
        "to-file": lambda _, topic: to_file(spark, servers, topic, target),
        "table-to-kafka": lambda rows, topic: table_to_kafka(spark, servers, where, rows, topic),
    }
    jobs[kind](warm, warm_topic)
    pid = int(Path("/proc/self").resolve().name)
    with measured("", pid, 1) as run:
        jobs[kind](what, topic)
    found = {"seconds": run.seconds, "cpu_seconds": run.cpu_seconds}
    print(json.dumps({**found, "peak_rss_mb": run.peak_rss_mb, "peak_pss_mb": run.peak_pss_mb}))
    shutil.rmtree(target, ignore_errors=True)
    spark.stop()


def to_kafka(spark: SparkSession, servers: str, path: str, topic: str) -> None:
    payload = F.to_json(F.struct(F.col("value").alias("payload")))
    value = F.concat(F.lit(SCHEMA), F.substr(payload, F.lit(2)))
    lines = spark.read.text(path).coalesce(1).select(value.alias("value"))
    kafka = lines.write.format("kafka").option("kafka.bootstrap.servers", servers)
    kafka.option("topic", topic).save()


def to_file(spark: SparkSession, servers: str, topic: str, target: Path) -> None:
    records = (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", topic)
        .load()
    )
    payload = F.from_json(F.col("value").cast("string"), "payload string")["payload"]
    records.select(payload.alias("value")).write.mode("overwrite").text(str(target))


def table_to_kafka(
    spark: SparkSession, servers: str, where: list[str], rows: str, topic: str
) -> None:
    """Both cores read: a range of the key each."""
    url, user, table = where
    read = (
        spark.read.format("jdbc")
        # With the other scheme Spark quotes names as if it were another database.
        .option("url", url.replace("jdbc:mariadb:", "jdbc:mysql:") + "?permitMysqlScheme=true")
        .option("driver", "org.mariadb.jdbc.Driver")
        .options(user=user, dbtable=table, fetchsize="10000")
        .options(partitionColumn="id", lowerBound="1", upperBound=rows, numPartitions="2")
        .load()
    )
    # Connect's Timestamp, Date and so on are numbers.
    numbers = {
        "timestamp": lambda name: F.unix_millis(F.col(name).cast("timestamp")),
        "date": lambda name: F.unix_date(name),
    }
    columns = [
        numbers.get(kind, F.col)(name).alias(name) if kind in numbers else F.col(name)
        for name, kind in read.dtypes
    ]
    fields = ",".join(
        f'{{"type":"{kind}","optional":true,"field":"{name}"}}' for name, kind in read.dtypes
    )
    head = f'{{"schema":{{"type":"struct","fields":[{fields}],"optional":false,"name":"{table}"}},'
    payload = F.to_json(
        F.struct(F.struct(*columns).alias("payload")), {"ignoreNullFields": "false"}
    )
    value = F.concat(F.lit(head), F.substr(payload, F.lit(2)))
    kafka = read.select(value.alias("value")).write.format("kafka")
    kafka.option("kafka.bootstrap.servers", servers).option("topic", topic).save()


if __name__ == "__main__":
    main()
