"""The dialects, and which one a URL or `dialect.name` stands for."""

from penstock.connectors.jdbc.dialects.base import Dialect, Driver, Received, Selected
from penstock.connectors.jdbc.dialects.find import DIALECT_NAMES, find_dialect

__all__ = ["DIALECT_NAMES", "Dialect", "Driver", "Received", "Selected", "find_dialect"]
