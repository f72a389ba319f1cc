"""The options of commands that wait for a state."""

from __future__ import annotations

from typing import Annotated

import typer

Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it is so.")]
Timeout = Annotated[float, typer.Option(min=0, help="Seconds to wait at most.")]
