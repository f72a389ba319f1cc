from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.spark.converters.bridge import JavaConverters


@pytest.fixture(scope="session")
def java(spark: SparkSession) -> JavaConverters:
    """Java's converters, in Spark's own JVM."""
    return JavaConverters(spark)
