"""Java's regular expressions as Spark matches them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from penstock.columns.remembered import jvm

if TYPE_CHECKING:
    from pyspark.sql import Column


def anchored(pattern: str) -> str:
    """The pattern where the text begins; its groups keep their numbers."""
    # Java allows a quotation without an end, which would swallow the bracket.
    open_quotation = pattern.rfind("\\Q") > pattern.rfind("\\E")
    end = "\\E" if open_quotation else ""
    return rf"\A(?:{pattern}{end})"


def matches_whole(text: Column, pattern: str) -> Column:
    """As Java's Matcher.matches(). Null for null."""
    return text.rlike(anchored(pattern) + r"\z")


def replacement_error(pattern: str, replacement: str) -> str | None:
    """Java's error for this replacement; None if it is valid.

    Asks Spark's JVM how many groups the pattern has, so there must be one.
    """
    groups = _group_count(pattern)
    names = set(_NAMED_GROUP.findall(pattern))
    rest = replacement
    while rest:
        found = _SPECIAL.match(rest)
        if found is None:
            rest = rest[1:]
            continue
        wrong = _reference_error(found, groups, names)
        if wrong is not None:
            return wrong
        rest = rest[found.end() :]
    return None


_NAMED_GROUP: Final = re.compile(r"\(\?<([a-zA-Z][a-zA-Z0-9]*)>")
# A backslash and what it protects, a group by number, by name, or a dollar with nothing to say.
_SPECIAL: Final = re.compile(
    r"\\(?P<escaped>.)?|\$(?:(?P<digit>[0-9])|\{(?P<name>[a-zA-Z0-9]*)(?P<end>\})?|(?P<other>.)?)",
    re.DOTALL,
)


def _reference_error(found: re.Match[str], groups: int, names: set[str]) -> str | None:
    if found[0].startswith("\\"):
        return None if found["escaped"] else "character to be escaped is missing"
    if found["digit"] is not None:
        return f"No group {found['digit']}" if int(found["digit"]) > groups else None
    if found["name"] is not None:
        return _name_error(found["name"], found["end"], names)
    if found["other"] is None:
        return "Illegal group reference: group index is missing"
    return "Illegal group reference"


def _name_error(name: str, end: str | None, names: set[str]) -> str | None:
    if not name:
        return "named capturing group has 0 length name"
    if end is None:
        return "named capturing group is missing trailing '}'"
    if name[0].isdigit():
        return f"capturing group name {{{name}}} starts with digit character"
    return None if name in names else f"No group with name {{{name}}}"


def _group_count(pattern: str) -> int:
    return int(jvm().java.util.regex.Pattern.compile(pattern).matcher("").groupCount())
