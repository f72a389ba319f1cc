"""ConfigDef: a list of configuration keys, and the validation of properties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, Protocol

from penstock.kernel.config.validators import Validator
from penstock.kernel.config.values import ClassResolver, Type, parse_value
from penstock.kernel.errors import ConfigError


class Importance(StrEnum):
    """How much a key matters to most users."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class Width(StrEnum):
    """How wide a form should draw the value."""

    NONE = "NONE"
    SHORT = "SHORT"
    MEDIUM = "MEDIUM"
    LONG = "LONG"


class Required:
    """Marks a key without a default; None would be a default."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = Required()


class Recommender(Protocol):
    """Suggests values for a key, given the parsed values of all keys."""

    def valid_values(self, name: str, parsed: Mapping[str, Any]) -> list[Any]: ...

    def visible(self, name: str, parsed: Mapping[str, Any]) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigKey:
    """The declaration of one key. `order` is its place in the group, -1 without a group."""

    name: str
    type: Type
    default: Any = REQUIRED
    validator: Validator | None = None
    importance: Importance = Importance.MEDIUM
    documentation: str = ""
    group: str | None = None
    order: int = -1
    width: Width = Width.NONE
    display_name: str | None = None
    dependents: tuple[str, ...] = ()
    recommender: Recommender | None = None
    internal: bool = False

    @property
    def required(self) -> bool:
        return isinstance(self.default, Required)

    @property
    def shown_name(self) -> str:
        return self.name if self.display_name is None else self.display_name


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """The validated value of one key; `errors` is empty if the value is valid."""

    name: str
    value: Any = None
    recommended_values: tuple[Any, ...] = ()
    errors: tuple[str, ...] = ()
    visible: bool = True

    def with_error(self, message: str) -> ConfigValue:
        return replace(self, errors=(*self.errors, message))


@dataclass(frozen=True)
class ConfigDef:
    """An immutable, ordered list of keys."""

    keys: Mapping[str, ConfigKey] = field(default_factory=dict)

    @classmethod
    def of(cls, keys: Iterable[ConfigKey]) -> ConfigDef:
        found: dict[str, ConfigKey] = {}
        for item in keys:
            if item.name in found:
                message = f"Configuration {item.name} is defined twice."
                raise ConfigError(message)
            found[item.name] = item
        return cls(found)

    def __iter__(self) -> Iterator[ConfigKey]:
        return iter(self.keys.values())

    def __contains__(self, name: object) -> bool:
        return name in self.keys

    def __getitem__(self, name: str) -> ConfigKey:
        return self.keys[name]

    def __len__(self) -> int:
        return len(self.keys)

    def __add__(self, other: ConfigDef) -> ConfigDef:
        return ConfigDef.of([*self, *other])

    def embedded(self, prefix: str, group: str, first: int) -> ConfigDef:
        """The same keys with a prefix and a group, such as a transformation's under its alias.

        They have Kafka's order: required keys first, then by importance and name. `first` is the
        place of the first one in the group.
        """
        placed = enumerate(sorted(self, key=_rank), start=first)
        return ConfigDef.of(_embedded(key, prefix, group, order) for order, key in placed)

    @property
    def groups(self) -> list[str]:
        """The groups in the order in which keys first name them."""
        return list(dict.fromkeys(key.group for key in self if key.group is not None))

    @property
    def defaults(self) -> dict[str, Any]:
        return {key.name: key.default for key in self if not key.required}

    def validate(
        self, props: Mapping[str, str | None], classes: ClassResolver | None = None
    ) -> list[ConfigValue]:
        """One result for each key, in order; never raises for what is in `props`."""
        found = {key.name: _checked(key, props, classes) for key in self}
        parsed = {name: value.value for name, value in found.items()}
        for name in self._undefined_dependents():
            found[name] = ConfigValue(name, visible=False).with_error(
                f"{name} is referred in the dependents, but not defined."
            )
        return [self._recommended(value, parsed) for value in found.values()]

    def parse(
        self, props: Mapping[str, str | None], classes: ClassResolver | None = None
    ) -> dict[str, Any]:
        """The value of every key.

        Raises:
            ConfigError: at least one value is wrong; its `errors` has all of them by key.
        """
        results = self.validate(props, classes)
        errors = {result.name: result.errors[:1] for result in results if result.errors}
        if errors:
            message = "\n".join(text for texts in errors.values() for text in texts)
            raise ConfigError(message, errors)
        return {result.name: result.value for result in results}

    def _undefined_dependents(self) -> list[str]:
        named = dict.fromkeys(name for key in self for name in key.dependents)
        return [name for name in named if name not in self.keys]

    def _recommended(self, found: ConfigValue, parsed: Mapping[str, Any]) -> ConfigValue:
        key = self.keys.get(found.name)
        if key is None or key.recommender is None:
            return found
        try:
            values = tuple(key.recommender.valid_values(key.name, parsed))
            visible = key.recommender.visible(key.name, parsed)
        except ConfigError as error:
            return found.with_error(str(error))
        return replace(found, recommended_values=values, visible=visible)


def missing(name: str) -> str:
    return f'Missing required configuration "{name}" which has no default value.'


def _checked(
    key: ConfigKey, props: Mapping[str, str | None], classes: ClassResolver | None
) -> ConfigValue:
    found = _read(key, props, classes)
    if key.validator is None:
        return found
    try:
        # As in Kafka, the rule also gets None for a value that is missing or did not parse.
        key.validator(key.name, found.value)
    except ConfigError as error:
        return found.with_error(str(error))
    return found


def _read(
    key: ConfigKey, props: Mapping[str, str | None], classes: ClassResolver | None
) -> ConfigValue:
    if key.name in props:
        try:
            value = parse_value(key.name, props[key.name], key.type, classes)
        except ConfigError as error:
            return ConfigValue(key.name).with_error(str(error))
        return ConfigValue(key.name, value)
    if key.required:
        return ConfigValue(key.name).with_error(missing(key.name))
    default = key.default
    return ConfigValue(key.name, list(default) if isinstance(default, list) else default)


_IMPORTANCE: Final = {each: place for place, each in enumerate(Importance)}


def _rank(key: ConfigKey) -> tuple[str, int, bool, int, str]:
    return key.group or "", key.order, not key.required, _IMPORTANCE[key.importance], key.name


def _embedded(key: ConfigKey, prefix: str, group: str, order: int) -> ConfigKey:
    return replace(
        key,
        name=prefix + key.name,
        validator=None if key.validator is None else _Unprefixed(prefix, key.validator),
        group=group if key.group is None else f"{group}: {key.group}",
        order=order,
        display_name=key.shown_name,
        dependents=tuple(prefix + name for name in key.dependents),
    )


@dataclass(frozen=True, slots=True)
class _Unprefixed:
    """Calls a rule with the key's own name, which its error texts show, as in Kafka."""

    prefix: str
    rule: Validator

    def __call__(self, name: str, value: object) -> None:
        self.rule(name.removeprefix(self.prefix), value)

    def __str__(self) -> str:
        return str(self.rule)
