"""Which Java exceptions a failed job tells of, by their place in Java's hierarchy.

What an executor throws reaches the driver as text. The classes it names are looked up in the JVM,
so that an exception counts as what it is, not as what it is called.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from py4j.protocol import Py4JJavaError

_CLASS: Final = re.compile(r"\b(?:[a-z_]\w*\.)+[A-Z][\w$]*(?:Exception|Error)\b")


def line_about(text: str, *kinds: str) -> str | None:
    """The rest of the line that first names an exception of one of these Java classes.

    None if there is none. A class counts that is one of `kinds` or below one of them.
    """
    if _jvm() is None:
        return None  # Without a JVM nothing in it can have failed.
    for found in _CLASS.finditer(text):
        if _is_one_of(found.group(), kinds):
            end = text.find("\n", found.start())
            return text[found.start() : end if end >= 0 else None].strip()
    return None


@lru_cache(maxsize=1000)
def _is_one_of(name: str, kinds: tuple[str, ...]) -> bool:
    found = _loaded(name)
    return found is not None and any(
        kind is not None and kind.isAssignableFrom(found) for kind in map(_loaded, kinds)
    )


def _loaded(name: str) -> Any:
    """The Java class; None if there is no such class."""
    jvm = _jvm()
    loader = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
    try:
        return jvm.java.lang.Class.forName(name, False, loader)  # noqa: FBT003 - Java's order
    except Py4JJavaError:
        return None


def _jvm() -> Any:
    from pyspark import SparkContext

    return SparkContext._jvm  # noqa: SLF001 - pyspark's own way to the JVM
