"""Keys of the plugins that a config names: the key for the class, and the plugin's own keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from penstock.api.plugin import Plugin, PluginKind
from penstock.kernel.config import (
    ConfigDef,
    ConfigKey,
    Importance,
    Type,
    Validator,
    Width,
    one_of,
    rule,
)
from penstock.kernel.config.values import parse_value
from penstock.kernel.errors import BadRequestError, ConfigError, NotFoundError, PenstockError
from penstock.plugins import PluginInfo, Plugins
from penstock.worker.herder.versions import mismatch
from penstock.worker.settings.connector_keys import Choices, ConverterChoice

ConfigMap = Mapping[str, str | None]

INTERFACES: Final = {
    PluginKind.TRANSFORMATION: "Transformation",
    PluginKind.PREDICATE: "Predicate",
    PluginKind.CONVERTER: "Converter",
    PluginKind.HEADER_CONVERTER: "HeaderConverter",
}
CONVERTERS: Final = {
    "key.converter": PluginKind.CONVERTER,
    "value.converter": PluginKind.CONVERTER,
    "header.converter": PluginKind.HEADER_CONVERTER,
}
_CONVERTER_TYPE: Final = ConfigKey(
    name="converter.type",
    type=Type.STRING,
    validator=one_of("key", "value", "header"),
    importance=Importance.LOW,
    documentation="What the converter is used for; the framework sets it.",
)
_CONDITION: Final = ConfigDef.of(
    [
        ConfigKey(
            name="predicate",
            type=Type.STRING,
            default=None,
            importance=Importance.MEDIUM,
            documentation="Alias of a predicate: only records it holds for are transformed.",
        ),
        ConfigKey(
            name="negate",
            type=Type.BOOLEAN,
            default=False,
            importance=Importance.MEDIUM,
            documentation="Transform the records the predicate does not hold for instead.",
        ),
    ]
)


@dataclass(frozen=True, slots=True)
class PluginKeys:
    """Looks up the plugins that a config names."""

    plugins: Plugins

    def class_name(self, name: str) -> str:
        """The full name of a plugin's class of any kind; LookupError if it does not exist."""
        # An abstract class passes Connect's first check too; _check_kind refuses it.
        return name if self.is_base(name) else self.plugins.class_name(name)

    def is_base(self, name: str) -> bool:
        """Whether it is an abstract class."""
        return bool(self._variants(name))

    def info(self, name: str | None, kind: PluginKind) -> PluginInfo | None:
        """The plugin of this kind; None if it does not exist."""
        try:
            return self.plugins.find(name or "", [kind])
        except NotFoundError:
            return None

    def versions(self, name: str) -> list[str]:
        return [info.version for info in self.plugins.infos() if info.name == name and info.version]

    def definition(self, info: PluginInfo) -> ConfigDef:
        """The keys of a plugin; for converters with `converter.type`, key or value."""
        own = self.plugins.load(info).Config.definition()
        if _CONVERTER_TYPE.name in own or self.info(info.name, PluginKind.CONVERTER) is None:
            return own
        return ConfigDef.of([_CONVERTER_TYPE, *own])

    def aliased(self, props: ConfigMap, listed: str, kind: PluginKind) -> ConfigDef:
        """The keys of all aliases that `transforms` or `predicates` lists."""
        try:
            aliases = parse_value(listed, props.get(listed), Type.LIST) or []
        except ConfigError:
            return ConfigDef()
        found: list[ConfigKey] = []
        for alias in dict.fromkeys(aliases):
            found += self._alias_keys(props, f"{listed}.{alias}.", alias, kind)
        return ConfigDef.of(found)

    def transforms(self, props: ConfigMap) -> list[type[Plugin]]:
        """The classes of the transformations that exist."""
        infos = self._aliased_infos(props, "transforms", PluginKind.TRANSFORMATION)
        return [self.plugins.load(info) for info in infos if info is not None]

    def has_all_transforms(self, props: ConfigMap) -> bool:
        """Whether all transformations and predicates that a config lists are installed."""
        transforms = self._aliased_infos(props, "transforms", PluginKind.TRANSFORMATION)
        predicates = self._aliased_infos(props, "predicates", PluginKind.PREDICATE)
        return None not in (*transforms, *predicates)

    def _aliased_infos(
        self, props: ConfigMap, listed: str, kind: PluginKind
    ) -> list[PluginInfo | None]:
        aliases = parse_value(listed, props.get(listed), Type.LIST) or []
        return [self.info(props.get(f"{listed}.{alias}.type"), kind) for alias in aliases]

    def converter(self, props: ConfigMap, key: str, default: str | None) -> ConverterChoice:
        kind = CONVERTERS[key]
        given = props.get(key)
        info = self.info(given if given is not None else default, kind)
        return ConverterChoice(
            default=default,
            version=info.version if info else None,
            names=[each.name for each in self.plugins.infos([kind])],
            versions=_shown([info]),
            valid=rule(lambda _, value: self._check_kind(value, kind), INTERFACES[kind]),
        )

    def _alias_keys(
        self, props: ConfigMap, prefix: str, alias: str, kind: PluginKind
    ) -> list[ConfigKey]:
        word = INTERFACES[kind]
        group = f"{'Transforms' if kind is PluginKind.TRANSFORMATION else 'Predicates'}: {alias}"
        info = self.info(props.get(f"{prefix}type"), kind)
        problem = self._version_problem(info, props.get(f"{prefix}plugin.version"))
        head = [
            ConfigKey(
                name=f"{prefix}type",
                type=Type.CLASS,
                validator=self._type_rule(props, prefix, kind, problem),
                documentation=f"Class of the {word.lower()} {alias}.",
                order=0,
                display_name=f"{word} type for {alias}",
                recommender=Choices([each.name for each in self.plugins.infos([kind])]),
                importance=Importance.HIGH,
                group=group,
                width=Width.LONG,
            ),
            ConfigKey(
                name=f"{prefix}plugin.version",
                type=Type.STRING,
                default=info.version if info else None,
                validator=rule(lambda _, __: _refuse(problem), "a version that is installed"),
                documentation=f"Version of the {word.lower()} {alias}: one, a range, or latest.",
                order=1,
                display_name=f"{word} version for {alias}",
                recommender=Choices(_shown([info])),
                importance=Importance.HIGH,
                group=group,
                width=Width.LONG,
            ),
        ]
        if info is None or problem:
            return head
        return [*head, *self._embedded(info, prefix, group)]

    def _embedded(self, info: PluginInfo, prefix: str, group: str) -> ConfigDef:
        try:
            own = self.definition(info)
        except PenstockError:
            return ConfigDef()  # the rule of the type key says why
        if info.kind is PluginKind.TRANSFORMATION:
            own = own + _CONDITION
        return own.embedded(prefix, group, 2)

    def _type_rule(
        self, props: ConfigMap, prefix: str, kind: PluginKind, problem: str | None
    ) -> Validator:
        def check(name: str, value: object) -> None:
            del name
            if kind is PluginKind.TRANSFORMATION:
                _check_negate(props, prefix)
            if value is not None:
                self._check_kind(value, kind)
                _refuse(problem)

        return rule(check, f"a class of {INTERFACES[kind]}")

    def _check_kind(self, value: object, kind: PluginKind) -> None:
        """Raise ConfigError if a class (which exists) is not of the kind, or can't be loaded."""
        if value is None:
            return
        info = self.info(str(value), kind)
        if info is not None:
            self._check_loads(info)
            return
        variants = self._variants(str(value))
        if variants:
            names = ", ".join(variants)
            raise ConfigError(
                f"This class is abstract and cannot be created. Did you mean {names}?"
            )
        raise ConfigError(
            f"Class class {value} does not implement the {INTERFACES[kind]} interface"
        )

    def _check_loads(self, info: PluginInfo) -> None:
        try:
            self.plugins.load(info)
        except PenstockError as error:
            raise ConfigError(str(error)) from error

    def _variants(self, name: str) -> list[str]:
        start = f"{name}$"
        return [info.name for info in self.plugins.infos() if name and info.name.startswith(start)]

    def _version_problem(self, info: PluginInfo | None, requirement: str | None) -> str | None:
        if info is None:
            return None
        try:
            return mismatch(info.name, requirement, self.versions(info.name))
        except BadRequestError as error:
            return str(error)


def _shown(infos: list[PluginInfo | None]) -> list[str]:
    return [info.version for info in infos if info is not None and info.version]


def _check_negate(props: ConfigMap, prefix: str) -> None:
    negate, predicate = f"{prefix}negate", f"{prefix}predicate"
    if negate in props and predicate not in props:
        raise ConfigError(
            f"Config '{negate}' was provided but there is no config '{predicate}' defining a "
            "predicate to be negated."
        )


def _refuse(problem: str | None) -> None:
    if problem:
        raise ConfigError(problem)
