"""One thread imports pyspark, all others wait.

Its modules import each other in circles. To avoid a deadlock, Python lets a second thread into such
a circle, and that thread sees half a module.
"""

from __future__ import annotations

import importlib
import threading
from typing import Final

_MODULES: Final = (
    *("pyspark", "pyspark.conf", "pyspark.java_gateway", "pyspark.sql", "pyspark.sql.functions"),
    *("pyspark.sql.types", "pyspark.sql.pandas.types", "pyspark.errors"),
)
_WAIT_SECONDS: Final = 10.0
_lock = threading.Lock()


def import_pyspark() -> None:
    """Import the modules of pyspark that Penstock uses. Fast if that was done before."""
    with _lock:
        for name in _MODULES:
            importlib.import_module(name)


def await_pyspark_import() -> None:
    """Wait while another thread imports pyspark; for code that may import it itself.

    Such code does not hold the lock: a plugin's import may never end.
    """
    if _lock.acquire(timeout=_WAIT_SECONDS):
        _lock.release()
