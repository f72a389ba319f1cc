"""`penstock plugins`: the plugins that a worker with these properties finds or can't load."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from penstock.cli.output import complain, say
from penstock.plugins import Plugins
from penstock.worker.settings import plugin_paths


def list_plugins(properties: Mapping[str, str]) -> int:
    """Print a line for each plugin and each broken one; 1 if there is a broken one."""
    # Plugins that can't be loaded are printed below.
    logging.getLogger("penstock.plugins").setLevel(logging.ERROR)
    found = Plugins.discover(plugin_paths(properties))
    for info in found.infos():
        say(f"{info.kind:<17} {info.version or '-':<8} {info.name}")
    for broken in found.broken:
        complain(str(broken))
    return 1 if found.broken else 0
