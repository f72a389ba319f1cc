"""The jars of each group, fetched into the cache on first use by the Ivy in pyspark."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.kernel.errors import SetupError
from penstock.machine.cache import cache_home, locked
from penstock.machine.ivy import Coordinate, Ivy, Progress, print_progress
from penstock.machine.java_home import find_java

_FETCH_SECONDS = 900.0
_DEPTHS = ("*.jar", "*/*.jar", "*/lib/*.jar")
_CATALOG = Path(__file__).with_name("jars.toml")


@dataclass(frozen=True, slots=True)
class JarGroup:
    """A named set of jars, and their directory in the cache."""

    name: str
    coordinates: tuple[Coordinate, ...]
    directory: Path

    @property
    def paths(self) -> list[Path]:
        return [self.directory / coordinate.file_name for coordinate in self.coordinates]

    @property
    def complete(self) -> bool:
        return all(path.is_file() for path in self.paths)


def classpath(
    *names: str,
    progress: Progress = print_progress,
    environ: Mapping[str, str] | None = None,
) -> list[Path]:
    """The jars of the named groups, fetched if the cache lacks them. See jars.toml for the names.

    Raises:
        SetupError: no such group, or a jar can't be fetched; the text names the coordinate.
    """
    environ = os.environ if environ is None else environ
    groups = [group_of(name, environ) for name in names]
    if not all(group.complete for group in groups):
        _fetch_missing(groups, progress, environ)
    return [path for group in groups for path in group.paths]


def group_of(name: str, environ: Mapping[str, str] | None = None) -> JarGroup:
    """The group of this name, whether fetched or not."""
    catalog = tomllib.loads(_CATALOG.read_text())
    if name not in catalog:
        raise SetupError(f"no jar group {name!r}; use one of {', '.join(catalog)}")
    coordinates = tuple(Coordinate.parse(text) for text in catalog[name])
    mark = hashlib.sha256("\n".join(map(str, coordinates)).encode()).hexdigest()[:12]
    return JarGroup(name, coordinates, cache_home(environ) / "jars" / f"{name}-{mark}")


def driver_jars(folders: Iterable[Path]) -> list[Path]:
    """The jars with a JDBC driver in these folders, or one level below.

    Only those: a folder of Connect plugins has jars that conflict with Spark's.
    """
    found = {jar for folder in folders for depth in _DEPTHS for jar in folder.glob(depth)}
    return [jar for jar in sorted(found) if _has_driver(jar)]


def _has_driver(jar: Path) -> bool:
    try:
        with zipfile.ZipFile(jar) as archive:
            return "META-INF/services/java.sql.Driver" in archive.NameToInfo
    except (OSError, zipfile.BadZipFile):
        return False


def pyspark_jars() -> Path:
    """The directory of the jars inside the pyspark package, found without importing it."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise SetupError("the pyspark package is not installed; run: pip install pyspark==4.1.1")
    return Path(spec.origin).parent.resolve() / "jars"


def _fetch_missing(groups: list[JarGroup], progress: Progress, environ: Mapping[str, str]) -> None:
    home = cache_home(environ) / "jars"
    with locked(home / "fetch.lock", _FETCH_SECONDS):
        # The last holder of the lock may have fetched them.
        missing = [group for group in groups if not group.complete]
        if not missing:
            return
        with tempfile.TemporaryDirectory(dir=home, prefix="fetch-") as scratch:
            _fetch(missing, Path(scratch), progress, environ)


def _fetch(
    groups: list[JarGroup], scratch: Path, progress: Progress, environ: Mapping[str, str]
) -> None:
    ivy = Ivy(find_java(environ).java, _ivy_jar(), environ)
    wanted = {group.name: group.coordinates for group in groups}
    ivy.retrieve(wanted, scratch, progress=progress, timeout_seconds=_FETCH_SECONDS)
    for group in groups:
        # A directory appears under its final name only when it has every jar.
        shutil.rmtree(group.directory, ignore_errors=True)
        (scratch / "out" / group.name).rename(group.directory)


def _ivy_jar() -> Path:
    found = sorted(pyspark_jars().glob("ivy-*.jar"))
    if not found:
        raise SetupError(f"no ivy jar in {pyspark_jars()}; reinstall pyspark 4.1.1")
    return found[0]
