"""The plugins of this worker: their list, their names, and the class for a name."""

from __future__ import annotations

import importlib
import inspect
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from penstock.api.plugin import Plugin, PluginKind
from penstock.kernel.errors import NotFoundError, PluginError
from penstock.plugins.builtin import BUILT_IN, CONNECTORS, PluginInfo, info_of
from penstock.plugins.importing import imported, is_plugin, plugins_in
from penstock.plugins.outside import Broken, OutsidePlugins

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


@dataclass(frozen=True, slots=True)
class _Known:
    """One state of the registry, replaced as a whole."""

    infos: tuple[PluginInfo, ...]
    aliases: Mapping[str, str]
    outside: Mapping[PluginInfo, type[Plugin]]


class Plugins:
    """The registry. Threads may share it; built-in classes are imported when first needed.

    A name may be the Java class name, its short forms, or a Python path. An unknown name is
    searched again on plugin.path and among the installed packages.
    """

    def __init__(
        self, infos: Iterable[PluginInfo] = BUILT_IN, outside: OutsidePlugins | None = None
    ) -> None:
        self._built_in = tuple(infos)
        self._outside = outside
        self._classes: dict[PluginInfo, type[Plugin]] = {}
        self._lock = threading.RLock()
        self._known = self._snapshot()
        self.generation = 0
        self.look_again()

    @classmethod
    def discover(cls, plugin_path: Sequence[str] = ()) -> Plugins:
        """The built-in plugins, those of installed packages, and those found on plugin.path."""
        return cls(BUILT_IN, OutsidePlugins(plugin_path))

    def look_again(self) -> None:
        """Find and import new plugins, and forget removed ones."""
        if self._outside is None:
            return
        with self._lock:
            if self._outside.refresh():
                self._known = self._snapshot()
                self.generation += 1

    @property
    def broken(self) -> list[Broken]:
        """Plugins that can't be loaded."""
        return [] if self._outside is None else self._outside.broken

    @property
    def local_modules(self) -> frozenset[str]:
        """Top-level modules that only this process can import: those of plugin.path."""
        return frozenset() if self._outside is None else self._outside.modules

    def infos(self, kinds: Iterable[PluginKind] | None = None) -> list[PluginInfo]:
        """The plugins of these kinds (all if None), in the order Kafka Connect gives them."""
        wanted = set(_KIND_ORDER if kinds is None else kinds)
        return [info for info in self._known.infos if info.kind in wanted]

    def find(self, name: str, kinds: Iterable[PluginKind] | None = None) -> PluginInfo:
        """The plugin of this name.

        Raises:
            NotFoundError: there is none of these kinds; the text says why if it can't be loaded.
        """
        wanted = None if kinds is None else tuple(kinds)
        found = self._listed(name, wanted)
        if found is None and self._listed(name, None) is None:
            self.look_again()
            found = self._listed(name, wanted) or _by_python_path(name, wanted)
        if found is None:
            raise NotFoundError(f"Unknown plugin {name}.{self._why_not(name)}")
        return found

    def class_name(self, name: str) -> str:
        """The full name of a plugin; LookupError if there is none. A ClassResolver."""
        try:
            return self.find(name).name
        except NotFoundError as error:
            reason = self._why_not(name).strip()
            raise (LookupError(reason) if reason else LookupError()) from error

    def connector(self, name: str) -> PluginInfo:
        """The connector of a `connector.class`.

        Raises:
            NotFoundError: there is none; Kafka Connect's message, with all connectors.
        """
        try:
            return self.find(name, CONNECTORS)
        except NotFoundError:
            known = ", ".join(map(_described, self.infos(CONNECTORS)))
            text = (
                "Failed to find any class that implements Connector and which name matches "
                f"{name}, available connectors are: {known}{self._why_not(name)}"
            )
            raise NotFoundError(text) from None

    def load(self, info: PluginInfo) -> type[Plugin]:
        """The class of a plugin, imported if necessary; the new one if its file was changed.

        Raises:
            PluginError: its module can't be imported or does not have it.
        """
        with self._lock:
            if info in self._classes:
                return self._classes[info]
            found = None if info in self._built_in else self._current(info)
            if found is not None:
                return found
            self._classes[info] = _loaded(info)
            return self._classes[info]

    def load_named(self, name: str, *kinds: PluginKind) -> type[Plugin]:
        """find() and load() in one step."""
        return self.load(self.find(name, kinds or None))

    def _current(self, info: PluginInfo) -> type[Plugin] | None:
        """The current class of a plugin that is not built in; None if it is not listed."""
        self.look_again()
        for known, plugin in self._known.outside.items():
            if (known.name, known.kind) == (info.name, info.kind):
                return plugin
        if reason := self._why_not(info.name):
            raise PluginError(reason.strip())
        return None

    def _snapshot(self) -> _Known:
        outside = [] if self._outside is None else self._outside.plugins
        classes = {info_of(plugin): plugin for plugin in outside}
        infos = sorted({*self._built_in, *classes}, key=_place)
        return _Known(tuple(infos), _aliases(infos), classes)

    def _listed(self, name: str, kinds: Iterable[PluginKind] | None) -> PluginInfo | None:
        full = self._known.aliases.get(name, name)
        return next((info for info in self.infos(kinds) if info.name == full), None)

    def _why_not(self, name: str) -> str:
        broken = None if self._outside is None else self._outside.why_not(name)
        return _unfinished(name) if broken is None else f" {broken}"


def _unfinished(name: str) -> str:
    """A message about methods that a class lacks to be a plugin; else empty."""
    module, _, class_name = name.rpartition(".")
    found = getattr(sys.modules.get(module), class_name, None)
    if not inspect.isclass(found) or not issubclass(found, Plugin) or not inspect.isabstract(found):
        return ""
    methods = sorted(getattr(found, "__abstractmethods__", ()))
    missing = " and no ".join(f"{method}()" for method in methods)
    return f" {name} has no {missing}, so it is not a plugin yet."


def _by_python_path(name: str, kinds: Iterable[PluginKind] | None) -> PluginInfo | None:
    module_name, _, class_name = name.rpartition(".")
    if not module_name or not class_name.isidentifier():
        return None
    found = getattr(imported(module_name), class_name, None)
    if not is_plugin(found) or (kinds is not None and found.kind not in set(kinds)):
        return None
    return info_of(found)


def _place(info: PluginInfo) -> tuple[int, str, str]:
    return _KIND_ORDER[info.kind], info.name, info.version or ""


def _aliases(infos: Iterable[PluginInfo]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for info in infos:
        for alias in info.short_names:
            found.setdefault(alias, set()).add(info.name)
    # A short name that two plugins share (every $Key and $Value) is not valid.
    return {alias: names.pop() for alias, names in found.items() if len(names) == 1}


def _described(info: PluginInfo) -> str:
    version = info.version or "undefined"
    return (
        f"PluginDesc{{klass=class {info.name}, name='{info.name}', version='{version}', "
        f"encodedVersion={version}, type={info.kind}, typeName='{info.kind}', "
        "location='classpath'}"
    )


def _loaded(info: PluginInfo) -> type[Plugin]:
    try:
        module = importlib.import_module(info.module)
    except ImportError as error:
        raise PluginError(
            f"{info.name}: module {info.module} can't be imported: {error}"
        ) from error
    named = [plugin for plugin in plugins_in(module) if plugin.class_name() == info.name]
    # One Java class may be of two kinds; then so may one Python class.
    for plugin in sorted(named, key=lambda plugin: plugin.kind is not info.kind):
        return plugin
    raise PluginError(f"{info.name}: module {info.module} has no plugin of that name")


def rest_list(infos: Iterable[PluginInfo]) -> list[Mapping[str, str]]:
    """The answer of GET /connector-plugins; an unknown version is left out."""
    return [
        {"class": info.name, "type": str(info.kind)}
        | ({"version": info.version} if info.version else {})
        for info in infos
    ]
