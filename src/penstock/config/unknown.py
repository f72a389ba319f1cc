"""What a connector's config names and nothing here knows: keys and connector classes.

Connect accepts and ignores keys that no plugin declares, most of which are typing errors, so
nothing is refused here; whoever can be told is told.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Final

#: Below these stand settings of clients and drivers, which nobody can list: only what looks like
#: a mistyped key is told.
_PASSED_ON: Final = (
    "producer.override.",
    "consumer.override.",
    "admin.override.",
    "connection.",
    "penstock.",
)
#: Whose keys depend on a class that the config names, and are not known while that is wrong.
_OF_PLUGINS: Final = (
    "transforms.",
    "predicates.",
    "key.converter.",
    "value.converter.",
    "header.converter.",
)
_CONVERTERS: Final = ("key.converter", "value.converter", "header.converter")
_LETTERS_A_MISTAKE: Final = 4

#: How Connect refuses a class, and how it describes each of those it has.
_NO_CLASS: Final = re.compile(
    r"Failed to find any class that implements Connector and which name matches (.*?), "
    r"available connectors are: (.*?)([^}]*)$",
    re.DOTALL,
)
_CLASS_NAME: Final = re.compile(r"PluginDesc\{[^}]*?name='([^']*)'")
_ALIKE: Final = 0.75


def unknown_keys(
    given: Collection[str], declared: Collection[str], *, complete: bool = True
) -> dict[str, str]:
    """What to tell of each key that is given and not declared.

    Not `complete`: the keys of transforms and converters may be missing among those declared.
    """
    silent = _PASSED_ON if complete else (*_PASSED_ON, *_OF_PLUGINS)
    told: dict[str, str] = {}
    for key in sorted(set(given) - set(declared)):
        near = nearest_key(key, declared)
        if near is not None:
            told[key] = f"unknown key {key}; did you mean {near}?"
        elif not key.startswith(silent):
            told[key] = f"unknown key {key}{_without_class(key, given)}"
    return told


def in_plain_words(text: str) -> str:
    """What is missing, for people, in place of Connect's text about a class it does not have."""
    found = _NO_CLASS.search(text)
    if found is None:
        return text
    name, listed, reason = found.groups()
    near = _nearest_class(name, _CLASS_NAME.findall(listed))
    guess = f"; did you mean {near}?" if near else "."
    remedy = (
        " Its wheel (for Penstock) or jar (for Kafka Connect) on the worker's plugin.path brings"
        " it; `penstock get plugins` lists what there is."
    )
    told = f"there is no connector class {name} on this worker{guess}"
    return told + (f" {reason.strip()}" if reason.strip() else remedy)


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
            return f"; without {converter} in this config the worker's converter is used as it is"
    return ""


def nearest_key(key: str, declared: Iterable[str]) -> str | None:
    """The one that was probably meant; None if none is near enough for a typing error."""
    close = [
        (distance, each) for each in declared if (distance := _mistakes(key, each)) is not None
    ]
    return min(close)[1] if close else None


def _mistakes(key: str, other: str) -> int | None:
    """How many letters differ; None if that is too much for a typing error."""
    if abs(len(key) - len(other)) > len(key) // _LETTERS_A_MISTAKE + 1:
        return None
    if _plain(key) == _plain(other):
        return 0
    # What two keys have in common at their beginnings does not make the rest alike.
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
    """Letters to add, to leave out, to replace, or neighbours to swap."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for at, letter in enumerate(left, 1):
        two_before, before, row = before, row, [at]
        for to, other in enumerate(right, 1):
            cost = min(before[to] + 1, row[-1] + 1, before[to - 1] + (letter != other))
            swapped = at > 1 and to > 1 and letter == right[to - 2] and left[at - 2] == other
            row.append(min(cost, two_before[to - 2] + 1) if swapped else cost)
    return row[-1]
