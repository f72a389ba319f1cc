"""The answer of `validate`: definitions and values in the shape of the REST API."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from penstock.kernel.config import ConfigKey, ConfigValue, Password
from penstock.kernel.config.redaction import without_password, without_passwords, without_value
from penstock.kernel.config.unknown import with_guess
from penstock.kernel.config.values import java_text, render

Json = dict[str, Any]

_INVALID: Final = re.compile(r"^(Invalid value ).*?( for configuration )", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ConfigInfo:
    """One key's definition and its checked value; either may be None."""

    key: ConfigKey | None
    value: ConfigValue | None
    prefix: str = ""

    def to_json(self) -> Json:
        return {
            "definition": None if self.key is None else key_json(self.key, self.prefix),
            "value": None if self.value is None else self._value_json(self.value),
        }

    def _value_json(self, found: ConfigValue) -> Json:
        return {
            "name": self.prefix + found.name,
            "value": self._text(found.value),
            "recommended_values": [self._text(each) for each in found.recommended_values],
            "errors": list(map(without_passwords, found.errors)),
            "visible": found.visible,
        }

    def _text(self, value: object) -> str | None:
        if self.key is not None:
            shown = render(value, self.key.type)
        else:
            shown = None if value is None else java_text(value)
        return None if shown is None else without_password(shown)


@dataclass(frozen=True, slots=True)
class ConfigInfos:
    """The result of validating one connector config."""

    name: str
    groups: Sequence[str]
    configs: Sequence[ConfigInfo]

    @property
    def errors(self) -> list[str]:
        """All errors, without the passwords of addresses."""
        return [
            without_passwords(text)
            for info in self.configs
            if info.value is not None
            for text in info.value.errors
        ]

    def unresolved(self, texts: Mapping[str, tuple[str | None, str | None]]) -> ConfigInfos:
        """The same, with references such as ${file:…} in place of the values checked.

        A client must not read the secrets of a config provider by asking for a validation. `texts`
        has each key's text before and after it was resolved.
        """
        changed = {name: pair for name, pair in texts.items() if pair[0] != pair[1]}
        return replace(self, configs=[_unresolved(info, changed) for info in self.configs])

    def with_errors(self, errors: Mapping[str, Sequence[str]]) -> ConfigInfos:
        """The same with more errors, also of keys that were not checked."""
        listed = {info.prefix + info.value.name for info in self.configs if info.value is not None}
        more = [
            ConfigInfo(None, ConfigValue(name, errors=tuple(texts)))
            for name, texts in errors.items()
            if name not in listed
        ]
        known = [_with_errors(info, errors) for info in self.configs]
        return replace(self, configs=[*known, *more])

    def errors_by_key(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for info in self.configs:
            if info.value is not None and info.value.errors:
                name = info.prefix + info.value.name
                found[name] = found.get(name, ()) + info.value.errors
        return found

    def guesses(self) -> Iterator[str]:
        """Errors of classes that were probably mistyped, with the names probably meant."""
        for found in filter(None, (info.value for info in self.configs)):
            for error in found.errors:
                guess = with_guess(error, map(str, found.recommended_values))
                if guess != error:
                    yield without_passwords(guess)

    def to_json(self) -> Json:
        return {
            "name": self.name,
            "error_count": len(self.errors),
            "groups": list(self.groups),
            "configs": [info.to_json() for info in self.configs],
        }

    def message(self) -> str | None:
        """The text of the error for this config; None if it has none."""
        errors = self.errors
        if not errors:
            return None
        first = (
            f"Connector configuration is invalid and contains the following {len(errors)} error(s):"
        )
        last = (
            "You can also find the above list of errors at the endpoint "
            "`/connector-plugins/{connectorType}/config/validate`"
        )
        return "\n".join([first, *errors, last])


def _with_errors(info: ConfigInfo, errors: Mapping[str, Sequence[str]]) -> ConfigInfo:
    found = info.value
    if found is None:
        return info
    more = errors.get(info.prefix + found.name, ())
    return replace(info, value=replace(found, errors=(*found.errors, *more)))


def _unresolved(
    info: ConfigInfo, changed: Mapping[str, tuple[str | None, str | None]]
) -> ConfigInfo:
    found = info.value
    before, after = (
        (None, None) if found is None else changed.get(info.prefix + found.name, (None, None))
    )
    if found is None or before is None or after is None:
        return info
    value = found.value if isinstance(found.value, Password) else before
    errors = tuple(_hidden(text, before, after) for text in found.errors)
    return replace(info, value=replace(found, value=value, errors=errors))


def _hidden(text: str, before: str, after: str) -> str:
    shown = _INVALID.sub(lambda match: f"{match[1]}{before}{match[2]}", text)
    return without_value(shown, after, before)


def key_json(key: ConfigKey, prefix: str = "") -> Json:
    """A key's definition as GET /connector-plugins/{p}/config gives it."""
    return {
        "name": prefix + key.name,
        "type": str(key.type),
        "required": key.required,
        "default_value": None if key.required else render(key.default, key.type),
        "importance": str(key.importance),
        "documentation": key.documentation,
        "group": key.group,
        "width": str(key.width),
        "display_name": key.shown_name,
        "dependents": list(key.dependents),
        "order": key.order,
    }


def of_values(
    values: Iterable[ConfigValue], keys: Mapping[str, ConfigKey], prefix: str
) -> list[ConfigInfo]:
    """Infos for values whose keys have a prefix, in the same order."""
    return [ConfigInfo(keys.get(value.name), value, prefix) for value in values]


def groups_of(infos: Iterable[ConfigInfo]) -> list[str]:
    found = (info.key.group for info in infos if info.key is not None)
    return list(dict.fromkeys(group for group in found if group is not None))
