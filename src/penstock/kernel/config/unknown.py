"""Messages for unknown keys and classes of a connector's config.

Connect accepts and ignores keys that no plugin declares. Most of them are typing errors, so they
are not refused, but logged and shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Final

#: Prefixes for settings of clients and drivers, which can't be listed: only keys that look
#: mistyped are reported.
_PASSED_ON: Final = (
    "producer.override.",
    "consumer.override.",
    "admin.override.",
    "connection.",
    "penstock.",
)
#: Prefixes for keys of plugins, which are unknown while the plugin's class is wrong.
_OF_PLUGINS: Final = (
    "transforms.",
    "predicates.",
    "key.converter.",
    "value.converter.",
    "header.converter.",
)
_CONVERTERS: Final = ("key.converter", "value.converter", "header.converter")
_LETTERS_A_MISTAKE: Final = 4

#: Connect's message for an unknown class, and its description of each known one.
_NO_CLASS: Final = re.compile(
    r"Failed to find any class that implements Connector and which name matches (.*?), "
    r"available connectors are: (.*?)([^}]*)$",
    re.DOTALL,
)
_NO_PLUGIN: Final = re.compile(r"Class (\S+) could not be found\.")
_CLASS_NAME: Final = re.compile(r"PluginDesc\{[^}]*?name='([^']*)'")
_ALIKE: Final = 0.75


def unknown_keys(
    given: Collection[str], declared: Collection[str], *, complete: bool = True
) -> dict[str, str]:
    """A warning for each given key that is not declared.

    Not `complete`: `declared` may lack the keys of transforms and converters.
    """
    silent = _PASSED_ON if complete else (*_PASSED_ON, *_OF_PLUGINS)
    warnings: dict[str, str] = {}
    for key in sorted(set(given) - set(declared)):
        near = nearest_key(key, declared)
        if near is not None:
            warnings[key] = f"unknown key {key}; did you mean {near}?"
        elif not key.startswith(silent):
            warnings[key] = f"unknown key {key}{_without_class(key, given)}"
    return warnings


def in_plain_words(text: str) -> str:
    """A plain message in place of Connect's long one for a class that is not installed."""
    found = _NO_CLASS.search(text)
    if found is None:
        return text
    name, listed, reason = found.groups()
    near = _nearest_class(name, _CLASS_NAME.findall(listed))
    guess = f"; did you mean {near}?" if near else "."
    remedy = (
        " Put its wheel (for Penstock) or jar (for Kafka Connect) on the worker's plugin.path;"
        " `penstock get plugins` lists the installed ones."
    )
    message = f"there is no connector class {name} on this worker{guess}"
    return message + (f" {reason.strip()}" if reason.strip() else remedy)


def with_guess(error: str, known: Iterable[str]) -> str:
    """A validation's error, with the known class that was probably meant."""
    found = _NO_PLUGIN.search(error)
    near = _nearest_class(found[1], known) if found else None
    return f"{error} Did you mean {near}?" if near else error


def _nearest_class(name: str, known: Iterable[str]) -> str | None:
    # Its last word may be mistyped, or left out as in Connect's aliases.
    by_short_name = {short: each for each in known for short in _short_names(each)}
    for short in _short_names(name):
        if found := get_close_matches(short, by_short_name, 1, _ALIKE):
            return by_short_name[found[0]]
    return None


def _short_names(name: str) -> tuple[str, str]:
    last = name.rpartition(".")[2].lower()
    return last.removesuffix("connector"), last


def _without_class(key: str, given: Collection[str]) -> str:
    for converter in _CONVERTERS:
        if key.startswith(f"{converter}.") and converter not in given:
            return f"; without {converter} the worker's converter and its settings are used"
    return ""


def nearest_key(key: str, declared: Iterable[str]) -> str | None:
    """The declared key that was probably meant; None if none is similar enough."""
    close = [
        (distance, each) for each in declared if (distance := _mistakes(key, each)) is not None
    ]
    return min(close)[1] if close else None


def _mistakes(key: str, other: str) -> int | None:
    """How many letters differ; None if too many for a typing error."""
    if abs(len(key) - len(other)) > len(key) // _LETTERS_A_MISTAKE + 1:
        return None
    if _plain(key) == _plain(other):
        return 0
    # Ignore equal parts at the beginning: they do not make the rest similar.
    rest, other_rest = _without_common_parts(key, other)
    most = max(1, len(rest) // _LETTERS_A_MISTAKE)
    distance = _distance(rest.lower(), other_rest.lower())
    return distance if distance <= min(most, 2) else None


def _plain(key: str) -> str:
    return key.lower().replace(".", "").replace("_", "").replace("-", "")


def _without_common_parts(key: str, other: str) -> tuple[str, str]:
    parts, others = key.split("."), other.split(".")
    while len(parts) > 1 and len(others) > 1 and parts[0] == others[0]:
        del parts[0], others[0]
    return ".".join(parts), ".".join(others)


def _distance(left: str, right: str) -> int:
    """The number of letters to add, remove or replace, and of neighbours to swap."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for at, letter in enumerate(left, 1):
        two_before, before, row = before, row, [at]
        for to, other in enumerate(right, 1):
            cost = min(before[to] + 1, row[-1] + 1, before[to - 1] + (letter != other))
            swapped = at > 1 and to > 1 and letter == right[to - 2] and left[at - 2] == other
            row.append(min(cost, two_before[to - 2] + 1) if swapped else cost)
    return row[-1]
