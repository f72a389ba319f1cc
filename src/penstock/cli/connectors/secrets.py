"""What of a config must not be shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.errors import PenstockError

if TYPE_CHECKING:
    from penstock.client import Client
    from penstock.manager.secrets import SecretKeys


def known_secrets(client: Client, config: Mapping[str, str]) -> SecretKeys:
    """Secrets by what the connector's plugin declares, else by their names."""
    from penstock.manager.secrets import SecretKeys

    plugin = config.get("connector.class", "")
    try:
        definitions = client.plugin_config(plugin)
    except PenstockError:
        return SecretKeys()
    declared = {each.get("name", ""): each.get("type") == "PASSWORD" for each in definitions}
    return SecretKeys({plugin: declared})
