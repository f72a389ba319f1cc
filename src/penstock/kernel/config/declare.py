"""Declare a configuration as a class with typed fields; everything else is derived from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from penstock.kernel.config.definition import (
    REQUIRED,
    ConfigDef,
    ConfigKey,
    Importance,
    Recommender,
    Width,
    missing,
)
from penstock.kernel.config.values import ClassResolver, Type, parse_value
from penstock.kernel.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.kernel.config.validators import Validator


@dataclass(frozen=True, slots=True)
class Declared:
    """The result of `key()` in a class body, until the class knows the attribute's name."""

    name: str | None
    fields: dict[str, Any]

    def finish(self, attribute: str, order: int) -> ConfigKey:
        fields = dict(self.fields)
        if fields["order"] is None:
            fields["order"] = order if fields["group"] is not None else -1
        return ConfigKey(name=self.name or attribute.replace("_", "."), **fields)


def key(
    type_: Type,
    *,
    name: str | None = None,
    default: object = REQUIRED,
    importance: Importance = Importance.MEDIUM,
    doc: str = "",
    valid: Validator | None = None,
    group: str | None = None,
    order: int | None = None,
    width: Width = Width.NONE,
    display: str | None = None,
    dependents: Sequence[str] = (),
    recommender: Recommender | None = None,
    internal: bool = False,
) -> Any:
    """Declare one key of a Config.

    By default the name is the attribute's with dots for underscores. A key without a default is
    required. A text as default is parsed by the key's type, as in Kafka.
    """
    fields = {
        "type": type_,
        "default": _parsed_default(name or "default", default, type_),
        "importance": importance,
        "documentation": doc,
        "validator": valid,
        "group": group,
        "order": order,
        "width": width,
        "display_name": display,
        "dependents": tuple(dependents),
        "recommender": recommender,
        "internal": internal,
    }
    return Declared(name, fields)


def _parsed_default(name: str, default: object, type_: Type) -> object:
    return parse_value(name, default, type_) if isinstance(default, str) else default


class Config:
    """A frozen set of values, one for each `key()` field of the class and of its parents.

    `parse` makes one from properties. The constructor makes one from values by attribute name, for
    tests and for code that has values instead of text.
    """

    _keys: ClassVar[dict[str, ConfigKey]] = {}
    _definition: ClassVar[ConfigDef] = ConfigDef()

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        keys = dict(cls._keys)
        counts: dict[str | None, int] = {}
        for known in keys.values():
            counts[known.group] = counts.get(known.group, 0) + 1
        for attribute, value in list(vars(cls).items()):
            if isinstance(value, Declared):
                group = value.fields["group"]
                counts[group] = counts.get(group, 0) + 1
                keys[attribute] = value.finish(attribute, counts[group])
                delattr(cls, attribute)
        cls._keys = keys
        cls._definition = ConfigDef.of(keys.values())

    def __init__(self, **values: object) -> None:
        unknown = sorted(values.keys() - self._keys.keys())
        if unknown:
            message = f"{type(self).__name__} has no field {', '.join(unknown)}"
            raise TypeError(message)
        for attribute, declared in self._keys.items():
            if attribute not in values and declared.required:
                text = missing(declared.name)
                raise ConfigError(text, {declared.name: (text,)})
            self.__dict__[attribute] = values.get(attribute, declared.default)

    def __setattr__(self, name: str, value: object) -> None:
        message = f"{type(self).__name__} is frozen; {name} can't be set"
        raise AttributeError(message)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self._keys)
        return f"{type(self).__name__}({values})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def definition(cls) -> ConfigDef:
        """The keys in the order of their declaration, a parent's first."""
        return cls._definition

    @classmethod
    def parse(cls, props: Mapping[str, str | None], classes: ClassResolver | None = None) -> Self:
        """Read the values from properties; ignore keys that are not declared.

        Raises:
            ConfigError: at least one value is wrong; its `errors` has the messages by key.
        """
        parsed = cls._definition.parse(props, classes)
        named = {attribute: parsed[declared.name] for attribute, declared in cls._keys.items()}
        return cls(**named)
