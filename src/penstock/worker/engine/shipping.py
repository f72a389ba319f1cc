"""How the code of plugins gets into Spark's Python processes."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any


def ship_by_value(modules: Iterable[str]) -> None:
    """Let Spark send the code of these modules to the processes that use it.

    Other processes can't import from plugin.path. If they could, they would keep the version they
    imported first, and a changed file would need a new JVM.
    """
    from pyspark import cloudpickle

    register: Any = cloudpickle.register_pickle_by_value
    for name in modules:
        module = sys.modules.get(name)
        if module is not None:
            register(module)
