"""Check a connector's config as Kafka Connect does: one result for each key, nothing is started."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from penstock.api.connector import Connector, SourceConnector
from penstock.api.plugin import PluginKind
from penstock.kafka.client_keys import CLIENTS
from penstock.kernel.clock import Deadline
from penstock.kernel.config import ConfigDef, ConfigKey, ConfigValue
from penstock.kernel.config.prefix import under_prefix
from penstock.kernel.config.providers import Resolver
from penstock.kernel.config.redaction import without_value
from penstock.kernel.config.unknown import unknown_keys
from penstock.kernel.config.values import java_text
from penstock.kernel.errors import (
    BadRequestError,
    ConfigError,
    NotFoundError,
    PenstockError,
    PluginError,
)
from penstock.kernel.java.hash_order import hash_order
from penstock.plugins import CONNECTORS, PluginInfo, Plugins
from penstock.worker.herder.infos import ConfigInfo, ConfigInfos, groups_of, key_json, of_values
from penstock.worker.herder.lanes import within
from penstock.worker.herder.overrides import override_infos
from penstock.worker.herder.plugin_keys import CONVERTERS, ConfigMap, PluginKeys
from penstock.worker.herder.rules import check_sink, check_source
from penstock.worker.herder.versions import mismatch
from penstock.worker.settings import WorkerSettings, override_policy
from penstock.worker.settings.connector_keys import (
    CONVERTER_KEYS,
    SINK_KEYS,
    SOURCE_KEYS,
    common_keys,
    source_keys,
)

ChainProblems = Callable[[Mapping[str, str]], Mapping[str, str]]
"""penstock.worker.interface.Worker.chain_problems"""
OutsideProblems = Callable[[Mapping[str, str]], Mapping[str, Sequence[str]]]
"""penstock.worker.interface.Worker.outside_problems"""

log = logging.getLogger(__name__)

#: A client waits for the answer; what this check misses, the connector reports when it starts.
OUTSIDE_SECONDS: Final = 8.0
_CLASS, _VERSION = "connector.class", "connector.plugin.version"
_NULL: Final = "Null value can not be supplied as the configuration value."
_SUFFIX: Final = "Connector"


class Validation:
    """Validates configs against the plugins and settings of this worker. Threads may share it."""

    def __init__(
        self,
        plugins: Plugins,
        settings: WorkerSettings,
        resolver: Resolver,
        chain_problems: ChainProblems = lambda config: {},  # noqa: ARG005
        outside_problems: OutsideProblems = lambda config: {},  # noqa: ARG005
        outside_seconds: float = OUTSIDE_SECONDS,
    ) -> None:
        self._chain_problems = chain_problems
        self._outside_problems = outside_problems
        self._outside_seconds = outside_seconds
        self._plugins = plugins
        self._keys = PluginKeys(plugins)
        self._settings = settings
        self._resolver = resolver
        self._policy = override_policy(settings.connector_client_config_override_policy) or "All"

    def validate(self, config: ConfigMap, *, outside: bool = True) -> ConfigInfos:
        """Check a whole config; return its errors instead of raising them.

        Args:
            config: with its references to config providers.
            outside: ask the connector about servers and tables too, if nothing else is wrong.

        Raises:
            BadRequestError: the config names no connector, or none that exists here.
            ConfigError: a client override has a value of the wrong type.
        """
        props = self._resolved(config)
        missing = {name: [text] for name, text in self._resolver.missing(config).items()}
        try:
            found = self._validated(props)
        except (BadRequestError, ConfigError) as error:
            # Not chained: the text of the cause has secrets of config providers.
            raise type(error)(_unresolved(str(error), config, props)) from None
        if outside and not missing and not found.errors:
            found = found.with_errors(self._found_outside(props))
        shown = found.unresolved({name: (config[name], props[name]) for name in config})
        return shown.with_errors(missing)

    def _found_outside(self, props: ConfigMap) -> Mapping[str, Sequence[str]]:
        given = {name: text for name, text in props.items() if text is not None}
        step = "checking the config against the connector's servers and tables"
        deadline = Deadline.after(self._outside_seconds)
        try:
            return within(deadline, step, lambda: self._outside_problems(given))
        except Exception as error:  # noqa: BLE001 - a plugin's, or Spark's: not the config's fault
            log.warning("The config was not checked against servers and tables: %s", error)
            return {}

    def _validated(self, props: ConfigMap) -> ConfigInfos:
        info = self._connector(props)
        problem = mismatch(info.name, props.get(_VERSION), self._keys.versions(info.name))
        if problem:
            return self._wrong_version(props, info, problem)
        return self._check(props, info).run()

    def _check(self, props: ConfigMap, info: PluginInfo) -> _Check:
        return _Check(self._keys, self._settings, props, info, self._policy, self._chain_problems)

    def check(self, config: ConfigMap, *, outside: bool = True) -> None:
        """Return if the config may be used; `outside` as of validate().

        Raises:
            BadRequestError: the config names no connector, or none that exists here.
            ConfigError: with all errors in the text that the REST API gives.
        """
        infos = self.validate(config, outside=outside)
        message = infos.message()
        if message is not None:
            raise ConfigError(message, infos.errors_by_key())

    def unknown_keys(self, config: ConfigMap) -> list[str]:
        """Warnings for keys that no plugin declares; empty if a plugin is not installed."""
        try:
            return list(self._check(config, self._connector(config)).unknown_keys().values())
        except PenstockError:
            return []

    def answer(self, plugin: str, config: ConfigMap) -> dict[str, Any]:
        """The body of PUT /connector-plugins/{plugin}/config/validate; raises as validate()."""
        check_request(plugin, config)
        return self.validate(config).to_json()

    def definitions(self, name: str, version: str | None = None) -> list[dict[str, Any]]:
        """The keys of a plugin of any kind, a connector's own before the framework's.

        Raises:
            NotFoundError: there is no such plugin.
            PluginError: it is only the base of several, such as InsertField$Key and $Value.
            BadRequestError: not in that version.
        """
        if self._keys.is_base(name):
            raise PluginError("Instantiation error")
        info = self._plugins.find(name)
        problem = mismatch(info.name, version, self._keys.versions(info.name))
        if problem:
            raise BadRequestError(problem)
        return [key_json(key) for key in self._all_keys(info).values()]

    def _all_keys(self, info: PluginInfo) -> dict[str, ConfigKey]:
        own = self._keys.definition(info)
        if info.kind not in CONNECTORS:
            return dict(own.keys)
        more = SOURCE_KEYS if info.kind is PluginKind.SOURCE else SINK_KEYS
        framework = common_keys(info.version) + more
        return {**own.keys, **framework.keys, **own.keys}

    def _resolved(self, config: ConfigMap) -> dict[str, str | None]:
        missing = self._resolver.missing(config)
        texts = {
            name: text for name, text in config.items() if text is not None and name not in missing
        }
        return {**config, **self._resolver.resolve(texts)}

    def _connector(self, props: ConfigMap) -> PluginInfo:
        name = props.get(_CLASS)
        if name is None:
            shown = ", ".join(f"{key}={java_text(props[key])}" for key in hash_order(props))
            raise BadRequestError(f"Connector config {{{shown}}} contains no connector type")
        try:
            return self._plugins.connector(name)
        except NotFoundError as error:
            raise BadRequestError(str(error)) from error

    def _wrong_version(self, props: ConfigMap, info: PluginInfo, problem: str) -> ConfigInfos:
        definition = common_keys(info.version)
        values = {value.name: value for value in definition.validate(props, self._keys.class_name)}
        for name in (_CLASS, _VERSION):
            values[name] = values[name].with_error(problem)
        _add_null_errors(props, values)
        return ConfigInfos(
            props[_CLASS] or "", definition.groups, list(_merged(definition.keys, values))
        )


@dataclass(slots=True)
class _Check:
    """One validation, with the values that its steps share."""

    keys: PluginKeys
    settings: WorkerSettings
    props: ConfigMap
    info: PluginInfo
    policy: str
    chain_problems: ChainProblems

    def run(self) -> ConfigInfos:
        definition = self._framework()
        values = {
            value.name: value for value in definition.validate(self.props, self.keys.class_name)
        }
        connector = self._new_connector()
        self._check_kind(connector, values)
        _add_null_errors(self.props, values)
        self._check_chain(values)
        converters = list(self._converters(values))
        own = connector.Config.definition()
        merged = _merged({**definition.keys, **own.keys}, values, self._own_values(connector, own))
        extra = [*override_infos(self.props, self.info.kind, self.policy), *converters]
        groups = dict.fromkeys([*definition.groups, *own.groups, *groups_of(extra)])
        return ConfigInfos(self.props[_CLASS] or "", list(groups), [*merged, *extra])

    def unknown_keys(self) -> dict[str, str]:
        own = self._new_connector().Config.definition()
        declared = {*self._framework().keys, *own.keys}
        for client, definition in CLIENTS.items():
            declared |= {f"{client}.override.{name}" for name in definition.keys}
        converters = [self._converter_keys(key) for key in CONVERTERS if self.props.get(key)]
        for found in converters:
            declared |= found or set()
        complete = None not in converters and self.keys.has_all_transforms(self.props)
        return unknown_keys(self.props, declared, complete=complete)

    def _converter_keys(self, key: str) -> set[str] | None:
        info = self.keys.info(self.props[key], CONVERTERS[key])
        if info is None:
            return None
        return {f"{key}.{name}" for name in self.keys.definition(info).keys}

    def _framework(self) -> ConfigDef:
        defaults = {
            "key.converter": self.settings.key_converter,
            "value.converter": self.settings.value_converter,
            "header.converter": self.settings.header_converter,
        }
        choices = {
            key: self.keys.converter(self.props, key, default) for key, default in defaults.items()
        }
        source = self.info.kind is PluginKind.SOURCE
        return (
            common_keys(self.info.version, choices)
            + (source_keys(self.props) if source else SINK_KEYS)
            + self.keys.aliased(self.props, "transforms", PluginKind.TRANSFORMATION)
            + self.keys.aliased(self.props, "predicates", PluginKind.PREDICATE)
        )

    def _new_connector(self) -> Connector:
        plugin = self.keys.plugins.load(self.info)
        if not issubclass(plugin, Connector):
            raise PluginError(f"{self.info.name} is not a connector")
        return plugin()

    def _check_kind(self, connector: Connector, values: dict[str, ConfigValue]) -> None:
        given = {name: text for name, text in self.props.items() if text is not None}
        if isinstance(connector, SourceConnector):
            found = check_source(connector, given, values, self.settings)
        else:
            found = check_sink(self.props, values, self.settings)
        for name, text in found:
            at = values.get(name, ConfigValue(name, self.props.get(name)))
            values[name] = at.with_error(text) if text else at

    def _check_chain(self, values: dict[str, ConfigValue]) -> None:
        """Let Spark check the transforms that only it can check."""
        checked = self.keys.transforms(self.props)
        if not any(getattr(each, "checked_key", None) for each in checked):
            return
        if any(value.errors for value in values.values()):
            return
        given = {name: text for name, text in self.props.items() if text is not None}
        for name, text in self.chain_problems(given).items():
            values[name] = values.get(name, ConfigValue(name)).with_error(text)

    def _own_values(self, connector: Connector, own: ConfigDef) -> list[ConfigValue]:
        found = {value.name: value for value in own.validate(self.props)}
        # Connect stores null for these, and the connector fails later.
        _add_null_errors({name: self.props[name] for name in found if name in self.props}, found)
        given = {name: text for name, text in self.props.items() if text is not None}
        for name, texts in connector.validate(given).items():
            for text in texts:
                found[name] = found.get(name, ConfigValue(name)).with_error(text)
        return list(found.values())

    def _converters(self, values: dict[str, ConfigValue]) -> Iterator[ConfigInfo]:
        # The header's keys come before the others in Connect's answers.
        for key in ("header.converter", *CONVERTER_KEYS[:2]):
            if self.props.get(key) is not None and not values[key].errors:
                yield from self._converter(key, values)

    def _converter(self, key: str, values: dict[str, ConfigValue]) -> list[ConfigInfo]:
        info = self.keys.info(str(values[key].value), CONVERTERS[key])
        if info is None or not self._has_version(key, info, values):
            return []
        prefix = f"{key}."
        given = under_prefix(self.props, prefix)
        definition = self.keys.definition(info)
        found = {
            value.name: value
            for value in definition.validate({**given, "converter.type": key.partition(".")[0]})
        }
        return of_values([found[name] for name in hash_order(found)], definition.keys, prefix)

    def _has_version(self, key: str, info: PluginInfo, values: dict[str, ConfigValue]) -> bool:
        version = f"{key}.plugin.version"
        try:
            problem = mismatch(info.name, self.props.get(version), self.keys.versions(info.name))
        except BadRequestError as error:
            values[version] = values[version].with_error(str(error))
            return False
        if problem:
            values[key] = values[key].with_error(problem)
            values[version] = values[version].with_error(problem)
        return problem is None


def _unresolved(text: str, config: ConfigMap, props: ConfigMap) -> str:
    """The text with the config's references in place of their values."""
    for name, after in props.items():
        before = config[name]
        if before is not None and after and after != before:
            text = without_value(text, after, before)
    return text


def _add_null_errors(props: ConfigMap, values: dict[str, ConfigValue]) -> None:
    for name, text in props.items():
        if text is None:
            values[name] = values.get(name, ConfigValue(name)).with_error(_NULL)


def _merged(
    keys: Mapping[str, ConfigKey],
    values: Mapping[str, ConfigValue],
    own: list[ConfigValue] | None = None,
) -> Iterator[ConfigInfo]:
    """Values without a key first, then every key with its value."""
    found = dict(values) | {value.name: value for value in own or []}
    undefined = [*hash_order(values), *(value.name for value in own or [])]
    for name in dict.fromkeys(undefined):
        if name not in keys:
            yield ConfigInfo(None, found[name])
    for name, key in keys.items():
        yield ConfigInfo(key, found.get(name))


def check_request(plugin: str, config: ConfigMap) -> None:
    """The connector named in the URL must be the one in the body.

    Raises:
        BadRequestError: it is not.
    """
    named = config.get(_CLASS)
    if named is not None and not _without_suffix(named).endswith(_without_suffix(plugin)):
        raise BadRequestError(
            f"Included connector type {named} does not match request type {plugin}"
        )


def _without_suffix(name: str) -> str:
    return name[: -len(_SUFFIX)] if name.endswith(_SUFFIX) and name != _SUFFIX else name
