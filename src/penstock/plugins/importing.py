"""Imports code that may do anything: raise any error, end the process, or never end."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
import zipimport
from collections.abc import Callable
from concurrent.futures import wait
from pathlib import Path
from types import ModuleType
from typing import TypeGuard, TypeVar

from penstock.api.plugin import Plugin, PluginKind
from penstock.kernel.calls import started
from penstock.kernel.config import Config
from penstock.kernel.errors import PenstockError, PluginError
from penstock.machine.pyspark_import import await_pyspark_import
from penstock.plugins.units import Unit

T = TypeVar("T")

IMPORT_SECONDS = 20.0


def guarded(work: Callable[[], T], root: Path | None = None) -> T:
    """Call it on a thread of its own, and wait no longer than IMPORT_SECONDS.

    A thread that does not end is abandoned: only the end of the process stops it.

    Args:
        root: where the code comes from; errors name its line that failed.

    Raises:
        PluginError: it raised an error, which the text contains, or did not end.
    """

    def run() -> T:
        await_pyspark_import()
        return work()

    done = started(run, "plugin-import")
    wait([done], IMPORT_SECONDS)
    if not done.done():
        raise PluginError(f"its import did not end within {IMPORT_SECONDS:.0f} s")
    error = done.exception()
    if error is not None:
        raise PluginError(_message(error, root)) from error
    return done.result()


def _message(error: BaseException, root: Path | None) -> str:
    if isinstance(error, PenstockError):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} ({error.filename}, line {error.lineno})"
    text = f"{type(error).__qualname__}: {error}{_hint(error)}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if root is not None and Path(each.filename).is_relative_to(root)]
    return f"{text} ({own[-1].filename}, line {own[-1].lineno})" if own else text


def _hint(error: BaseException) -> str:
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    return "; plugins import from penstock.api" if (missing or "").startswith("penstock.") else ""


def import_unit(unit: Unit) -> list[ModuleType]:
    """Import the modules of a unit.

    Raises:
        PluginError: that failed; the text says why.
    """

    def work() -> list[ModuleType]:
        return [_own_module(name, unit) for name in unit.modules()]

    if str(unit.root) not in sys.path:
        sys.path.append(str(unit.root))
    importlib.invalidate_caches()
    # Python's compiled files distinguish versions only by whole seconds.
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        return guarded(work, unit.root)
    finally:
        sys.dont_write_bytecode = before


def _own_module(name: str, unit: Unit) -> ModuleType:
    module = importlib.import_module(name)
    if not _is_from(module, unit.root):
        place = getattr(module, "__file__", None) or "Python itself"
        raise PluginError(f"another module has the name {name} ({place}); rename one of them")
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
    """The plugins of a module, without names that begin with an underscore."""
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
    """The plugin, if its attributes are valid.

    Raises:
        PluginError: one of its attributes has a wrong type.
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
            raise PluginError(f"{plugin.__qualname__}: its {name} must not be {wrong!r}")
    return plugin


def imported(name: str) -> ModuleType | None:
    """The module of that name; None if there is none, or if it can't be imported."""
    top = name.partition(".")[0]
    # The name comes from a request, and may be a Java package. The standard library has no
    # plugins, and some of its modules have side effects when imported.
    if not top or top in sys.stdlib_module_names:
        return None
    try:
        if importlib.util.find_spec(top) is None:
            return None
        return guarded(lambda: importlib.import_module(name))
    except (PluginError, ImportError, ValueError):
        return None
