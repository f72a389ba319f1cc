"""Waiting for what was asked for: the options, and what they mean together."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from penstock.errors import ConfigError

SECONDS: Final = 60.0

Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it is so.")]
Timeout = Annotated[
    float | None,
    typer.Option(min=0, help="Seconds to wait at most, with --wait.", show_default=f"{SECONDS:g}"),
]


def patience(
    timeout: float | None, *, wait: bool, default: float = SECONDS, option: str = "--wait"
) -> float | None:
    """How many seconds to wait; None: not at all. `option` is the one that asks to wait.

    Raises:
        ConfigError: there is a time, but nothing to wait for.
    """
    if wait:
        return default if timeout is None else timeout
    if timeout is not None:
        raise ConfigError(f"--timeout is how long to wait: it needs {option}")
    return None
