"""Passwords in connector configs: hidden on the way out, kept when they come back hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hmac import compare_digest
from typing import Final

from penstock.api.plugin import PluginKind
from penstock.config import ConfigDef, Type
from penstock.config.redaction import sounds_secret
from penstock.config.values import HIDDEN
from penstock.data.hash_order import copied_order
from penstock.errors import BadRequestError, PenstockError
from penstock.plugins import CONNECTORS, Plugins
from penstock.settings import CLIENT_KEYS

# A config provider's reference is not the secret, and who reads a config needs to see it.
_REFERENCE: Final = re.compile(r"\$\{[^{}]+\}")
_OVERRIDES: Final = ("producer.override.", "consumer.override.", "admin.override.")


_Types = Mapping[str, Type]


def _types(definition: ConfigDef) -> _Types:
    return {key.name: key.type for key in definition}


_CLIENT_TYPES: Final = _types(CLIENT_KEYS)


class Secrets:
    """Knows which keys of a config are secrets. Threads may share it.

    They are those that their plugin declares as passwords, and among those that no plugin declares,
    or only one that is not installed, those that sound like one.
    """

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins
        self._known: dict[tuple[str, PluginKind, int], _Types] = {}

    def masked(self, config: Mapping[str, str]) -> dict[str, str]:
        """The config as it may be shown."""
        secret = self._names(config)
        return {
            name: HIDDEN if name in secret and _is_clear(value) else value
            for name, value in config.items()
        }

    def restored(
        self, config: Mapping[str, str | None], stored: Mapping[str, str] | None
    ) -> dict[str, str | None]:
        """A config that a client sent, with stored passwords where it sent the mask back."""
        found = dict(config)
        for name in self._names(found) if stored else ():
            if found[name] == HIDDEN and stored is not None and name in stored:
                found[name] = stored[name]
        return found

    def same(self, given: Mapping[str, str], stored: Mapping[str, str]) -> list[str]:
        """The keys whose given value is the stored one."""
        return [
            name
            for name, value in given.items()
            if name in stored and compare_digest(value.encode(), stored[name].encode())
        ]

    def mask_problems(self, config: Mapping[str, str | None]) -> dict[str, str]:
        """What is wrong with the masks that are left in a restored config, by key.

        A mask that stands for nothing stored must not become the password.
        """
        return {
            name: f"Invalid value {HIDDEN} for configuration {name}: it hides a stored value, "
            "but none is stored; send the value itself"
            for name in sorted(self._names(config))
            if config[name] == HIDDEN
        }

    def require_class(self, config: Mapping[str, str | None]) -> None:
        """Refuse a config without `connector.class`, in Connect's words but without passwords.

        Raises:
            BadRequestError: it names no connector.
        """
        if config.get("connector.class") is not None:
            return
        given = self.masked(
            {name: "null" if text is None else text for name, text in config.items()}
        )
        shown = ", ".join(f"{name}={given[name]}" for name in copied_order(given))
        raise BadRequestError(f"Connector config {{{shown}}} contains no connector type")

    def _names(self, config: Mapping[str, str | None]) -> frozenset[str]:
        return frozenset(name for name in config if self._is_secret(name, config))

    def _is_secret(self, name: str, config: Mapping[str, str | None]) -> bool:
        own, declared = name, set[Type]()
        for prefix, types in self._declared_for(name, config):
            own = name.removeprefix(prefix)
            if own in types:
                declared.add(types[own])
        # An alias is the user's word, so only what is behind it can sound secret.
        return Type.PASSWORD in declared if declared else sounds_secret(own)

    def _declared_for(
        self, name: str, config: Mapping[str, str | None]
    ) -> Iterator[tuple[str, _Types]]:
        """The prefix and the keys of whatever may own a key, the nearest owner last."""
        for prefix in _OVERRIDES:
            if name.startswith(prefix):
                yield prefix, _CLIENT_TYPES
                return
        for prefix, plugin, kinds in _owners(name, config):
            yield prefix, self._keys(plugin, kinds)

    def _keys(self, plugin: str, kinds: frozenset[PluginKind]) -> _Types:
        """The keys that a plugin declares; none if there is no such plugin here."""
        at = (plugin, min(kinds), self._plugins.generation)
        if at not in self._known:
            found = self._declared(plugin, kinds)
            # The search may have found new plugins: then this is not what the others have.
            at = (plugin, min(kinds), self._plugins.generation)
            self._known[at] = found
        return self._known[at]

    def _declared(self, plugin: str, kinds: frozenset[PluginKind]) -> _Types:
        try:
            found = self._plugins.load(self._plugins.find(plugin, kinds))
        except PenstockError:
            return {}
        return _types(found.Config.definition())


def _is_clear(value: str) -> bool:
    return bool(value) and not _REFERENCE.fullmatch(value)


def _owners(
    name: str, config: Mapping[str, str | None]
) -> Iterator[tuple[str, str, frozenset[PluginKind]]]:
    """Every plugin of the config that a key may belong to, with the prefix of its keys."""
    yield "", config.get("connector.class") or "", CONNECTORS
    for key, kind in _CONVERTERS.items():
        if name.startswith(f"{key}.") and config.get(key):
            yield f"{key}.", config[key] or "", frozenset({kind})
    for key, kind in _ALIASED.items():
        alias = name.removeprefix(key).partition(".")[0] if name.startswith(key) else ""
        if alias:
            yield f"{key}{alias}.", config.get(f"{key}{alias}.type") or "", frozenset({kind})


_CONVERTERS: Final = {
    "key.converter": PluginKind.CONVERTER,
    "value.converter": PluginKind.CONVERTER,
    "header.converter": PluginKind.HEADER_CONVERTER,
}
_ALIASED: Final = {
    "transforms.": PluginKind.TRANSFORMATION,
    "predicates.": PluginKind.PREDICATE,
}
