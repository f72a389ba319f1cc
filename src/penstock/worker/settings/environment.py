"""Worker properties from environment variables, as Kafka Connect's docker images read them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

PREFIX: Final = "CONNECT_"

#: Variables with the prefix that are for the images' start scripts, not worker settings.
_NOT_SETTINGS: Final = ("LOG4J_", "CUB_", "URL")
_UNDERSCORES: Final = re.compile(r"_+")
_MEANING: Final = {1: ".", 2: "_", 3: "-"}


def environment_properties(environ: Mapping[str, str]) -> dict[str, str]:
    """CONNECT_GROUP_ID becomes group.id; `__` stands for an underscore, `___` for a dash."""
    return {
        _property(name.removeprefix(PREFIX)): value
        for name, value in environ.items()
        if name.startswith(PREFIX) and not _steers_the_image(name)
    }


def _steers_the_image(name: str) -> bool:
    return name.removeprefix(PREFIX).startswith(_NOT_SETTINGS)


def _property(name: str) -> str:
    return _UNDERSCORES.sub(_separator, name).lower()


def _separator(match: re.Match[str]) -> str:
    return _MEANING.get(len(match[0]), match[0])
