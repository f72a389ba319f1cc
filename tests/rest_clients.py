"""Other people's clients of the Connect REST API, each installed once into Penstock's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from penstock.kernel.errors import SetupError
from penstock.machine.cache import cache_home, locked

_INSTALL_SECONDS: Final = 400.0
_REQUESTS: Final = (
    "requests==2.32.5",
    "urllib3==2.5.0",
    "charset-normalizer==3.4.4",
    "idna==3.11",
    "certifi==2025.10.5",
)

PYTHON_CLIENTS: Final[Mapping[str, Sequence[str]]] = {
    "kafka-connect-py": ("kafka-connect-py==1.0.0", "click==8.3.0", *_REQUESTS),
    "kafka-connect-api": ("kafka-connect-api==0.5.10", *_REQUESTS),
    "kafkaconnect": (
        "kafkaconnect==1.3.1",
        "click==8.3.0",
        "confluent-kafka==2.12.1",
        *_REQUESTS,
    ),
    # Its own requirements name these very versions; and twine, which it does not use. The last is
    # for the module cgi, which newer Pythons do not have.
    "kafka-connect-cli": (
        "kafka-connect-cli==0.2.5",
        "requests==2.27.1",
        "urllib3==1.26.9",
        "charset-normalizer==2.0.12",
        "idna==3.3",
        "certifi==2021.10.8",
        "legacy-cgi==2.6.4; python_version >= '3.13'",
    ),
    "kafka-connect-healthcheck": ("kafka-connect-healthcheck==0.3.0", *_REQUESTS),
}
"""Every package by its version, because each client is installed without a resolver."""

_GO_MODULE: Final = """\
module clients

go 1.21

require (
	github.com/go-kafka/connect v0.9.0
	github.com/ricardo-ch/go-kafka-connect/v3 v3.0.0-20221117134721-e033f95963cb
	gopkg.in/alecthomas/kingpin.v2 v2.2.6
)

require (
	github.com/alecthomas/template v0.0.0-20190718012654-fb15b899a751 // indirect
	github.com/alecthomas/units v0.0.0-20240927000941-0f3dac36c52b // indirect
)
"""
GO_CLIENTS: Final = {
    "go-kafka-connect": "github.com/ricardo-ch/go-kafka-connect/v3/cli",
    "go-kafka": "github.com/go-kafka/connect/cmd/kafka-connect",
}


def python_client(name: str) -> Path:
    """The directory with the programs of a client, and a `python` that can import it."""
    wanted = PYTHON_CLIENTS[name]

    def install(home: Path) -> None:
        # Their requirements contradict each other and ours: each has an environment of its own.
        venv.create(home, symlinks=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(home)]
        _run([*pip, "install", "--quiet", "--no-deps", *wanted], home)

    return _installed(name, "\n".join((sys.version, *wanted)), install) / "bin"


def go_client(name: str) -> Path:
    """The program of a client written in Go; needs `go`."""
    package = GO_CLIENTS[name]

    def build(home: Path) -> None:
        (home / "go.mod").write_text(_GO_MODULE)
        environ = {**os.environ, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}
        _run(["go", "build", "-o", str(home / name), package], home, environ)

    return _installed(name, _GO_MODULE + package, build) / name


def _installed(name: str, contents: str, install: Callable[[Path], None]) -> Path:
    """The place of these contents, filled by the first who asks; half an install is begun anew."""
    digest = hashlib.sha256(contents.encode()).hexdigest()[:12]
    home = cache_home() / "rest-clients" / f"{name}-{digest}"
    done = home / ".installed"
    with locked(home.parent / f"{home.name}.lock", _INSTALL_SECONDS):
        if not done.exists():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True)
            install(home)
            done.touch()
    return home


def _run(command: Sequence[str], where: Path, environ: Mapping[str, str] | None = None) -> None:
    result = subprocess.run(
        command,
        cwd=where,
        env=environ,
        capture_output=True,
        text=True,
        timeout=_INSTALL_SECONDS,
        check=False,
    )
    if result.returncode != 0:
        raise SetupError(f"{' '.join(command[:4])} … failed:\n{result.stderr[-2000:]}")
