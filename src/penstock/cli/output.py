"""What commands say to people; the only module of the command line that prints."""

from __future__ import annotations

from rich.console import Console

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    out.print(text, markup=False)


def complain(text: str) -> None:
    """An error, on standard error, after the program's name."""
    err.print(f"penstock: {text}", style="red", markup=False)
