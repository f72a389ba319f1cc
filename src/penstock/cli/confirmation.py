"""Asking before something is done that can't be taken back."""

from __future__ import annotations

import sys

import typer

from penstock.errors import ConfigError


def confirm(question: str) -> None:
    """Ask on the terminal.

    Raises:
        ConfigError: there is nobody to ask.
        typer.Abort: the answer is no.
    """
    if not has_terminal():
        raise ConfigError(f"{question} There is no terminal to ask on; give --yes")
    typer.confirm(question, abort=True, err=True)


def has_terminal() -> bool:
    """Whether a person can see the question and answer it; colours and such say nothing."""
    return sys.stdin.isatty() and sys.stderr.isatty()
