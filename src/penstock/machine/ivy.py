"""Fetches jars with Apache Ivy, from its default repository or that of the user's settings file."""

from __future__ import annotations

import html
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from penstock.kernel.errors import SetupError

# Ivy has the address of the public repository. Every jar is named exactly, so reading descriptors
# and their parents (most of the requests) would change nothing.
_SETTINGS = """<ivysettings>
  <settings defaultResolver="public"/>
  <resolvers>
    <ibiblio name="public" m2compatible="true" usepoms="false" useMavenMetadata="false"/>
  </resolvers>
</ivysettings>
"""

#: Ivy's namespace for Maven's classifiers.
_MAVEN = "http://ant.apache.org/ivy/maven"
_FETCHED = re.compile(r"\[SUCCESSFUL \] (\S+?)#(\S+?);(\S+?)!")
_FAILED = re.compile(r"(?::: |\[FAILED +\] )([^\s#:]+)#([^;\s]+);([^\s:!]+)(?:: not found|!)")
_REASON = re.compile(r"Server access error at url (?P<url>\S+) \((?P<reason>.+)\)")


@dataclass(frozen=True, slots=True)
class Coordinate:
    """One jar in a repository, or another file: `group:name:version:tar.gz:all`."""

    organisation: str
    artifact: str
    version: str
    extension: str = "jar"
    classifier: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(*text.split(":"))

    @property
    def file_name(self) -> str:
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{classifier}.{self.extension}"

    @property
    def is_plain(self) -> bool:
        return self.extension == "jar" and not self.classifier

    def __str__(self) -> str:
        return f"{self.organisation}:{self.artifact}:{self.version}"


Progress = Callable[[int, int, str], None]
"""Called with the number of jars fetched, the number needed, and the last one fetched."""


def print_progress(done: int, total: int, what: str) -> None:
    """Print one line on standard error that is updated on a terminal; else every tenth."""
    terminal = sys.stderr.isatty()
    if not terminal and done % 10 and done != total:
        return
    start, end = ("\r\x1b[2K", "\n" if done == total else "") if terminal else ("", "\n")
    sys.stderr.write(f"{start}Fetching jars {done}/{total} {what}{end}")
    sys.stderr.flush()


@dataclass(frozen=True, slots=True)
class Ivy:
    """Ivy as a program: a Java, the jar, and the environment that may name settings and proxies."""

    java: Path
    jar: Path
    environ: Mapping[str, str]

    def retrieve(
        self,
        groups: Mapping[str, Sequence[Coordinate]],
        scratch: Path,
        *,
        progress: Progress,
        timeout_seconds: float,
    ) -> None:
        """Put the jars of each group into `scratch/out/<group>`.

        Raises:
            SetupError: a jar was not found, or the repository can't be reached.
        """
        (scratch / "ivy.xml").write_text(_module(groups))
        (scratch / "ivysettings.xml").write_text(_SETTINGS)
        total = len({one for coordinates in groups.values() for one in coordinates})
        progress(0, total, "(first use only)")
        output = self._run(self._command(groups, scratch), total, progress, timeout_seconds)
        missing = [
            coordinate
            for group, coordinates in groups.items()
            for coordinate in coordinates
            if not (scratch / "out" / group / coordinate.file_name).is_file()
        ]
        if missing:
            raise SetupError(self._explanation(missing, output))

    @property
    def _settings(self) -> str | None:
        return self.environ.get("PENSTOCK_IVY_SETTINGS")

    def _command(self, groups: Iterable[str], scratch: Path) -> list[str]:
        return [
            *(str(self.java), *_proxy_options(self.environ)),
            # Both options are needed to keep Ivy out of the home directory.
            *(f"-Divy.default.ivy.user.dir={scratch}/ivy", "-cp", str(self.jar)),
            *("org.apache.ivy.Main", "-cache", f"{scratch}/cache", "-ivy", f"{scratch}/ivy.xml"),
            *("-settings", str(self._settings or scratch / "ivysettings.xml")),
            *("-retrieve", f"{scratch}/out/[conf]/[artifact]-[revision](-[classifier]).[ext]"),
            *("-confs", *groups),
        ]

    def _run(
        self, command: Sequence[str], total: int, progress: Progress, timeout_seconds: float
    ) -> str:
        lines: list[str] = []
        fetched: set[str] = set()
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as process:
            guard = threading.Timer(timeout_seconds, process.kill)
            guard.start()
            try:
                for line in process.stdout or ():
                    lines.append(line)
                    if match := _FETCHED.search(line):
                        fetched.add(match.group(0))
                        progress(len(fetched), total, f"{match.group(2)} {match.group(3)}")
            finally:
                guard.cancel()
        return "".join(lines)

    def _explanation(self, missing: Sequence[Coordinate], output: str) -> str:
        named = {":".join(match.groups()) for match in _FAILED.finditer(output)}
        blamed = [str(one) for one in missing if str(one) in named] or [str(missing[0])]
        if reason := _REASON.search(output):
            cause = f"{reason['url']}: {reason['reason']}"
        elif named:
            cause = "the repository does not have it"
        else:
            cause = f"Ivy ended with:\n{output.strip()[-1500:]}"
        used = f"the settings in {self._settings}" if self._settings else "Ivy's own repository"
        return (
            f"can't fetch {', '.join(dict.fromkeys(blamed))} with {used}: {cause}\n"
            "Check the network and the proxy (https_proxy). Behind a mirror, set "
            "PENSTOCK_IVY_SETTINGS to an ivysettings.xml that names it."
        )


def _module(groups: Mapping[str, Sequence[Coordinate]]) -> str:
    confs = "".join(f"<conf name={_quoted(group)}/>" for group in groups)
    dependencies = "".join(
        f"<dependency org={_quoted(one.organisation)} name={_quoted(one.artifact)} "
        f"rev={_quoted(one.version)} force='true' transitive='false' "
        f"conf={_quoted(f'{group}->master(*)')}{_file(one)}"
        for group, coordinates in groups.items()
        for one in coordinates
    )
    return (
        f"<ivy-module version='2.0' xmlns:m='{_MAVEN}'>"
        "<info organisation='penstock' module='jars'/>"
        f"<configurations>{confs}</configurations>"
        f"<dependencies>{dependencies}</dependencies></ivy-module>"
    )


def _file(one: Coordinate) -> str:
    """The rest of a dependency: the file to fetch, unless it is the jar."""
    if one.is_plain:
        return "/>"
    extension, classifier = _quoted(one.extension), _quoted(one.classifier)
    return (
        f"><artifact name={_quoted(one.artifact)} type={extension} ext={extension} "
        f"m:classifier={classifier}/></dependency>"
    )


def _proxy_options(environ: Mapping[str, str]) -> list[str]:
    """Java's options for the proxy variables that pip and curl use; Java ignores those."""
    options = []
    for scheme in ("http", "https"):
        value = environ.get(f"{scheme}_proxy") or environ.get(f"{scheme.upper()}_PROXY")
        address = urlsplit(value if "//" in value else f"//{value}") if value else None
        if address and address.hostname:
            options.append(f"-D{scheme}.proxyHost={address.hostname}")
            options.append(f"-D{scheme}.proxyPort={address.port or 80}")
    return options


def _quoted(text: str) -> str:
    return f'"{html.escape(text)}"'
