"""Settings on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.kernel.errors import ConfigError


def pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    """KEY=VALUE texts as a dictionary; errors name the `option`.

    Raises:
        ConfigError: a text is not KEY=VALUE.
    """
    found: dict[str, str] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ConfigError(f"{option} needs KEY=VALUE, got {text!r}")
        found[name.strip()] = value
    return found


def changes_of(arguments: Sequence[str], where: str) -> dict[str, str | None]:
    """The same with `KEY-`, which removes a key: None.

    Raises:
        ConfigError: an argument is neither.
    """
    changes: dict[str, str | None] = {}
    for each in arguments:
        removed = "=" not in each and each.endswith("-") and len(each) > 1
        changes |= {each[:-1]: None} if removed else pairs([each], where)
    return changes
