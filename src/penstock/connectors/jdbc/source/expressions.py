"""Users' expressions for the full names of tables, alone or with columns behind them."""

from __future__ import annotations

import re
from typing import Final

from penstock.connectors.jdbc.tables import TableId
from penstock.kernel.config.values import invalid
from penstock.kernel.java.runaway_regex import runaway_error

_MAPPING: Final = re.compile(r"(?P<table>.+?):\s*\[?(?P<columns>[^\[\]:]+)\]?\s*")


def expression(name: str, text: str) -> re.Pattern[str]:
    """An expression for full table names; `name` is the key that has it.

    Raises:
        ConfigError: it is none.
    """
    if wrong := runaway_error(text):
        raise invalid(name, text, f"matching it might never end: {wrong}")
    try:
        return re.compile(text)
    except re.error as error:
        raise invalid(name, text, f"not a regular expression: {error}") from error


def mapped_columns(mappings: list[str], table: TableId | None) -> list[str]:
    """The columns that the first fitting `expression:[column|column]` has for a table."""
    for mapping in mappings:
        parsed = _MAPPING.fullmatch(mapping)
        if parsed and table is not None and re.fullmatch(parsed["table"], str(table)):
            return [column.strip() for column in parsed["columns"].split("|")]
    return []


def check_mappings(name: str, mappings: list[str]) -> None:
    """Raise ConfigError for one that is not of the form `expression:[column|column]`."""
    for mapping in mappings:
        parsed = _MAPPING.fullmatch(mapping)
        if parsed is None:
            raise invalid(name, mapping, "the form is expression:[column|column]")
        expression(name, parsed["table"])
