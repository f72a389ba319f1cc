"""A Spark that can't start: its reason is told in one line, and soon."""

from __future__ import annotations

import subprocess
import sys

from penstock.testing.waiting import patient

# In a process of its own: pyspark has room for one JVM.
_START = """
from penstock.kernel.errors import SparkAwayError
from penstock.worker.engine.session import SparkEngine

engine = SparkEngine({"spark.master": "local[1]", "spark.testing.reservedMemory": "much"})
try:
    engine.session()
except SparkAwayError as error:
    print(f"{error}")
    print(error.__cause__)
engine.close()
"""


def test_the_reason_is_told_by_the_jvm_that_refuses() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _START],
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=True,
    )
    told, cause = done.stdout.strip().splitlines()
    assert told.startswith("Spark did not start: java.lang.NumberFormatException: Illegal value")
    assert told.endswith("`penstock doctor` shows what is missing.")
    assert cause in told
