"""Messages to people; the only module of the command line that prints."""

from __future__ import annotations

from rich.console import Console

# Without emojis: the `:key:` of ${vault:key:x} must stay as it is.
out = Console(highlight=False, soft_wrap=True, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


def say(text: str) -> None:
    out.print(text, markup=False)


def warn(text: str) -> None:
    """A warning, on standard error; without passwords of addresses."""
    from penstock.kernel.config.redaction import without_passwords

    err.print(f"penstock: {without_passwords(text)}", style="yellow", markup=False)


def complain(text: str) -> None:
    """An error, on standard error, after the program's name; without passwords of addresses."""
    from penstock.kernel.config.redaction import without_passwords

    err.print(f"penstock: {without_passwords(text)}", style="red", markup=False)


def connectors_are(count: int) -> str:
    """How many, with the verb: 1 connector is, 2 connectors are."""
    return "1 connector is" if count == 1 else f"{count} connectors are"
