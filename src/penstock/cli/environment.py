"""Worker properties from CONNECT_* variables, named as the Connect docker images name them."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PREFIX = "CONNECT_"
# These configure the images' own scripts, not the worker.
_NOT_PROPERTIES = ("CONNECT_LOG4J_", "CONNECT_CUB_", "CONNECT_URL")
_UNDERSCORES = re.compile("_+")
_MEANING = {1: ".", 2: "-", 3: "_"}


def worker_properties(environ: Mapping[str, str]) -> dict[str, str]:
    """CONNECT_GROUP_ID becomes group.id; a double underscore is a dash, a triple one itself."""
    return {
        _property_name(name): value
        for name, value in environ.items()
        if name.startswith(_PREFIX) and not name.startswith(_NOT_PROPERTIES)
    }


def _property_name(variable: str) -> str:
    name = variable.removeprefix(_PREFIX).lower()
    return _UNDERSCORES.sub(lambda run: _MEANING.get(len(run.group()), run.group()), name)
