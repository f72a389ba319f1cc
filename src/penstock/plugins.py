"""The plugins of this worker: what there is, under which names, and the class behind a name.

Built-in plugins are rows of a table and are imported when first needed, so that listing them is
instant. Others come from entry points and from `plugin.path`. A name may be the Java class name,
its short forms, or a Python path.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import inspect
import logging
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final, TypeGuard

from penstock.api.plugin import CONNECT_VERSION, Plugin, PluginKind
from penstock.errors import NotFoundError, PluginError

log = logging.getLogger(__name__)

ENTRY_POINTS: Final = "penstock.plugins"

KAFKA_VERSION: Final = CONNECT_VERSION

CONNECTORS: Final = frozenset({PluginKind.SINK, PluginKind.SOURCE})
_KIND_ORDER: Final = {
    kind: number
    for number, kind in enumerate(
        (
            PluginKind.SINK,
            PluginKind.SOURCE,
            PluginKind.TRANSFORMATION,
            PluginKind.PREDICATE,
            PluginKind.CONVERTER,
            PluginKind.HEADER_CONVERTER,
        )
    )
}
_SUFFIXES: Final = {
    PluginKind.SINK: "Connector",
    PluginKind.SOURCE: "Connector",
    PluginKind.TRANSFORMATION: "Transformation",
    PluginKind.PREDICATE: "Predicate",
    PluginKind.CONVERTER: "Converter",
    PluginKind.HEADER_CONVERTER: "HeaderConverter",
}


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """One plugin in the list: its name in configurations, its kind, version and module."""

    name: str
    kind: PluginKind
    version: str | None
    module: str

    @property
    def simple_name(self) -> str:
        """What Java calls the simple name: the part after the last dot or dollar sign."""
        return self.name.replace("$", ".").rpartition(".")[2]

    @property
    def short_names(self) -> set[str]:
        """The names that stand for it where no other plugin has them too."""
        simple, suffix = self.simple_name, _SUFFIXES[self.kind]
        at = simple.rfind(suffix)
        return {simple, simple[:at] if at > 0 else simple}


def _built_in() -> Iterator[PluginInfo]:
    for kind, package, modules in (
        (PluginKind.SINK, "io.aiven.connect.jdbc", _JDBC_SINK),
        (PluginKind.SINK, "io.confluent.connect.jdbc", _JDBC_SINK),
        (PluginKind.SINK, "org.apache.kafka.connect.file", _FILE_SINK),
        (PluginKind.SOURCE, "io.aiven.connect.jdbc", _JDBC_SOURCE),
        (PluginKind.SOURCE, "io.confluent.connect.jdbc", _JDBC_SOURCE),
        (PluginKind.SOURCE, "org.apache.kafka.connect.file", _FILE_SOURCE),
        (PluginKind.TRANSFORMATION, "org.apache.kafka.connect.transforms", _TRANSFORMS),
        (PluginKind.TRANSFORMATION, "penstock.transforms", _OWN_TRANSFORMS),
        (PluginKind.PREDICATE, "org.apache.kafka.connect.transforms.predicates", _PREDICATES),
        (PluginKind.CONVERTER, "io.confluent.connect", _REGISTRY_CONVERTERS),
        (PluginKind.CONVERTER, "org.apache.kafka.connect", _CONVERTERS),
        (PluginKind.HEADER_CONVERTER, "org.apache.kafka.connect", _CONVERTERS),
        (PluginKind.HEADER_CONVERTER, "org.apache.kafka.connect", _HEADER_CONVERTERS),
    ):
        for name, module in modules.items():
            yield PluginInfo(f"{package}.{name}", kind, CONNECT_VERSION, f"penstock.{module}")


_FILE_SINK: Final = {"FileStreamSinkConnector": "connectors.file.sink"}
_JDBC_SINK: Final = {"JdbcSinkConnector": "connectors.jdbc.sink.connector"}
_FILE_SOURCE: Final = {"FileStreamSourceConnector": "connectors.file.source"}
_JDBC_SOURCE: Final = {"JdbcSourceConnector": "connectors.jdbc.source.connector"}
_TRANSFORMS: Final = {
    "Cast$Key": "transforms.cast",
    "Cast$Value": "transforms.cast",
    "DropHeaders": "transforms.drop_headers",
    "ExtractField$Key": "transforms.extract_field",
    "ExtractField$Value": "transforms.extract_field",
    "Filter": "transforms.filter",
    "Flatten$Key": "transforms.flatten",
    "Flatten$Value": "transforms.flatten",
    "HeaderFrom$Key": "transforms.header_from",
    "HeaderFrom$Value": "transforms.header_from",
    "HoistField$Key": "transforms.hoist_field",
    "HoistField$Value": "transforms.hoist_field",
    "InsertField$Key": "transforms.insert_field",
    "InsertField$Value": "transforms.insert_field",
    "InsertHeader": "transforms.insert_header",
    "MaskField$Key": "transforms.mask_field",
    "MaskField$Value": "transforms.mask_field",
    "RegexRouter": "transforms.regex_router",
    "ReplaceField$Key": "transforms.replace_field",
    "ReplaceField$Value": "transforms.replace_field",
    "SetSchemaMetadata$Key": "transforms.set_schema_metadata",
    "SetSchemaMetadata$Value": "transforms.set_schema_metadata",
    "TimestampConverter$Key": "transforms.timestamp_converter",
    "TimestampConverter$Value": "transforms.timestamp_converter",
    "TimestampRouter": "transforms.timestamp_router",
    "ValueToKey": "transforms.value_to_key",
}
_OWN_TRANSFORMS: Final = {"Sql": "transforms.sql.transformation"}
_PREDICATES: Final = {
    "HasHeaderKey": "transforms.predicates",
    "RecordIsTombstone": "transforms.predicates",
    "TopicNameMatches": "transforms.predicates",
}
_CONVERTERS: Final = {
    "converters.BooleanConverter": "converters.numbers",
    "converters.ByteArrayConverter": "converters.raw",
    "converters.DoubleConverter": "converters.numbers",
    "converters.FloatConverter": "converters.numbers",
    "converters.IntegerConverter": "converters.numbers",
    "converters.LongConverter": "converters.numbers",
    "converters.ShortConverter": "converters.numbers",
    "json.JsonConverter": "converters.json.converter",
    "storage.StringConverter": "converters.text",
}
_REGISTRY_CONVERTERS: Final = {
    "avro.AvroConverter": "converters.avro.converter",
    "json.JsonSchemaConverter": "converters.json_schema.converter",
    "protobuf.ProtobufConverter": "converters.protobuf.converter",
}
_HEADER_CONVERTERS: Final = {"storage.SimpleHeaderConverter": "converters.simple_header"}

BUILT_IN: Final[tuple[PluginInfo, ...]] = tuple(_built_in())


class Plugins:
    """The registry. Threads may share it; classes are imported when first asked for."""

    def __init__(self, infos: Iterable[PluginInfo] = BUILT_IN) -> None:
        self._infos = sorted(set(infos), key=_place)
        self._aliases = _aliases(self._infos)
        self._classes: dict[tuple[str, PluginKind], type[Plugin]] = {}
        self._lock = threading.Lock()

    @classmethod
    def discover(cls, plugin_path: Sequence[str] = ()) -> Plugins:
        """The built-in plugins, those of installed packages, and those found on plugin.path."""
        return cls([*BUILT_IN, *_from_entry_points(), *_from_path(plugin_path)])

    def infos(self, kinds: Iterable[PluginKind] | None = None) -> list[PluginInfo]:
        """The plugins of these kinds (all if None), in the order Kafka Connect gives them."""
        wanted = set(_KIND_ORDER if kinds is None else kinds)
        return [info for info in self._infos if info.kind in wanted]

    def find(self, name: str, kinds: Iterable[PluginKind] | None = None) -> PluginInfo:
        """The plugin a name stands for.

        Raises:
            NotFoundError: there is none of these kinds.
        """
        full = self._aliases.get(name, name)
        for info in self.infos(kinds):
            if info.name == full:
                return info
        found = self._by_python_path(full, kinds)
        if found is None:
            raise NotFoundError(f"Unknown plugin {name}.")
        return found

    def class_name(self, name: str) -> str:
        """The full name a name stands for; LookupError if none. Fits worker_settings()."""
        try:
            return self.find(name).name
        except NotFoundError as error:
            raise LookupError(name) from error

    def connector(self, name: str) -> PluginInfo:
        """The connector a `connector.class` names.

        Raises:
            NotFoundError: in the words of Kafka Connect, with the connectors there are.
        """
        try:
            return self.find(name, CONNECTORS)
        except NotFoundError:
            known = ", ".join(map(_described, self.infos(CONNECTORS)))
            text = (
                "Failed to find any class that implements Connector and which name matches "
                f"{name}, available connectors are: {known}"
            )
            raise NotFoundError(text) from None

    def load(self, info: PluginInfo) -> type[Plugin]:
        """The class of a plugin, imported now if it was not yet.

        Raises:
            PluginError: its module can't be imported or does not have it.
        """
        with self._lock:
            key = (info.name, info.kind)
            if key not in self._classes:
                self._classes[key] = _loaded(info)
            return self._classes[key]

    def load_named(self, name: str, *kinds: PluginKind) -> type[Plugin]:
        """find() and load() in one step."""
        return self.load(self.find(name, kinds or None))

    def _by_python_path(self, name: str, kinds: Iterable[PluginKind] | None) -> PluginInfo | None:
        module_name, _, class_name = name.rpartition(".")
        if not module_name or not class_name.isidentifier():
            return None
        found = getattr(_imported(module_name), class_name, None)
        if not _is_plugin(found) or (kinds is not None and found.kind not in set(kinds)):
            return None
        return _info(found)


def _place(info: PluginInfo) -> tuple[int, str, str]:
    return _KIND_ORDER[info.kind], info.name, info.version or ""


def _aliases(infos: Iterable[PluginInfo]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for info in infos:
        for alias in info.short_names:
            found.setdefault(alias, set()).add(info.name)
    # A short name that two plugins share (every $Key and $Value) stands for neither.
    return {alias: names.pop() for alias, names in found.items() if len(names) == 1}


def _described(info: PluginInfo) -> str:
    version = info.version or "undefined"
    return (
        f"PluginDesc{{klass=class {info.name}, name='{info.name}', version='{version}', "
        f"encodedVersion={version}, type={info.kind}, typeName='{info.kind}', "
        "location='classpath'}"
    )


def _info(plugin: type[Plugin]) -> PluginInfo:
    return PluginInfo(plugin.class_name(), plugin.kind, plugin.version, plugin.__module__)


def _loaded(info: PluginInfo) -> type[Plugin]:
    try:
        module = importlib.import_module(info.module)
    except ImportError as error:
        raise PluginError(
            f"{info.name}: module {info.module} can't be imported: {error}"
        ) from error
    named = [plugin for plugin in _plugins_in(module) if plugin.class_name() == info.name]
    # One Java class may serve as two kinds; then so may one Python class.
    for plugin in sorted(named, key=lambda plugin: plugin.kind is not info.kind):
        return plugin
    raise PluginError(f"{info.name}: module {info.module} has no plugin of that name")


def _plugins_in(module: ModuleType) -> list[type[Plugin]]:
    return [member for _, member in inspect.getmembers(module, _is_plugin)]


def _is_plugin(value: object) -> TypeGuard[type[Plugin]]:
    return (
        inspect.isclass(value)
        and issubclass(value, Plugin)
        and hasattr(value, "kind")
        and not inspect.isabstract(value)
    )


def _imported(name: str) -> ModuleType | None:
    top = name.partition(".")[0]
    # The name comes from a request. A Java package is no Python package, and no plugin lives in
    # the standard library, parts of which do things when they are imported.
    if not top or top in sys.stdlib_module_names:
        return None
    try:
        found = importlib.util.find_spec(top) is not None
        return importlib.import_module(name) if found else None
    except Exception as error:  # noqa: BLE001 - whatever a module does when it is imported
        log.debug("%s can't be imported: %s", name, error)
        return None


def _from_entry_points() -> Iterator[PluginInfo]:
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        try:
            found = entry.load()
        except (ImportError, AttributeError) as error:
            log.warning("Entry point %s can't be loaded: %s", entry.value, error)
            continue
        members = _plugins_in(found) if inspect.ismodule(found) else [found]
        yield from (_info(member) for member in members if _is_plugin(member))


def _from_path(plugin_path: Sequence[str]) -> Iterator[PluginInfo]:
    for text in plugin_path:
        folder = Path(text)
        if not folder.is_dir():
            log.warning("plugin.path names %s, which is no directory", text)
            continue
        for root in (folder, *sorted(child for child in folder.iterdir() if child.is_dir())):
            yield from _from_folder(root)


def _from_folder(folder: Path) -> Iterator[PluginInfo]:
    if (folder / "__init__.py").exists():
        return  # a package: found from the folder above it
    names = sorted(_module_names(folder))
    if names and str(folder) not in sys.path:
        sys.path.append(str(folder))
    if not names and any(folder.glob("*.jar")):
        log.warning("%s has Java plugins only; those can't run here and are left out", folder)
    for name in names:
        module = _imported_from(name, folder)
        own = _plugins_in(module) if module is not None else []
        yield from (_info(plugin) for plugin in own if plugin.__module__.split(".")[0] == name)


def _module_names(folder: Path) -> Iterator[str]:
    for child in folder.iterdir():
        if child.suffix == ".py" and child.stem.isidentifier():
            yield child.stem
        elif child.name.isidentifier() and (child / "__init__.py").exists():
            yield child.name


def _imported_from(name: str, folder: Path) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except Exception as error:  # noqa: BLE001 - one broken plugin must not keep the worker down
        log.warning("Plugin module %s in %s can't be imported: %s", name, folder, error)
        return None


def rest_list(infos: Iterable[PluginInfo]) -> list[Mapping[str, str]]:
    """The answer of GET /connector-plugins; a version that is not known is left out."""
    return [
        {"class": info.name, "type": str(info.kind)}
        | ({"version": info.version} if info.version else {})
        for info in infos
    ]
