"""Classes that a JVM maps from a file instead of reading jars: a start takes half the CPU time.

The file is Java's own (AppCDS): a JVM writes it when it ends, and it is valid for one Java and one
class path. Its name has a digest of both, so that no JVM gets a wrong one, about which Java would
print a warning. Everything works without the file, only slower.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from penstock.kernel.clock import SystemClock
from penstock.kernel.errors import SetupError
from penstock.machine.cache import cache_home, locked
from penstock.machine.java_home import JavaHome

#: Part of the digest: raise it when other classes are archived with the same Java and jars.
_FORM: Final = "1"
_KEPT: Final = 2
_BASE_SECONDS: Final = 300.0
_LOCK_SECONDS: Final = 5.0
_ROOM_BYTES: Final = 1_000_000_000
_RETRY_SECONDS: Final = 24 * 3600.0
_SIGNATURES: Final = (".SF", ".RSA", ".DSA", ".EC")
#: No message if an archive can't be mapped after all.
_QUIET: Final = "-Xlog:cds*=off"


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The archive of one program's class path, made or not."""

    program: str
    java: JavaHome
    jars: tuple[Path, ...]
    home: Path

    @classmethod
    def of(
        cls,
        program: str,
        java: JavaHome,
        jars: Iterable[Path],
        environ: Mapping[str, str] | None = None,
    ) -> ClassArchive:
        return cls(program, java, tuple(jars), cache_home(environ) / "archives")

    @property
    def path(self) -> Path:
        return self.home / f"{self.program}-{_digest(self.java, self.jars)}.jsa"

    @property
    def exists(self) -> bool:
        return _is_whole(self.path) and (self._base is None or _is_whole(self._base))

    @property
    def failed(self) -> bool:
        """Whether making it failed within the last day, so that workers do not try again."""
        try:
            age = SystemClock().wall_ms() / 1000 - self._failure.stat().st_mtime
        except OSError:
            return False
        return age < _RETRY_SECONDS

    @property
    def options(self) -> list[str]:
        """The JVM's options to use the archive; empty if there is none."""
        if not self.exists:
            return []
        files = [self.path] if self._base is None else [self._base, self.path]
        return [f"-XX:SharedArchiveFile={':'.join(map(str, files))}", _QUIET]

    @property
    def classpath(self) -> str:
        """The jars, or the unsigned copies that were made of them."""
        unsigned = {copy.name: copy for copy in self._unsigned.glob("*.jar")}
        return os.pathsep.join(str(unsigned.get(jar.name, jar)) for jar in self.jars)

    def make(self, run: Callable[[Sequence[str]], None]) -> None:
        """Make the archive of the classes that a program loads, unless it exists.

        Args:
            run: runs the program with these options of Java until its JVM has ended.

        Raises:
            SetupError: Java did not make it.
            OSError: the cache can't be written, or its disk is full.
            DeadlineExceededError: another process is making one.
        """
        with locked(self.home / "make.lock", _LOCK_SECONDS):
            if self.exists:
                return
            if shutil.disk_usage(self.home).free < _ROOM_BYTES:
                raise OSError(f"the disk of {self.home} has less than {_ROOM_BYTES:,} bytes free")
            draft = self.home / f"{self.path.name}.draft"
            draft.unlink(missing_ok=True)
            try:
                self._make(draft, run)
            except SetupError as error:
                self._failure.write_text(f"{error}\n")
                raise
            finally:
                draft.unlink(missing_ok=True)
            self._drop_old()

    def _make(self, draft: Path, run: Callable[[Sequence[str]], None]) -> None:
        self._copy_without_signatures()
        base = []
        if self._base is not None:
            self._make_base(self._base)
            base = [f"-XX:SharedArchiveFile={self._base}"]
        run([*base, f"-XX:ArchiveClassesAtExit={draft}", _QUIET])
        if not draft.is_file():
            raise SetupError(f"{self.java.java} wrote no archive of {self.program}'s classes")
        _publish(draft, self.path)

    def _copy_without_signatures(self) -> None:
        """Copy signed jars without signatures: Java does not archive classes of signed jars."""
        for jar in filter(_is_signed, self.jars):
            copy = self._unsigned / jar.name
            copy.parent.mkdir(exist_ok=True)
            draft = copy.with_suffix(".draft")
            with zipfile.ZipFile(jar) as signed, zipfile.ZipFile(draft, "w") as plain:
                for entry in signed.infolist():
                    if not _is_signature(entry.filename):
                        plain.writestr(entry, signed.read(entry))
            draft.rename(copy)

    @property
    def _unsigned(self) -> Path:
        return self.path.with_suffix("")

    @property
    def _failure(self) -> Path:
        return self.path.with_suffix(".failed")

    @property
    def _base(self) -> Path | None:
        """The path for an archive of Java's own classes; None if Java includes one."""
        if (self.java.path / "lib" / "server" / "classes.jsa").exists():
            return None
        return self.home / f"java-{_digest(self.java, ())}.jsa"

    def _make_base(self, path: Path) -> None:
        if _is_whole(path):
            return
        draft = path.with_suffix(".draft")
        command = [str(self.java.java), "-Xshare:dump", f"-XX:SharedArchiveFile={draft}", _QUIET]
        try:
            subprocess.run(command, capture_output=True, timeout=_BASE_SECONDS, check=True)
        except subprocess.SubprocessError as error:
            raise SetupError(f"{self.java.java} can't archive its own classes: {error}") from error
        _publish(draft, path)

    def _drop_old(self) -> None:
        """Keep the newest two of each program: a second version of Penstock may use the other."""
        for program in (self.program, "java"):
            found = self.home.glob(f"{program}-*.jsa")
            for old in sorted(found, key=lambda path: path.stat().st_mtime)[:-_KEPT]:
                old.unlink(missing_ok=True)
                _size_of(old).unlink(missing_ok=True)
                shutil.rmtree(old.with_suffix(""), ignore_errors=True)


def _publish(draft: Path, path: Path) -> None:
    """Give an archive its name, and store its size beside it: a truncated one would crash Java."""
    _size_of(path).write_text(str(draft.stat().st_size))
    draft.rename(path)


def _is_whole(path: Path) -> bool:
    try:
        return int(_size_of(path).read_text()) == path.stat().st_size
    except (OSError, ValueError):
        return False


def _size_of(path: Path) -> Path:
    return path.with_suffix(".size")


def _digest(java: JavaHome, jars: Iterable[Path]) -> str:
    release = java.path / "release"
    parts = [_FORM, str(java.java), release.read_text() if release.exists() else ""]
    for jar in jars:
        found = jar.stat()
        parts.append(f"{jar} {found.st_size} {found.st_mtime_ns}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _is_signed(jar: Path) -> bool:
    with zipfile.ZipFile(jar) as archive:
        return any(map(_is_signature, archive.namelist()))


def _is_signature(name: str) -> bool:
    return name.startswith("META-INF/") and name.upper().endswith(_SIGNATURES)
