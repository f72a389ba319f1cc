"""When Spark's JVM is started directly, and with which jars. No JVM is started here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.machine.jars import pyspark_jars
from penstock.worker.engine.jvm_command import DirectLaunch, spark_jars, with_our_jars
from penstock.worker.settings.spark import DEFAULTS, room_in_small_heap


def launch(**more: str) -> DirectLaunch | None:
    settings = {name.replace("_", "."): value for name, value in more.items()}
    return DirectLaunch.of({**DEFAULTS, **settings}, {"PATH": os.environ["PATH"]})


def names(jars: list[Path]) -> str:
    return " ".join(jar.name for jar in jars)


def test_a_local_master_is_started_directly() -> None:
    found = launch(spark_driver_memory="700m")
    assert found is not None
    command = found.command(use_archive=False)
    assert Path(command[0]).name == "java"
    assert "-Xmx700m" in command
    assert command[-1] == "org.apache.spark.api.python.PythonGatewayServer"


@pytest.mark.parametrize(
    "settings",
    [
        {"spark_master": "spark://host:7077"},
        {"spark_master": "k8s://https://host"},
        {"spark_jars_packages": "org.example:lib:1"},
        {"spark_driver_extraClassPath": "/opt/lib"},
        {"spark_submit_deployMode": "client"},
        {"spark_jars": "hdfs://host/lib.jar"},
    ],
)
def test_what_only_spark_submit_can_do_is_left_to_it(settings: dict[str, str]) -> None:
    assert launch(**settings) is None


@pytest.mark.parametrize("name", ["SPARK_HOME", "SPARK_CONF_DIR", "HADOOP_CONF_DIR"])
def test_so_is_a_spark_that_the_user_has_set_up(name: str) -> None:
    environ = {"PATH": os.environ["PATH"], name: "/opt/spark"}
    assert DirectLaunch.of(DEFAULTS, environ) is None


def test_the_class_path_has_what_a_local_worker_needs_and_no_more() -> None:
    few = spark_jars(DEFAULTS)
    assert "spark-sql_2.13" in names(few)
    assert "spark-sql-kafka" in names(few)
    assert "postgresql" in names(few)
    assert not any(word in names(few) for word in ("mllib", "hive", "kubernetes", "yarn"))
    assert few[0].name.startswith("slf4j-api-")


@pytest.mark.parametrize(
    "setting",
    [
        ("spark.ui.enabled", "true"),
        ("spark.sql.catalogImplementation", "hive"),
        ("spark.sql.extensions", "org.example.Extension"),
        ("spark.metrics.conf", "metrics.properties"),
    ],
)
def test_a_setting_that_may_need_other_jars_gets_all_of_them(setting: tuple[str, str]) -> None:
    jars = names(spark_jars({**DEFAULTS, setting[0]: setting[1]}))
    assert all(jar.name in jars for jar in pyspark_jars().glob("*.jar"))


def test_a_users_jars_come_behind_those_of_the_archive(tmp_path: Path) -> None:
    (tmp_path / "own.jar").touch()
    found = launch(spark_jars=str(tmp_path / "own.jar"))
    assert found is not None
    command = found.command(use_archive=True)
    classpath = command[command.index("-cp") + 1]
    assert classpath == f"{found.archive.classpath}{os.pathsep}{tmp_path / 'own.jar'}"


def test_spark_submit_gets_ours_beside_a_users_jars() -> None:
    jars = with_our_jars({"spark.jars": "own.jar"})["spark.jars"].split(",")
    assert jars[0] == "own.jar"
    assert any("spark-sql-kafka" in jar for jar in jars)


@pytest.mark.parametrize("size", ["2g", "2048", "2048m", "2GB", " 2097152k"])
def test_a_heap_is_as_large_as_spark_reads_it(size: str) -> None:
    found = launch(spark_driver_memory=size)
    assert found is not None
    assert "-Xmx2048m" in found.command(use_archive=False)


def test_spark_keeps_less_of_a_small_heap_for_others() -> None:
    """It would not start otherwise: it keeps 300 MB and wants half as much again."""
    assert room_in_small_heap({"spark.driver.memory": "1g"}) == {}
    small = room_in_small_heap({"spark.driver.memory": "384m"})
    assert small == {"spark.testing.reservedMemory": str(96 * 1024 * 1024)}
    few = spark_jars({**DEFAULTS, **small})
    assert few == spark_jars(DEFAULTS)
