"""Finds plugins: the built-in ones, those of installed packages, and those on plugin.path.

May import the public API, the kernel and the machine; loads plugins by name, never by import.
"""

from typing import Final

from penstock.api.plugin import CONNECT_VERSION
from penstock.plugins.builtin import BUILT_IN, CONNECTORS, PluginInfo
from penstock.plugins.outside import Broken
from penstock.plugins.registry import Plugins, rest_list

KAFKA_VERSION: Final = CONNECT_VERSION

__all__ = [
    "BUILT_IN",
    "CONNECTORS",
    "KAFKA_VERSION",
    "Broken",
    "PluginInfo",
    "Plugins",
    "rest_list",
]
