"""Names that are allowed in a .proto file."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote_plus

from penstock.kernel.errors import DataError

_VALID: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_]")
_ENTRY: Final = "Entry"


def entry_name(name: str) -> str:
    """The message that holds an entry of a map of this name."""
    if "_" in name:
        name = "".join(part.capitalize() for part in name.split("_"))
    return name + _ENTRY


def map_name(entry: str) -> str:
    """The name of the map whose entries are called so."""
    name = entry.removesuffix(_ENTRY)
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() if name != entry else entry


def scrubbed(name: str) -> str:
    """The name with everything that no .proto file may contain written in another way."""
    if _VALID.fullmatch(name) and not name.startswith("_"):
        return name
    # URLEncoder keeps the asterisk, and turns the tilde into its code.
    written = quote_plus(name, safe="*").replace("~", "%7E")
    if written[:1].isdigit() or written.startswith("_"):
        written = f"x{written}"
    return _FOREIGN.sub("_", written)


def checked(name: str) -> str:
    """The name itself.

    Raises:
        DataError: no .proto file may contain it.
    """
    if _VALID.fullmatch(name):
        return name
    raise DataError(
        f"'{name}' can't be a name in a Protobuf schema: set scrub.invalid.names=true to have such"
        " names changed"
    )
