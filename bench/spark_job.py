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
from penstock.jars import classpath

SCHEMA = '{"schema":{"type":"string","optional":false},'


def main() -> None:
    kind, servers, heap, directory, *rest = sys.argv[1:]
    spark = (
        SparkSession.builder.master("local[*]")
        .config("spark.driver.memory", f"{heap}m")
        .config("spark.jars", ",".join(map(str, classpath("spark"))))
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    target = Path(directory) / "by-hand"
    jobs: dict[str, Callable[[str, str], None]] = {
        "to-kafka": lambda path, topic: to_kafka(spark, servers, path, topic),
        "to-file": lambda _, topic: to_file(spark, servers, topic, target),
    }
    warm_path, warm_topic, path, topic = rest
    jobs[kind](warm_path, warm_topic)
    pid = int(Path("/proc/self").resolve().name)
    with measured("", pid, 1) as run:
        jobs[kind](path, topic)
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


if __name__ == "__main__":
    main()
