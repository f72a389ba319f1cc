"""Which Python continuous integration takes, on machines whose Pythons are scripts.

The machine's own are asked as well; those of these tests are older than any.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

_PYTHON = """#!/bin/sh
case "$2" in
*ensurepip*) [ -e "$0.venv" ] ;;
*version_info*) echo "{version} $0" ;;
*) echo {version} ;;
esac
"""
_BROKEN = "#!/bin/sh\necho 'version 3.11.0 is not switched on' >&2\nexit 127\n"
_APT = '#!/bin/sh\necho "$*" >> "$0.calls"\n{does}\n'


class Machine:
    """A clone with `.ci/run`, and a folder of programs before the others on the path."""

    def __init__(self, directory: Path) -> None:
        self.programs = directory / "bin"
        self.programs.mkdir()
        self.clone = directory / "clone"
        (self.clone / ".ci").mkdir(parents=True)
        shutil.copy(ROOT / ".ci" / "run", self.clone / ".ci" / "run")
        self.program("make", '#!/bin/sh\necho "make $* with ${PYTHON##*/}"\n')
        self.program("apt-get", _APT.format(does="exit 1"))

    def program(self, name: str, text: str) -> Path:
        file = self.programs / name
        file.write_text(text)
        file.chmod(0o755)
        return file

    def python(self, name: str, version: str, *, venv: bool = True) -> Path:
        file = self.program(name, _PYTHON.format(version=version))
        if venv:
            Path(f"{file}.venv").touch()
        return file

    def run(self) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join((str(self.programs), "/usr/bin", "/bin"))
        return subprocess.run(
            [str(self.clone / ".ci" / "run")],
            env={"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_oldest_python_is_taken(machine: Machine) -> None:
    machine.python("python3", "3.11.10")
    machine.python("python3.11", "3.11.1")
    machine.python("python3.13", "3.13.0")
    machine.program("python3.12", _BROKEN)
    machine.program("python3.11-config", "#!/bin/sh\necho '3.11.0 a-script'\n")
    done = machine.run()
    assert done.stdout == "make test with python3.11\n"
    assert "Python 3.11.1 at " in done.stderr


def test_one_that_makes_no_virtual_environments_is_passed_over(machine: Machine) -> None:
    machine.python("python3", "3.11.0", venv=False)
    machine.python("python3.12", "3.11.1")
    done = machine.run()
    assert done.stdout == "make test with python3.12\n"
    assert "passing over Python 3.11.0 at " in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs packages")
def test_root_installs_what_makes_virtual_environments(machine: Machine) -> None:
    python = machine.python("python3", "3.11.0", venv=False)
    apt = machine.program("apt-get", _APT.format(does=f"touch '{python}.venv'"))
    done = machine.run()
    assert done.stdout == "make test with python3\n"
    installed = "install -y --no-install-recommends python3.11-venv\n"
    assert Path(f"{apt}.calls").read_text() == installed


def test_a_virtual_environment_that_is_there_is_named(machine: Machine) -> None:
    machine.python("python3", "3.11.0")
    there = machine.clone / ".venv" / "bin"
    there.mkdir(parents=True)
    shutil.copy(machine.python("old", "3.12.0"), there / "python")
    done = machine.run()
    assert "there is a .venv already, and it is used: 3.12.0" in done.stderr
