"""One compiled Java side for all modules: py4j takes a second class of its name for the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.spark.transforms.generated.parity import Parity
from tests.spark.transforms.java_side import JavaSide

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def java(spark: SparkSession) -> JavaSide:
    return JavaSide.load(spark)


@pytest.fixture(scope="session")
def parity(spark: SparkSession) -> Parity:
    return Parity.of(spark)
