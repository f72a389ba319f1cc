"""Maps without a schema, as VARIANT columns: their members, and maps with other members."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from penstock.api.envelope import Part
from penstock.transforms.requirements import variant_map

if TYPE_CHECKING:
    from pyspark.sql import Column

# What Spark reads as a name in a path: it takes no quotes, and skips spaces at the start.
_NAME_IN_PATH: Final = re.compile(r"[^'?\s][^'?]*")


def member(part: Part, name: str) -> Part:
    """The member of a map; null if it has none of that name, or if this is no map."""
    from pyspark.sql import functions as F

    if _NAME_IN_PATH.fullmatch(name) and not part.opened:
        return Part(F.try_variant_get(part.column, f"$['{name}']", "variant"), None)
    return Part(F.try_element_at(variant_map(part), F.lit(name)), None)


def map_of(members: Mapping[str, Column]) -> Column:
    """A map<string,variant> of VARIANT columns; null as a member stays."""
    from pyspark.sql import functions as F

    return F.create_map(*[part for name in members for part in (F.lit(name), members[name])])


def no_members() -> Column:
    """An empty map<string,variant>."""
    from pyspark.sql import functions as F

    return F.create_map().cast("map<string,variant>")


def with_entries(found: Column, entries: Mapping[str, Column]) -> Column:
    """A map<string,variant> with these entries; those it had under their names are gone."""
    from pyspark.sql import functions as F

    # The last of equal keys wins. A function for each entry would say it too, but interpreted.
    return F.map_concat(found, map_of(entries))


def with_members(found: Column, members: Mapping[str, Column]) -> Column:
    """A map<string,variant> with these members; one that is null leaves the map as it is."""
    from pyspark.sql import functions as F

    added = [
        F.when(value.isNotNull(), map_of({name: value})).otherwise(no_members())
        for name, value in members.items()
    ]
    return F.map_concat(found, *added)


def constant(value: float | str | list[Any] | dict[str, Any] | None) -> Column:
    """A VARIANT that is this in every row; None is the null that a map can hold."""
    from pyspark.sql import functions as F

    if value is None or isinstance(value, list | dict):
        return F.parse_json(F.lit(json.dumps(value)))
    return F.lit(value).cast("variant")
