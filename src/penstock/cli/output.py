"""What commands say to people; the only module of the command line that prints."""

from __future__ import annotations

from rich.console import Console

# What looks like a name of an emoji, as in ${vault:key:x}, is a text like any other.
out = Console(highlight=False, soft_wrap=True, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


def say(text: str) -> None:
    out.print(text, markup=False)


def warn(text: str) -> None:
    """Something to look at that is no error; on standard error, without passwords of addresses."""
    from penstock.config.redaction import without_passwords

    err.print(f"penstock: {without_passwords(text)}", style="yellow", markup=False)


def complain(text: str) -> None:
    """An error, on standard error, after the program's name; without passwords of addresses."""
    from penstock.config.redaction import without_passwords

    err.print(f"penstock: {without_passwords(text)}", style="red", markup=False)
