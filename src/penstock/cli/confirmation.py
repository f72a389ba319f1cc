"""Asking before an action that can't be undone."""

from __future__ import annotations

import sys

import typer

from penstock.kernel.errors import ConfigError


def confirm(question: str) -> None:
    """Ask on the terminal.

    Raises:
        ConfigError: there is no terminal.
        typer.Abort: the answer is no.
    """
    if not has_terminal():
        raise ConfigError(f"{question} There is no terminal to ask on; give --yes")
    typer.confirm(question, abort=True, err=True)


def has_terminal() -> bool:
    """Whether a person can see the question and answer it, whatever the colour settings say."""
    return sys.stdin.isatty() and sys.stderr.isatty()
