"""Which keys of a config are secrets, and how values are shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from penstock.config.values import HIDDEN

# A config provider's reference is not the secret, and who reads a plan needs to see it.
_REFERENCE: Final = re.compile(r"\$\{[^{}]+\}")
_LOOKS_SECRET: Final = re.compile(
    r"passw(or)?d|passphrase|secret|token|credential|jaas|private\.?key|access\.?key|api\.?key"
    r"|\.user\.info$",
    re.IGNORECASE,
)
_IN_QUERY: Final = re.compile(
    r"([?&;](?:[\w.]*(?:password|passwd|pwd|secret|token|passphrase)[\w.]*)=)[^&;]*", re.IGNORECASE
)
_IN_ADDRESS: Final = re.compile(r"(://[^/@:\s]*:)[^@/\s]+(?=@)")
_STARS: Final = re.compile(r"\*{4,}")


def is_mask(value: str) -> bool:
    """Whether a value stands for one that a server hides: Penstock's mask, or stars."""
    return value == HIDDEN or _STARS.fullmatch(value) is not None


def is_reference(value: str) -> bool:
    """Whether a value is a config provider's reference and nothing else."""
    return _REFERENCE.fullmatch(value) is not None


@dataclass(frozen=True, slots=True)
class SecretKeys:
    """Knows secrets by what plugins declare and, for all other keys, by their names.

    `declared` has, for each connector class, the keys that it defines: whether they are passwords.
    """

    declared: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)

    def is_secret(self, key: str, config: Mapping[str, str]) -> bool:
        """Whether the value of a key must not be shown."""
        if is_mask(config.get(key, "")):
            return True
        known = self.declared.get(config.get("connector.class", ""), {}).get(key)
        return bool(_LOOKS_SECRET.search(key)) if known is None else known

    def shown(self, key: str, value: str, config: Mapping[str, str]) -> str:
        """A value for people: secrets, and passwords in addresses, are hidden."""
        if is_reference(value) or not value:
            return value
        return HIDDEN if self.is_secret(key, config) else without_passwords(value)


def without_passwords(text: str) -> str:
    """A text with the passwords of addresses in it hidden."""
    return _IN_ADDRESS.sub(rf"\1{HIDDEN}", _IN_QUERY.sub(rf"\1{HIDDEN}", text))
