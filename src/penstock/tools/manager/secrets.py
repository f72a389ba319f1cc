"""Which keys of a config are secrets, and how values are shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from penstock.kernel.config.redaction import (
    has_mask,
    is_reference,
    sounds_secret,
    without_password,
    without_passwords,
    without_value,
)
from penstock.kernel.config.values import HIDDEN

if TYPE_CHECKING:
    from penstock.tools.client import Validation

_STARS: Final = re.compile(r"\*{4,}")


def is_mask(value: str) -> bool:
    """Whether a value is the mask of a hidden one: Penstock's mask, or stars."""
    return value == HIDDEN or _STARS.fullmatch(value) is not None


def hides(value: str) -> bool:
    """Whether a server hides this value, or the password in it."""
    return is_mask(value) or has_mask(value)


def has_password(value: str) -> bool:
    """Whether a value is an address with a password, hidden or not."""
    return has_mask(value) or without_password(value) != value


def password_keys(definitions: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The password keys, from the definitions in an answer of the REST API."""
    return frozenset(
        str(each.get("name")) for each in definitions if each.get("type") == "PASSWORD"
    )


@dataclass(frozen=True, slots=True)
class SecretKeys:
    """Detects secrets by what plugins declare, and by key names: many declare too little.

    `declared` has the password keys of each connector class.
    """

    declared: Mapping[str, Collection[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, plugin: str, found: Validation) -> SecretKeys:
        """Of one connector class, from the validation of a config."""
        definitions = (key.definition for key in found.keys if key.definition)
        return cls({plugin: password_keys(definitions)})

    def is_secret(self, key: str, *configs: Mapping[str, str]) -> bool:
        """Whether the value of a key must not be shown, by one of the configs."""
        if sounds_secret(key):
            return True
        return any(is_mask(each.get(key, "")) or self._declares(each, key) for each in configs)

    def shown(self, key: str, value: str, *configs: Mapping[str, str]) -> str:
        """A value for people: secrets, and passwords in addresses, are hidden."""
        if is_reference(value) or not value:
            return value
        if self.is_secret(key, *configs):
            return HIDDEN
        # A config provider's reference is not secret, and readers of a plan need it.
        return without_password(value)

    def redacted(self, key: str, message: str, config: Mapping[str, str]) -> str:
        """The message without secrets: many messages repeat the value."""
        value = config.get(key, "")
        if value and not is_reference(value) and self.is_secret(key, config):
            message = without_value(message, value)
        return without_passwords(message)

    def _declares(self, config: Mapping[str, str], key: str) -> bool:
        return key in self.declared.get(config.get("connector.class", ""), ())
