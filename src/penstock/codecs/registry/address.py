"""The addresses in schema.registry.url."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from penstock.kernel.errors import ConfigError

KEY = "schema.registry.url"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a registry is, and the user and password that stand in front of its host."""

    url: str
    user: str = field(default="", repr=False)


def address_of(text: str) -> Address:
    """Raises ConfigError, without the password, if it is not an address."""
    parts = urlsplit(text.strip().rstrip("/"))
    user, _, place = parts.netloc.rpartition("@")
    url = parts._replace(netloc=place).geturl()
    if parts.scheme not in ("http", "https") or not parts.hostname:
        message = (
            f"Invalid value {url} for configuration {KEY}: must be http://host:port or"
            " https://host:port"
        )
        raise ConfigError(message, {KEY: (message,)})
    return Address(url, unquote(user))
