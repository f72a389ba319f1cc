"""Passwords in connector configs: hidden on the way out, kept when they come back hidden."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Mapping
from hmac import compare_digest
from typing import Final

from penstock.api.plugin import PluginKind
from penstock.clock import Clock, SystemClock
from penstock.config import ConfigDef, Type
from penstock.config.redaction import has_mask, is_reference, sounds_secret, without_password
from penstock.config.values import HIDDEN
from penstock.data.hash_order import copied_order
from penstock.errors import BadRequestError, PenstockError
from penstock.herder.destinations import moved
from penstock.herder.herder import ConfigMap
from penstock.plugins import CONNECTORS, Plugins
from penstock.settings import CLIENT_KEYS
from penstock.wire.digests import secret_digest

_OVERRIDES: Final = ("producer.override.", "consumer.override.", "admin.override.")


_Types = Mapping[str, Type]


def _types(definition: ConfigDef) -> _Types:
    return {key.name: key.type for key in definition}


_CLIENT_TYPES: Final = _types(CLIENT_KEYS)


class Secrets:
    """Knows which keys of a config are secrets. Threads may share it.

    They are those that their plugin declares as passwords, and among those that no plugin declares,
    or only one that is not installed, those that sound like one; and the passwords in addresses.
    """

    def __init__(self, plugins: Plugins, clock: Clock | None = None) -> None:
        self._plugins = plugins
        self._known: dict[tuple[str, PluginKind, int], _Types] = {}
        self._guesses = _Guesses(clock or SystemClock())
        self.salt = secrets.token_hex(16)

    def masked(self, config: Mapping[str, str]) -> dict[str, str]:
        """The config as it may be shown."""
        secret = self._names(config)
        return {
            name: _masked(value) if name in secret else without_password(value)
            for name, value in config.items()
        }

    def restored(
        self, config: ConfigMap, stored: Mapping[str, str] | None
    ) -> dict[str, str | None]:
        """A config that a client sent, with stored secrets where it sent their masks back.

        They stay masks where the config says that the secret goes elsewhere from now on: else who
        may write configs, but not see passwords, has them sent to a server of his own.
        """
        if stored is None:
            return dict(config)
        meant = self._unmasked(config, stored)
        return {
            name: sent if sent != meant[name] and self._moved(name, meant, stored) else meant[name]
            for name, sent in config.items()
        }

    def same(
        self, name: str, salt: str, digests: Mapping[str, str], stored: Mapping[str, str]
    ) -> dict[str, bool]:
        """Of a connector's hidden values: whether the digest is that of the stored value.

        A key of which too many different digests were wrong lately is left out.
        """
        shown = self.masked(stored)
        found: dict[str, bool] = {}
        for key, digest in digests.items():
            if shown.get(key) == stored.get(key):
                continue
            right = secret_digest(salt, name, key, stored[key])
            # One of another length is none, and would be kept among the wrong ones at its length.
            if len(digest) == len(right) and self._guesses.allow((name, key), digest):
                found[key] = compare_digest(right.encode(), digest.encode("utf-8", "replace"))
            if found.get(key):
                self._guesses.forget((name, key), digest)
        return found

    def mask_problems(
        self, config: ConfigMap, stored: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """What is wrong with the masks that are left in a restored config, by key.

        A mask that stands for nothing stored, or for what must not stay, is no password.
        """
        secret = self._names(config)
        meant = self._unmasked(config, stored or {})
        found: dict[str, str] = {}
        for name, value in sorted(config.items()):
            whole = value == HIDDEN and (name in secret or meant[name] != value)
            if value is None or not (whole or has_mask(value)):
                continue
            changed = ", ".join(self._moved(name, meant, stored or {}))
            why = f"which stays only where it was meant for, but {changed} has changed; {_SEND}"
            found[name] = (
                f"Invalid value {value} for configuration {name}: it hides a stored value, "
                f"{why if changed and stored and name in stored else _NONE_STORED}"
            )
        return found

    def _unmasked(self, config: ConfigMap, stored: Mapping[str, str]) -> dict[str, str | None]:
        """The config with stored values wherever it has their masks."""
        shown, secret = self.masked(stored), self._names(stored)
        found = dict(config)
        for name, value in stored.items():
            hidden = name in secret or value != shown[name]
            if hidden and found.get(name) in (shown[name], HIDDEN):
                found[name] = value
        return found

    def _moved(self, name: str, config: ConfigMap, stored: Mapping[str, str]) -> list[str]:
        """The keys that send a secret elsewhere than before; secrets themselves don't."""
        secret = self._names(config) | self._names(stored)
        return [each for each in moved(name, config, stored) if each not in secret]

    def require_class(self, config: ConfigMap) -> None:
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

    def _names(self, config: ConfigMap) -> frozenset[str]:
        return frozenset(name for name in config if self._is_secret(name, config))

    def _is_secret(self, name: str, config: ConfigMap) -> bool:
        own, declared = name, set[Type]()
        for prefix, types in self._declared_for(name, config):
            own = name.removeprefix(prefix)
            if own in types:
                declared.add(types[own])
        # An alias is the user's word, so only what is behind it can sound secret.
        return Type.PASSWORD in declared if declared else sounds_secret(own)

    def _declared_for(self, name: str, config: ConfigMap) -> Iterator[tuple[str, _Types]]:
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


def _masked(value: str) -> str:
    # A config provider's reference is not the secret, and who reads a config needs to see it.
    return value if not value or is_reference(value) else HIDDEN


_SEND: Final = "send the value itself"
_NONE_STORED: Final = (
    f"but none is stored; {_SEND}, or let the worker copy a connector with its secrets: "
    "penstock create NEW --like OLD"
)


class _Guesses:
    """Who asks whether a digest is right may be guessing: only a few may be wrong in an hour.

    The same digest may be wrong as often as it likes, because it tells nothing new.
    """

    _MOST: Final = 5
    _SECONDS: Final = 3600.0

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._guard = threading.Lock()
        self._wrong: dict[tuple[str, str], dict[str, float]] = {}

    def allow(self, secret: tuple[str, str], digest: str) -> bool:
        """Count one that may turn out to be wrong; whether it may be answered."""
        now = self._clock.now()
        with self._guard:
            lately = {
                each: at
                for each, at in self._wrong.get(secret, {}).items()
                if at > now - self._SECONDS
            }
            allowed = digest in lately or len(lately) < self._MOST
            self._wrong[secret] = {digest: now, **lately} if allowed else lately
        return allowed

    def forget(self, secret: tuple[str, str], digest: str) -> None:
        """It was right."""
        with self._guard:
            self._wrong.get(secret, {}).pop(digest, None)


def _owners(name: str, config: ConfigMap) -> Iterator[tuple[str, str, frozenset[PluginKind]]]:
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
