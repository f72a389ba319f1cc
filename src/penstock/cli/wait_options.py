"""The options --wait and --timeout, and what they mean together."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from penstock.kernel.errors import ConfigError

SECONDS: Final = 60.0

Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it is done.")]
Timeout = Annotated[
    float | None,
    typer.Option(min=0, help="Seconds to wait at most, with --wait.", show_default=f"{SECONDS:g}"),
]


def patience(
    timeout: float | None, *, wait: bool, default: float = SECONDS, option: str = "--wait"
) -> float | None:
    """How many seconds to wait; None: not at all. `option` is the one that enables waiting.

    Raises:
        ConfigError: there is a timeout, but nothing to wait for.
    """
    if wait:
        return default if timeout is None else timeout
    if timeout is not None:
        raise ConfigError(f"--timeout is the time to wait; it needs {option}")
    return None
