"""Passwords in connector configs: masked in answers, restored when a client sends the mask."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Mapping
from hmac import compare_digest
from typing import Final

from penstock.api.plugin import PluginKind
from penstock.kafka.client_keys import WORKER_KEYS
from penstock.kernel.clock import Clock, SystemClock
from penstock.kernel.config import ConfigDef, Type
from penstock.kernel.config.redaction import has_mask, is_reference, sounds_secret, without_password
from penstock.kernel.config.values import HIDDEN
from penstock.kernel.errors import BadRequestError, PenstockError
from penstock.kernel.java.hash_order import copied_order
from penstock.kernel.wire.digests import secret_digest
from penstock.plugins import CONNECTORS, Plugins
from penstock.worker.herder.destinations import moved
from penstock.worker.herder.interface import ConfigMap

_OVERRIDES: Final = ("producer.override.", "consumer.override.", "admin.override.")


_Types = Mapping[str, Type]


def _types(definition: ConfigDef) -> _Types:
    return {key.name: key.type for key in definition}


_CLIENT_TYPES: Final = _types(WORKER_KEYS)


class Secrets:
    """Knows which keys of a config are secrets. Threads may share it.

    Secrets are keys that their plugin declares as passwords, undeclared keys whose name sounds like
    a password, and passwords in addresses.
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
        """A config that a client sent, with stored secrets in place of their masks.

        A mask stays if the config sends the secret elsewhere than before: else a client that may
        write configs, but not see passwords, could send them to a server of its own.
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
        """Whether each digest is that of the stored value, for a connector's hidden values.

        A key with too many different wrong digests in the last hour is left out.
        """
        shown = self.masked(stored)
        found: dict[str, bool] = {}
        for key, digest in digests.items():
            if shown.get(key) == stored.get(key):
                continue
            right = secret_digest(salt, name, key, stored[key])
            # Of another length it is not a digest; keeping it could fill the memory.
            if len(digest) == len(right) and self._guesses.allow((name, key), digest):
                found[key] = compare_digest(right.encode(), digest.encode("utf-8", "replace"))
            if found.get(key):
                self._guesses.forget((name, key), digest)
        return found

    def mask_problems(
        self, config: ConfigMap, stored: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Errors, by key, for the masks that are left in a restored config.

        They are masks of secrets that are not stored, or that must not be reused.
        """
        secret = self._names(config)
        meant = self._unmasked(config, stored or {})
        found: dict[str, str] = {}
        for name, value in sorted(config.items()):
            whole = value == HIDDEN and (name in secret or meant[name] != value)
            if value is None or not (whole or has_mask(value)):
                continue
            changed = ", ".join(self._moved(name, meant, stored or {}))
            why = f"which can't be reused because {changed} has changed; {_SEND}"
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
        """The keys, themselves not secret, that send a secret elsewhere than before."""
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
        # Users choose aliases, so only the part behind the alias can sound secret.
        return Type.PASSWORD in declared if declared else sounds_secret(own)

    def _declared_for(self, name: str, config: ConfigMap) -> Iterator[tuple[str, _Types]]:
        """Prefix and keys of each client or plugin that may own a key, the nearest owner last."""
        for prefix in _OVERRIDES:
            if name.startswith(prefix):
                yield prefix, _CLIENT_TYPES
                return
        for prefix, plugin, kinds in _owners(name, config):
            yield prefix, self._keys(plugin, kinds)

    def _keys(self, plugin: str, kinds: frozenset[PluginKind]) -> _Types:
        """The keys that a plugin declares; empty if it is not installed."""
        at = (plugin, min(kinds), self._plugins.generation)
        if at not in self._known:
            found = self._declared(plugin, kinds)
            # The search may have found new plugins, which raises the generation.
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
    # A config provider's reference is not the secret, and readers of the config need it.
    return value if not value or is_reference(value) else HIDDEN


_SEND: Final = "send the value itself"
_NONE_STORED: Final = (
    f"but none is stored; {_SEND}, or let the worker copy a connector with its secrets: "
    "penstock create NEW --like OLD"
)


class _Guesses:
    """Limits guessing of secrets: only a few different digests may be wrong in an hour.

    The same wrong digest may be repeated, because its answer reveals nothing new.
    """

    _MOST: Final = 5
    _SECONDS: Final = 3600.0

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._guard = threading.Lock()
        self._wrong: dict[tuple[str, str], dict[str, float]] = {}

    def allow(self, secret: tuple[str, str], digest: str) -> bool:
        """Count a digest as wrong until forget(); return whether it may be answered."""
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
        """Remove a digest that was right."""
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
