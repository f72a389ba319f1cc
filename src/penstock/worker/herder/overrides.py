"""Client settings that a connector overrides, and the worker's policy on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from penstock.api.plugin import PluginKind
from penstock.kafka.client_keys import CLIENTS
from penstock.kernel.config import ConfigDef, ConfigValue
from penstock.kernel.config.prefix import under_prefix
from penstock.kernel.config.values import parse_value
from penstock.kernel.java.hash_order import hash_order
from penstock.worker.herder.infos import ConfigInfo, of_values

ConfigMap = Mapping[str, str | None]

_DLQ: Final = "errors.deadletterqueue.topic.name"
_PRINCIPAL: Final = frozenset({"sasl.jaas.config", "sasl.mechanism", "security.protocol"})


def override_infos(props: ConfigMap, kind: PluginKind, policy: str) -> list[ConfigInfo]:
    """The client settings that the config overrides, checked by the worker's policy.

    Raises:
        ConfigError: a value is not of its setting's type.
    """
    return [
        info
        for client in _used(props, kind)
        for info in _client_infos(props, f"{client}.override.", CLIENTS[client], policy)
    ]


def _used(props: ConfigMap, kind: PluginKind) -> Iterator[str]:
    dead_letters = bool((props.get(_DLQ) or "").strip())
    source = kind is PluginKind.SOURCE
    if source or dead_letters:
        yield "producer"
    if not source:
        yield "consumer"
    if dead_letters or (source and any(name.startswith("topic.creation.") for name in props)):
        yield "admin"


def _client_infos(props: ConfigMap, prefix: str, keys: ConfigDef, policy: str) -> list[ConfigInfo]:
    # Java copies the settings from one hash map into another; settings that share a bucket of the
    # second keep the order of the first.
    given = under_prefix({name: props[name] for name in hash_order(props)}, prefix)
    values = [_checked(name, given[name], keys, policy) for name in hash_order(given)]
    return of_values(values, keys.keys, prefix)


def _checked(name: str, text: str | None, keys: ConfigDef, policy: str) -> ConfigValue:
    value = parse_value(name, text, keys[name].type) if name in keys else text
    found = ConfigValue(name, value)
    if policy == "All" or (policy == "Principal" and name in _PRINCIPAL):
        return found
    return found.with_error(
        f"The '{policy}' policy does not allow '{name}' to be overridden in the connector "
        "configuration."
    )
