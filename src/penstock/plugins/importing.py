"""Import code that may do anything: raise whatever it likes, end the process, or never end."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import queue
import sys
import threading
import traceback
import zipimport
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TypeGuard, TypeVar

from penstock.api.plugin import Plugin, PluginKind
from penstock.config import Config
from penstock.errors import PenstockError, PluginError
from penstock.plugins.units import Unit
from penstock.pyspark_import import await_pyspark_import

T = TypeVar("T")

IMPORT_SECONDS = 20.0


def guarded(work: Callable[[], T], root: Path | None = None) -> T:
    """Do it on a thread of its own, and wait no longer than IMPORT_SECONDS.

    A thread that does not end is left behind: nothing can stop it but the end of the process.

    Args:
        root: where the code comes from; errors name the line of it that failed.

    Raises:
        PluginError: it raised something, which the text tells, or did not end.
    """
    results: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            await_pyspark_import()
            results.put((work(), None))
        except BaseException as error:  # noqa: BLE001 - sys.exit() must not end the worker
            results.put((None, error))

    threading.Thread(target=run, name="plugin-import", daemon=True).start()
    try:
        found, error = results.get(timeout=IMPORT_SECONDS)
    except queue.Empty:
        raise PluginError(f"its import did not end within {IMPORT_SECONDS:.0f} s") from None
    if error is not None:
        raise PluginError(_told(error, root)) from error
    return found  # type: ignore[return-value]


def _told(error: BaseException, root: Path | None) -> str:
    if isinstance(error, PenstockError):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} ({error.filename}, line {error.lineno})"
    text = f"{type(error).__qualname__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if root is not None and Path(each.filename).is_relative_to(root)]
    return f"{text} ({own[-1].filename}, line {own[-1].lineno})" if own else text


def import_unit(unit: Unit) -> list[ModuleType]:
    """The modules of a unit, imported now.

    Raises:
        PluginError: it can't be done; the text says why.
    """

    def work() -> list[ModuleType]:
        return [_own_module(name, unit) for name in unit.modules()]

    if str(unit.root) not in sys.path:
        sys.path.append(str(unit.root))
    importlib.invalidate_caches()
    # What Python keeps of a compiled file tells versions apart by whole seconds.
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        return guarded(work, unit.root)
    finally:
        sys.dont_write_bytecode = before


def _own_module(name: str, unit: Unit) -> ModuleType:
    module = importlib.import_module(name)
    if not _is_from(module, unit.root):
        place = getattr(module, "__file__", None) or "Python itself"
        raise PluginError(f"there is another module {name} ({place}): rename one of them")
    return module


def _is_from(module: ModuleType, root: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve().is_relative_to(root.resolve())


def forget(unit: Unit) -> None:
    """Make Python forget the modules of a unit, so that the next import reads its files."""
    root = unit.root
    for name, module in list(sys.modules.items()):
        own = unit.is_wheel or name.partition(".")[0] == unit.name
        if own and _is_from(module, root):
            del sys.modules[name]
    sys.path_importer_cache.pop(str(root), None)
    zipimport._zip_directory_cache.pop(str(root), None)  # type: ignore[attr-defined]  # noqa: SLF001


def plugins_in(module: ModuleType) -> list[type[Plugin]]:
    """The plugins that a module has; a name with an underscore is its own affair."""
    members = inspect.getmembers(module, is_plugin)
    return [member for name, member in members if not name.startswith("_")]


def is_plugin(value: object) -> TypeGuard[type[Plugin]]:
    return (
        inspect.isclass(value)
        and issubclass(value, Plugin)
        and hasattr(value, "kind")
        and not inspect.isabstract(value)
    )


def checked(plugin: type[Plugin]) -> type[Plugin]:
    """The plugin, if the list of plugins can hold it.

    Raises:
        PluginError: one of its attributes is not what it has to be.
    """
    config: object = plugin.Config
    rules = {
        "kind": isinstance(plugin.kind, PluginKind),
        "Config": inspect.isclass(config) and issubclass(config, Config),
        "version": plugin.version is None or isinstance(plugin.version, str),
        "java_name": isinstance(plugin.class_name(), str),
    }
    for name, kept in rules.items():
        if not kept:
            wrong = getattr(plugin, name, None)
            raise PluginError(f"{plugin.__qualname__}: its {name} can't be {wrong!r}")
    return plugin


def imported(name: str) -> ModuleType | None:
    """The module of that name; None if there is none, or if it can't be imported."""
    top = name.partition(".")[0]
    # The name comes from a request. A Java package is no Python package, and no plugin lives in
    # the standard library, parts of which do things when they are imported.
    if not top or top in sys.stdlib_module_names:
        return None
    try:
        if importlib.util.find_spec(top) is None:
            return None
        return guarded(lambda: importlib.import_module(name))
    except (PluginError, ImportError, ValueError):
        return None
