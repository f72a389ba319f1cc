"""The databases, one file each (mysql, postgresql, sqlite, generic), registered in registry.py.

The other files are the parts of the contract with their defaults. Nothing here may import the
database, source or sink packages; these import the contract, and no database by name.
"""

from penstock.connectors.jdbc.dialects.connecting import Driver
from penstock.connectors.jdbc.dialects.dialect import Dialect
from penstock.connectors.jdbc.dialects.reading import Received, Selected
from penstock.connectors.jdbc.dialects.registry import (
    DIALECT_NAMES,
    DIALECTS,
    EXAMPLE_URLS,
    find_dialect,
)

__all__ = [
    "DIALECTS",
    "DIALECT_NAMES",
    "EXAMPLE_URLS",
    "Dialect",
    "Driver",
    "Received",
    "Selected",
    "find_dialect",
]
