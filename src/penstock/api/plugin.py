"""The base of every plugin: a class with a kind, a Config, a version and a name."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Final

from penstock.kernel.config import Config

CONNECT_VERSION: Final = "4.1.1"
"""The version of Kafka Connect that Penstock behaves like; its own plugins show it."""


class PluginKind(StrEnum):
    """The kinds of plugins; the values are their names in the REST API."""

    SOURCE = "source"
    SINK = "sink"
    CONVERTER = "converter"
    HEADER_CONVERTER = "header_converter"
    TRANSFORMATION = "transformation"
    PREDICATE = "predicate"


class Plugin:
    """Root of all plugins. Choose one of the shapes in this package; do not subclass this.

    Class attributes:
        Config: the plugin's configuration keys; the only list of them anywhere.
        java_name: its class name in Kafka Connect; None for a plugin that exists only in
            Penstock and is named by its Python path.
        version: shown by the REST API; None shows as unknown.
    """

    kind: ClassVar[PluginKind]
    Config: ClassVar[type[Config]] = Config
    java_name: ClassVar[str | None] = None
    version: ClassVar[str | None] = None

    @classmethod
    def class_name(cls) -> str:
        """The name in configurations, statuses and plugin lists."""
        return cls.java_name or f"{cls.__module__}.{cls.__qualname__}"


class Side(StrEnum):
    """Which half of a record a transformation or converter works on."""

    KEY = "key"
    VALUE = "value"
