"""Paths of requests, and values in them."""

from __future__ import annotations

from urllib.parse import quote


def at(name: str, *parts: str) -> str:
    """The path of a connector, or of something below it."""
    return "/".join(["", "connectors", quoted(name), *parts])


def quoted(name: str) -> str:
    """A name as one part of a path."""
    # A client takes `.` and `..` for steps in a path; in this form they are names.
    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="")


def flag(value: object) -> str:
    """A boolean as requests have it."""
    return "true" if value else "false"
