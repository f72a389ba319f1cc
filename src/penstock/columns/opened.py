"""Opened maps: data without a schema on its way between transformations that look into it.

To make a map of a VARIANT, another map for each change, and a VARIANT of the last one costs more
than most of the changes. So changed members stand beside the VARIANT, each in a column of its own,
until all of them are put into it at once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.api.envelope import Member, Opened, Part

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.envelope import Envelope

# What Spark reads as a name in a path: it takes no quotes, and skips spaces at the start.
_NAME_IN_PATH: Final = re.compile(r"[^'?\s][^'?]*")


def opened(part: Part) -> Part:
    """Data without a schema, which must be a map or null, as an opened map."""
    return part if part.opened is not None else Part(part.column, None, Opened())


def has_members(value: Column) -> Column:
    """Whether a VARIANT is a map; false for null."""
    # Reads the first byte only, while a map has to be built for a look at its type.
    return F.try_variant_get(value, "$", "struct<>").isNotNull()


def new_map(present: Column, members: Mapping[str, Column]) -> Part:
    """An opened map of nothing but these members where that is true; null elsewhere."""
    return with_members(_empty(present), members)


def member_of(part: Part, name: str) -> Column:
    """A member of a map; null if it has none of that name, or is not a map."""
    known = _known(part)
    if name in known:
        found = known[name]
        return F.lit(None).cast("variant") if found is None else found.column
    if _NAME_IN_PATH.fullmatch(name):
        return F.try_variant_get(part.column, f"$['{name}']", "variant")
    return F.try_element_at(_map(part), F.lit(name))


def with_members(part: Part, members: Mapping[str, Column]) -> Part:
    """The opened map with these members; null becomes the null that a map can hold."""
    null = F.parse_json(F.lit("null"))
    return _changed(
        part,
        {name: Member(F.coalesce(column, null), sure=True) for name, column in members.items()},
    )


def with_some_members(part: Part, members: Mapping[str, Column]) -> Part:
    """The opened map with those of these members that are not null, without the others."""
    return _changed(part, {name: Member(column, sure=False) for name, column in members.items()})


def without_members(part: Part, names: Collection[str]) -> Part:
    """The opened map without members of these names."""
    return _changed(part, dict.fromkeys(names))


def only_members(part: Part, names: Collection[str]) -> Part:
    """The opened map with no other members than those of these names."""
    # Not as members of their own: there may be hundreds of names, and each would be a column.
    kept = F.map_filter(all_members(part), lambda name, _: name.isin(sorted(names)))
    return Part(F.to_variant_object(kept), None, Opened())


def all_members(part: Part) -> Column:
    """Data without a schema as map<string,variant>; null if it is not a map."""
    known = _known(part)
    sure = {name: each.column for name, each in known.items() if each and each.sure}
    some = {name: each.column for name, each in known.items() if each and not each.sure}
    # Of equal keys the last one wins, so what is sure to come need not be taken out.
    hidden = sorted(name for name in known if name not in sure)
    rest = _map(part)
    if hidden:
        rest = F.map_filter(rest, lambda name, _: ~name.isin(hidden))
    added = []
    if some:
        added.append(F.map_filter(_map_of(some), lambda _, value: value.isNotNull()))
    if sure:
        added.append(_map_of(sure))
    return F.map_concat(rest, *added) if added else rest


def closed(part: Part) -> Part:
    """The same, as nothing but a VARIANT if it is an opened map."""
    if part.opened is None:
        return part
    return Part(F.to_variant_object(all_members(part)) if _known(part) else part.column, None)


def without_opened(envelope: Envelope) -> Envelope:
    """The same record with its opened maps closed."""
    return envelope.replace(key=closed(envelope.key), value=closed(envelope.value))


def _known(part: Part) -> Mapping[str, Member | None]:
    return {} if part.opened is None else part.opened.members


def _changed(part: Part, members: Mapping[str, Member | None]) -> Part:
    return Part(part.column, None, Opened({**_known(part), **members}))


def _empty(present: Column) -> Part:
    return Part(F.when(present, F.parse_json(F.lit("{}"))), None, Opened())


def _map(part: Part) -> Column:
    return F.try_variant_get(part.column, "$", "map<string,variant>")


def _map_of(members: Mapping[str, Column]) -> Column:
    return F.create_map(*[part for name in members for part in (F.lit(name), members[name])])
