"""Plugins that are not built in: those of plugin.path and of installed packages.

They are searched again whenever a request names an unknown plugin, so that a new plugin needs no
restart of the worker. A search lists files and their times; only new ones are imported.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

from penstock.api.plugin import Plugin
from penstock.kernel.errors import PluginError
from penstock.plugins.builtin import BUILT_IN
from penstock.plugins.importing import (
    checked,
    forget,
    guarded,
    import_unit,
    is_plugin,
    plugins_in,
)
from penstock.plugins.units import ENTRY_POINTS, Listing, Unit, list_units

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Broken:
    """A plugin that can't be loaded: the name of its module, wheel or entry point, and why."""

    name: str
    path: str
    error: str

    def __str__(self) -> str:
        return f"Plugin {self.name} ({self.path}) can't be loaded: {self.error}"


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A unit after its import: with its plugins, or with the error."""

    unit: Unit
    modules: tuple[str, ...] = ()
    plugins: tuple[type[Plugin], ...] = ()
    broken: Broken | None = None


class OutsidePlugins:
    """The plugins that are not built in. One thread at a time may call refresh()."""

    def __init__(self, plugin_path: Sequence[str] = ()) -> None:
        self._path = tuple(plugin_path)
        self._listing: Listing | None = None
        self._loaded: dict[Path, _Loaded] = {}
        self._installed = _Installed()

    @property
    def plugins(self) -> list[type[Plugin]]:
        own = [plugin for loaded in self._loaded.values() for plugin in loaded.plugins]
        return [*self._installed.plugins, *own]

    @property
    def broken(self) -> list[Broken]:
        own = [loaded.broken for loaded in self._loaded.values() if loaded.broken is not None]
        return [*self._installed.broken, *own]

    @property
    def modules(self) -> frozenset[str]:
        """The top-level modules of plugin.path, which other processes can't import."""
        names = (name for loaded in self._loaded.values() for name in loaded.modules)
        return frozenset(name.partition(".")[0] for name in names)

    def refresh(self) -> bool:
        """Search again; return whether anything changed."""
        changed = self._installed.refresh()
        listing = list_units(self._path)
        if listing == self._listing:
            return changed
        for complaint in listing.complaints:
            if self._listing is None or complaint not in self._listing.complaints:
                log.warning("%s", complaint)
        self._listing = listing
        self._forget_changed(listing.units)
        for unit in listing.units:
            if unit.path not in self._loaded:
                self._loaded[unit.path] = self._load(unit)
        return True

    def why_not(self, name: str) -> Broken | None:
        """The broken plugin that probably has the class of this name; None if there is none."""
        for loaded in self._loaded.values():
            if loaded.broken is not None and _names(loaded.unit, name):
                return loaded.broken
        return self._installed.why_not(name)

    def _forget_changed(self, units: Iterable[Unit]) -> None:
        """Forget the modules that must be imported again.

        Modules of one folder may use each other: if one was changed or removed, all are imported
        again. A new one may be what a broken one needs.
        """
        now = {unit.path: unit for unit in units}
        known = [loaded.unit for loaded in self._loaded.values()]
        stale = {unit.root for unit in known if now.get(unit.path) != unit}
        grown = {unit.root for unit in units if unit.path not in self._loaded}
        for path, loaded in list(self._loaded.items()):
            root = loaded.unit.root
            if root in stale or (root in grown and loaded.broken is not None):
                del self._loaded[path]
                forget(loaded.unit)

    def _load(self, unit: Unit) -> _Loaded:
        try:
            modules = import_unit(unit)
            plugins = guarded(lambda: _own_plugins(modules), unit.root)
            self._check_names(plugins)
        except PluginError as error:
            broken = Broken(unit.name, str(unit.path), str(error))
            log.warning("%s", broken)
            return _Loaded(unit, broken=broken)
        if plugins:
            shown = ", ".join(plugin.class_name() for plugin in plugins)
            log.info("Plugins in %s: %s", unit.path, shown)
        return _Loaded(unit, tuple(module.__name__ for module in modules), plugins)

    def _check_names(self, plugins: Iterable[type[Plugin]]) -> None:
        taken = {info.name: "Penstock" for info in BUILT_IN}
        taken |= {plugin.class_name(): "an installed package" for plugin in self._installed.plugins}
        for loaded in self._loaded.values():
            taken |= {plugin.class_name(): str(loaded.unit.path) for plugin in loaded.plugins}
        for name in (plugin.class_name() for plugin in plugins):
            if name in taken:
                raise PluginError(f"{taken[name]} already has a plugin {name}")


def _own_plugins(modules: Iterable[ModuleType]) -> tuple[type[Plugin], ...]:
    """The plugins of modules, without those that they import from elsewhere."""
    own = [
        checked(plugin)
        for module in modules
        for plugin in plugins_in(module)
        if plugin.__module__.partition(".")[0] == module.__name__.partition(".")[0]
    ]
    return tuple(dict.fromkeys(own))


def _names(unit: Unit, name: str) -> bool:
    """Whether the class of this name is likely to be in a unit that can't be imported."""
    if name.partition(".")[0] == unit.name:
        return True
    wanted = re.compile(rf"(?:class\s+|[\"'.$]){re.escape(name)}{_SUFFIXES}\b")
    return bool(name) and any(wanted.search(source) for source in unit.sources())


_SUFFIXES: Final = "(?:Connector|Transformation|Predicate|Converter|HeaderConverter)?"


class _Installed:
    """Plugins that installed packages name as entry points."""

    def __init__(self) -> None:
        self._stamp: tuple[tuple[str, int], ...] | None = None
        self._found: dict[str, tuple[type[Plugin], ...]] = {}
        self._broken: dict[str, Broken] = {}

    @property
    def plugins(self) -> list[type[Plugin]]:
        return [plugin for found in self._found.values() for plugin in found]

    @property
    def broken(self) -> list[Broken]:
        return list(self._broken.values())

    def why_not(self, name: str) -> Broken | None:
        top = name.partition(".")[0]
        for value, broken in self._broken.items():
            if re.split(r"[.:]", value)[0] == top or name == broken.name:
                return broken
        return None

    def refresh(self) -> bool:
        """Read the entry points if a package was installed; return whether it did."""
        stamp = _stamp_of_packages()
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        importlib.invalidate_caches()
        entries = {
            entry.value: entry for entry in importlib.metadata.entry_points(group=ENTRY_POINTS)
        }
        for value, entry in entries.items():
            if value not in self._found:
                self._load(entry)
        gone = (self._found.keys() | self._broken.keys()) - entries.keys()
        for value in gone:
            self._found.pop(value, None)
            self._broken.pop(value, None)
        return True

    def _load(self, entry: importlib.metadata.EntryPoint) -> None:
        self._broken.pop(entry.value, None)
        try:
            self._found[entry.value] = guarded(lambda: _named_by(entry))
        except PluginError as error:
            broken = Broken(entry.name, f"entry point {entry.value}", str(error))
            log.warning("%s", broken)
            self._broken[entry.value] = broken


def _named_by(entry: importlib.metadata.EntryPoint) -> tuple[type[Plugin], ...]:
    found = entry.load()
    members = plugins_in(found) if isinstance(found, ModuleType) else [found]
    return tuple(checked(member) for member in members if is_plugin(member))


def _stamp_of_packages() -> tuple[tuple[str, int], ...]:
    """Folders of installed packages with their times; an installation changes one."""
    found = []
    for folder in (text for text in sys.path if text.endswith("-packages")):
        try:
            found.append((folder, Path(folder).stat().st_mtime_ns))
        except OSError:
            continue
    return tuple(found)
