"""An archive that a real Java makes and uses."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from penstock.machine.class_archive import ClassArchive
from penstock.machine.embedded_kafka import broker_archive
from penstock.machine.java_home import find_java

TOOL = ("kafka.tools.StorageTool", "random-uuid")


def run(archive: ClassArchive, options: Sequence[str]) -> str:
    command = [str(archive.java.java), *options, "-cp", archive.classpath, *TOOL]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


def _trained(archive: ClassArchive, options: Sequence[str]) -> None:
    assert is_uuid(run(archive, options))


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> ClassArchive:
    made = dataclasses.replace(broker_archive(), home=tmp_path_factory.mktemp("archives"))
    made.make(lambda options: _trained(made, options))
    return made


def is_uuid(text: str) -> bool:
    return len(text.strip()) == 22 and "\n" not in text.strip()


def test_classes_come_from_the_archive(archive: ClassArchive) -> None:
    loaded = run(archive, [*archive.options, "-Xlog:class+load"])
    assert "kafka.tools.StorageTool source: shared objects file (top)" in loaded


def test_nothing_is_printed_with_it(archive: ClassArchive) -> None:
    assert is_uuid(run(archive, archive.options))


def test_a_cut_archive_is_not_used(archive: ClassArchive, tmp_path: Path) -> None:
    cut = dataclasses.replace(archive, home=tmp_path / "archives")
    shutil.copytree(archive.home, cut.home)
    before = cut.exists
    cut.path.chmod(0o644)
    os.truncate(cut.path, 1_000_000)
    assert (before, cut.exists) == (True, False)
    assert is_uuid(run(cut, cut.options))


def test_one_that_does_not_fit_is_passed_over_in_silence(
    archive: ClassArchive, tmp_path: Path
) -> None:
    """Cannot happen by name; a flag of the user's may have the same effect."""
    assert is_uuid(run(archive, [*archive.options, "-XX:-UseCompressedClassPointers"]))
    other = dataclasses.replace(archive, jars=archive.jars[::-1])
    assert is_uuid(run(other, archive.options))


def test_the_java_of_the_wheel_gets_the_archive_of_its_own_classes_first(tmp_path: Path) -> None:
    java = find_java({"PATH": ""})
    own = dataclasses.replace(broker_archive(), java=java, home=tmp_path)
    own.make(lambda options: _trained(own, options))
    assert len(list(tmp_path.glob("java-*.jsa"))) == 1
    loaded = run(own, [*own.options, "-Xlog:class+load"])
    assert "java.lang.String source: shared objects file" in loaded
    assert "kafka.tools.StorageTool source: shared objects file (top)" in loaded
