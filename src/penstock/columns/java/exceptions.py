"""The Java exceptions in the error of a failed job, by their place in Java's hierarchy.

An executor's exception reaches the driver as text. The classes it names are looked up in the JVM,
so that an exception is classified by its type, not by its name.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Final

from py4j.protocol import Py4JJavaError

from penstock.columns.remembered import Remembered, jvm

_CLASS: Final = re.compile(r"\b(?:[a-z_]\w*\.)+[A-Z][\w$]*(?:Exception|Error)\b")


def line_about(text: str, *kinds: str) -> str | None:
    """The rest of the line that first names an exception of one of these Java classes.

    None if there is none. A class counts that is one of `kinds` or below one of them.
    """
    if jvm() is None:
        return None  # Without a JVM nothing in it can have failed.
    for found in _CLASS.finditer(text):
        name = found.group()
        if _known.of((name, kinds), partial(_is_one_of, name, kinds)):
            end = text.find("\n", found.start())
            return text[found.start() : end if end >= 0 else None].strip()
    return None


def _is_one_of(name: str, kinds: tuple[str, ...]) -> bool:
    found = _loaded(name)
    return found is not None and any(
        kind is not None and kind.isAssignableFrom(found) for kind in map(_loaded, kinds)
    )


def _loaded(name: str) -> Any:
    """The Java class; None if there is no such class."""
    view = jvm()
    loader = view.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
    try:
        return view.java.lang.Class.forName(name, False, loader)  # noqa: FBT003 - Java's order
    except Py4JJavaError:
        return None


_known: Final[Remembered[bool]] = Remembered(1000)
