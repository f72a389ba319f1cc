"""Install the system packages that tests use, or say which to install. Run by `make test`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

POSTGRES = "postgres"
PROGRAMS = {
    "kcat": "kcat",
    "mariadb": "mariadb-client-core",
    "mariadbd": "mariadb-server-core",
    POSTGRES: "postgresql-15",
}
"""Program: Debian package. Everything else that tests need comes from pip or from the jar cache."""

_INSTALL_SECONDS = 600


def main() -> int:
    """0 once every program is there."""
    missing = [package for program, package in PROGRAMS.items() if not _is_there(program)]
    if not missing:
        return 0
    command = f"apt-get install -y --no-install-recommends {' '.join(missing)}"
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        sys.stderr.write(f"The tests need: {', '.join(missing)}. On Debian: sudo {command}\n")
        return 1
    sys.stderr.write(f"Installing {', '.join(missing)}\n")
    # The package lists may be missing or old on a fresh machine; refresh them only if they are.
    if _run(command) == 0 or (_run("apt-get update") == 0 and _run(command) == 0):
        return 0
    sys.stderr.write(f"That failed. Try by hand: {command}\n")
    return 1


def _is_there(program: str) -> bool:
    # Servers are not on every user's path; PostgreSQL's are on nobody's.
    places = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"))
    if program == POSTGRES:
        return bool(
            shutil.which("postgres") or any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        )
    return shutil.which(program, path=places) is not None


def _run(command: str) -> int:
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(
        command.split(), env=environ, timeout=_INSTALL_SECONDS, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
