"""The errors of a config: pairs of a key and a message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.kernel.errors import ConfigError


def by_key(found: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """All messages of each key."""
    messages: dict[str, list[str]] = {}
    for name, message in found:
        messages.setdefault(name, []).append(message)
    return messages


def raise_any(errors: Mapping[str, list[str]]) -> None:
    """Raise ConfigError with all messages, each once, if there are any."""
    if errors:
        texts = [message for messages in errors.values() for message in messages]
        raise ConfigError("; ".join(dict.fromkeys(texts)), errors)
