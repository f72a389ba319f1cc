"""Names of fields, and paths to nested fields, in settings of transformations.

Version V1 of the syntax names a field of the data itself; the name may have any characters. In V2
dots lead into structs and maps. A step between backticks may contain dots, and in it a backtick
before a dot is escaped by a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from penstock.kernel.config import Importance, Type, key, one_of_ignoring_case
from penstock.kernel.data.schema import Field, Schema, SchemaType
from penstock.kernel.errors import ConfigError, DataError
from penstock.transforms.requirements import require_map_or_null
from penstock.transforms.structs import field_value
from penstock.transforms.variants import member

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.envelope import Envelope, Part

NESTED_ACCESS: Final = "nested field access"

Steps = tuple[str, ...]
"""The names on the way to a field, at least one."""

Tree = dict[str, "Tree | None"]
"""Several paths as one tree; None where a path ends."""

_QUOTED: Final = re.compile(r"`(.*?)(?<!\\)`(?:\.|\Z)", re.DOTALL)


def field_syntax_key() -> Any:
    """The key `field.syntax.version` of a Config."""
    return key(
        Type.STRING,
        default="V1",
        importance=Importance.HIGH,
        valid=one_of_ignoring_case("V1", "V2"),
        doc=(
            "How fields are named. V1: by their names, and only those of the data itself."
            " V2: by paths; a.b is the field b inside of a, and `a.b` between backticks is the"
            " field whose name has a dot."
        ),
    )


def field_steps(path: str, version: str) -> Steps:
    """The steps of a path in this version of the syntax.

    Raises:
        ConfigError: a backtick opens a name that does not end.
    """
    return _split(path) if version.upper() == "V2" and path else (path,)


def _split(path: str) -> Steps:
    steps: list[str] = []
    at = 0
    while at < len(path):
        if path[at] == "`":
            found = _QUOTED.match(path, at)
            if found is None:
                raise ConfigError(_incomplete(path, at))
            steps.append(found[1].replace("\\`.", "`."))
            at = found.end()
        else:
            name = path[at:].partition(".")[0]
            steps.append(name)
            at += len(name) + 1
    return (*steps, "") if path.endswith(".") else tuple(steps)


def _incomplete(path: str, at: int) -> str:
    return (
        f"Incomplete backtick pair in path: [{path}], consider adding a backslash before"
        f" backtick at position {at} to escape it"
    )


def tree_of(paths: Iterable[Steps]) -> Tree:
    """All paths as one tree; of a path and its continuation, the shorter one counts."""
    tree: Tree = {}
    for steps in sorted(paths, key=len):
        _plant(tree, steps)
    return tree


def _plant(tree: Tree, steps: Steps) -> None:
    for step in steps[:-1]:
        branch = tree.setdefault(step, {})
        if branch is None:
            return
        tree = branch
    tree.setdefault(steps[-1], None)


def fields_on(schema: Schema, steps: Sequence[str]) -> list[Field] | None:
    """The fields that the steps lead through, the last one included; None if one is missing.

    Raises:
        DataError: a step leads into something other than a struct.
    """
    found: list[Field] = []
    for step in steps:
        if schema.type is not SchemaType.STRUCT:
            raise DataError("Cannot look up fields on non-struct type")
        field = schema.field(step)
        if field is None:
            return None
        found.append(field)
        schema = field.schema
    return found


def value_at(value: Column, fields: Sequence[Field], *, replace_null: bool) -> Column:
    """The value of the last of these fields, each of which is inside of the one before."""
    # As in Kafka, a null struct on the way is always replaced by its default.
    for field in fields[:-1]:
        value = field_value(value, field, replace_null=True)
    return field_value(value, fields[-1], replace_null=replace_null)


def member_at(envelope: Envelope, part: Part, steps: Sequence[str]) -> tuple[Envelope, Part]:
    """The member at a path in a map without a schema; null if there is none.

    Rows where a step leads into something other than a map get a fault.
    """
    for step in steps[:-1]:
        part = member(part, step)
        envelope = require_map_or_null(envelope, part, NESTED_ACCESS)
    return envelope, member(part, steps[-1])
