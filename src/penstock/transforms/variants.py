"""Data without a schema: members of maps, and constants."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from penstock.api.envelope import Part

if TYPE_CHECKING:
    from pyspark.sql import Column


def member(part: Part, name: str) -> Part:
    """The member of a map; null if it has none of that name, or if the data is not a map."""
    from penstock.columns.opened import member_of

    return Part(member_of(part, name), None)


def constant(value: float | str | list[Any] | dict[str, Any] | None) -> Column:
    """A VARIANT with this value in every row; None is the null of JSON."""
    from pyspark.sql import functions as F

    if value is None or isinstance(value, list | dict):
        return F.parse_json(F.lit(json.dumps(value)))
    return F.lit(value).cast("variant")
