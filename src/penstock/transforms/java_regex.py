"""Java's regular expressions as Spark matches them."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
