"""Writing the file of contexts."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from penstock.kernel.errors import ConfigError

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def save(file: Path, current: str | None, contexts: Mapping[str, Any]) -> None:
    """Replace the file in one step; only its owner may read it, as it may hold passwords.

    Raises:
        ConfigError: it can't be written.
    """
    text = "\n".join(_lines(current, contexts)).strip() + "\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Temporary files are readable by their owner alone.
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as new:
            new.write(text)
        Path(name).replace(file)
    except OSError as error:
        raise ConfigError(f"{file}: can't be written: {error.strerror}") from error


def _lines(current: str | None, contexts: Mapping[str, Any]) -> Iterator[str]:
    if current is not None:
        yield f"current = {_value(current)}"
    for name, found in contexts.items():
        yield from ("", f"[contexts.{_key(name)}]")
        for key, value in found.items():
            yield f"{_key(key)} = {_value(value)}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, bool):
        return str(value).lower()
    return _text(value) if isinstance(value, str) else str(value)


def _text(value: str) -> str:
    """A basic string of TOML: JSON's escapes are among its own."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
