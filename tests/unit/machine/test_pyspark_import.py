"""Threads that import pyspark at the same moment, in a process that has not done so before."""

from __future__ import annotations

import subprocess
import sys

_MANY = """
import threading
from penstock.machine.pyspark_import import import_pyspark
failures = []
begin = threading.Barrier(8)

def work():
    begin.wait()
    try:
        import_pyspark()
        from pyspark.sql import SparkSession, SQLContext
    except Exception as error:
        failures.append(repr(error))

threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(failures)
"""


def test_all_threads_see_whole_modules() -> None:
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", _MANY], capture_output=True, text=True, timeout=120, check=True
        )
        assert done.stdout.strip() == "[]"
