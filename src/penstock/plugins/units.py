"""Lists the modules, packages and wheels on plugin.path, without importing them."""

from __future__ import annotations

import configparser
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from penstock.kernel.errors import PluginError

ENTRY_POINTS: Final = "penstock.plugins"

Stamp = tuple[tuple[str, int, int], ...]
"""Names, times and sizes of files, to detect changes."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A module, a package or a wheel: imported, and reported, as one.

    Attributes:
        name: the module's name, or that of the wheel's file.
        path: the file, or the folder of the package.
        root: the entry of sys.path that it needs.
    """

    name: str
    path: Path
    root: Path
    stamp: Stamp

    @property
    def is_wheel(self) -> bool:
        return self.path.suffix == ".whl"

    def modules(self) -> list[str]:
        """The modules to import: a wheel's entry points, or its top-level modules.

        Raises:
            PluginError: the wheel can't be read, or must be installed first.
        """
        return _wheel_modules(self.path) if self.is_wheel else [self.name]

    def sources(self) -> Iterator[str]:
        """The texts of those of its files that can be read."""
        try:
            if self.is_wheel:
                yield from _wheel_sources(self.path)
                return
            for file in _files(self.path):
                yield file.read_text(encoding="utf-8", errors="replace")
        except (OSError, zipfile.BadZipFile):
            return


@dataclass(frozen=True, slots=True)
class Listing:
    """The units of plugin.path, and messages about wrong entries."""

    units: tuple[Unit, ...]
    complaints: tuple[str, ...]


def list_units(plugin_path: Iterable[str]) -> Listing:
    """Everything on plugin.path now. Lists each folder and reads the times of each file."""
    units: dict[Path, Unit] = {}
    complaints: list[str] = []
    for text in plugin_path:
        try:
            found = list(_units_of(Path(text).absolute()))
        except OSError as error:
            complaints.append(f"plugin.path names {text}, which can't be read: {error}")
            continue
        if not found:
            complaints.append(_nothing(Path(text)))
        units |= {unit.path: unit for unit in found}
    return Listing(tuple(units.values()), tuple(complaints))


def _units_of(path: Path) -> Iterator[Unit]:
    if not path.is_dir() or _is_package(path):
        yield from _unit(path)
        return
    children = sorted(path.iterdir())
    folders = [child for child in children if child.is_dir() and not _is_package(child)]
    for child in (*children, *(inner for folder in folders for inner in sorted(folder.iterdir()))):
        yield from _unit(child)


def _unit(path: Path) -> Iterator[Unit]:
    """The unit at a path, if there is one."""
    try:
        if path.suffix == ".whl" and path.is_file():
            yield Unit(path.name, path, path, _stamp([path]))
        elif path.suffix == ".py" and path.stem.isidentifier() and path.is_file():
            yield Unit(path.stem, path, path.parent, _stamp([path]))
        elif path.name.isidentifier() and _is_package(path):
            yield Unit(path.name, path, path.parent, _stamp(_files(path)))
    except FileNotFoundError:
        return  # it was removed meanwhile


def _is_package(path: Path) -> bool:
    return (path / "__init__.py").is_file()


def _files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _stamp(files: Iterable[Path]) -> Stamp:
    found = ((str(file), file.stat()) for file in files)
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in found)


def _nothing(path: Path) -> str:
    if not path.exists():
        return f"plugin.path names {path}, which does not exist"
    if path.is_dir() and any(path.glob("**/*.jar")):
        return f"{path} has only Java plugins, which Penstock can't run; they are ignored"
    return f"plugin.path names {path}, which has no Python module, package or wheel"


def _wheel_modules(path: Path) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [PurePosixPath(name) for name in archive.namelist()]
            texts = {
                name.name: archive.read(str(name)).decode()
                for name in names
                if name.parent.suffix == ".dist-info" and name.name in _WHEEL_FILES
            }
    except (OSError, zipfile.BadZipFile) as error:
        raise PluginError(f"the wheel can't be read: {error}") from error
    if "root-is-purelib: false" in texts.get("WHEEL", "").lower():
        raise PluginError("the wheel has compiled code; install it with pip instead")
    return _entry_points(texts.get("entry_points.txt", "")) or _top_level(names)


_WHEEL_FILES: Final = ("WHEEL", "entry_points.txt")


def _entry_points(text: str) -> list[str]:
    parser = configparser.ConfigParser(delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    if not parser.has_section(ENTRY_POINTS):
        return []
    targets = (value.partition(":")[0].strip() for value in parser[ENTRY_POINTS].values())
    return list(dict.fromkeys(targets))


def _top_level(names: Iterable[PurePosixPath]) -> list[str]:
    modules = [name.stem for name in names if len(name.parts) == 1 and name.suffix == ".py"]
    packages = [name.parts[0] for name in names if name.parts[1:] == ("__init__.py",)]
    return sorted({*modules, *packages})


def _wheel_sources(path: Path) -> Iterator[str]:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".py"):
                yield archive.read(name).decode("utf-8", "replace")
