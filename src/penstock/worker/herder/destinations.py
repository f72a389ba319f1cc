"""Where the secrets of a config go: a stored secret is reused only if that did not change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from penstock.worker.herder.interface import ConfigMap

_OVERRIDES: Final = ("producer.override.", "consumer.override.", "admin.override.")
_CONVERTERS: Final = ("key.converter.", "value.converter.", "header.converter.")
_ALIASED: Final = re.compile(r"(?:transforms|predicates)\.[^.]+\.")
_CLASS: Final = "connector.class"

# Keys for the server that gets a secret, the account, the code that sends it, and its encryption.
_PLACE: Final = re.compile(
    r"""(?:^|[._-])(?:
        ur[li]s?|dsn|hosts?|hostnames?|servers?|brokers?|bootstrap|addresses|address|endpoints?
        |ports?|registry|proxy|user|username|principal|account|tenant|realm|domain
        |class|driver|factory|cmd|command
        |ssl|tls|protocol|mechanism|truststore|certificates?
    )(?:$|[._-])""",
    re.IGNORECASE | re.VERBOSE,
)
_ADDRESS: Final = re.compile(r"\S*://\S*|jdbc:\S*|[\w.-]+:\d+(?:,[\w.-]+:\d+)*", re.IGNORECASE)
_DRIVER_SETTING: Final = "connection."


def moved(secret: str, config: ConfigMap, stored: Mapping[str, str]) -> list[str]:
    """The keys that say where a secret goes and whose value changed."""
    owner = _owner(secret)
    return sorted(
        name
        for name in config.keys() | stored.keys()
        if config.get(name) != stored.get(name)
        and (name == _CLASS or (_owner(name) == owner and _says_where(name, owner, config, stored)))
    )


def _owner(name: str) -> str:
    """The prefix of the client or plugin that a key is for; empty: the connector's own."""
    # The key for the class of a converter is the prefix without its dot.
    for prefix in (*_OVERRIDES, *_CONVERTERS):
        if f"{name}.".startswith(prefix):
            return prefix
    found = _ALIASED.match(name)
    return "" if found is None else found[0]


def _says_where(name: str, owner: str, config: ConfigMap, stored: Mapping[str, str]) -> bool:
    own = name.removeprefix(owner)
    values = [value for value in (config.get(name), stored.get(name)) if value]
    if name == owner.removesuffix(".") or own == "type" or _PLACE.search(own):
        return True
    if any(map(_ADDRESS.fullmatch, values)):
        return True
    # JDBC hands such keys to the driver, which may have any number of ways to go elsewhere.
    return own.startswith(_DRIVER_SETTING) and not all(value.isdigit() for value in values)
