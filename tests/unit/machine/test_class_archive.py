"""Which archive is whose, and what is left when making one fails. Java itself: tests/kafka."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from penstock.kernel.errors import DeadlineExceededError, SetupError
from penstock.machine.cache import locked
from penstock.machine.class_archive import ClassArchive
from penstock.machine.java_home import JavaHome, JavaOrigin


@pytest.fixture
def archive(tmp_path: Path) -> ClassArchive:
    java = tmp_path / "java"
    (java / "lib" / "server").mkdir(parents=True)
    (java / "lib" / "server" / "classes.jsa").touch()
    (java / "release").write_text('JAVA_VERSION="17.0.1"')
    with zipfile.ZipFile(tmp_path / "a.jar", "w") as jar:
        jar.writestr("A.class", b"a")
    with zipfile.ZipFile(tmp_path / "signed.jar", "w") as jar:
        jar.writestr("B.class", b"b")
        jar.writestr("META-INF/X.SF", b"signature")
    jars = (tmp_path / "a.jar", tmp_path / "signed.jar")
    return ClassArchive("spark", JavaHome(java, 17, JavaOrigin.PATH), jars, tmp_path / "archives")


def write(options: Sequence[str]) -> None:
    """What Java does at its end."""
    target = next(each for each in options if each.startswith("-XX:ArchiveClassesAtExit="))
    Path(target.partition("=")[2]).write_bytes(b"archive")


def test_without_an_archive_java_gets_no_options(archive: ClassArchive) -> None:
    assert archive.options == []
    assert archive.classpath == os.pathsep.join(map(str, archive.jars))


def test_an_archive_is_used_once_it_is_made(archive: ClassArchive) -> None:
    archive.make(write)
    assert f"-XX:SharedArchiveFile={archive.path}" in archive.options
    assert archive.path.read_bytes() == b"archive"


def test_signed_jars_are_replaced_by_copies_without_signatures(archive: ClassArchive) -> None:
    archive.make(write)
    plain, copy = map(Path, archive.classpath.split(os.pathsep))
    assert plain == archive.jars[0]
    assert zipfile.ZipFile(copy).namelist() == ["B.class"]


def test_another_java_or_another_jar_has_another_archive(archive: ClassArchive) -> None:
    archive.make(write)
    before = archive.path
    os.utime(archive.jars[0], (1, 1))
    assert archive.path != before
    assert not archive.exists
    os.utime(archive.jars[0], ns=(0, 0))
    (archive.java.path / "release").write_text('JAVA_VERSION="17.0.2"')
    assert archive.path != before


def test_a_java_without_its_own_archive_needs_that_first(archive: ClassArchive) -> None:
    archive.make(write)
    (archive.java.path / "lib" / "server" / "classes.jsa").unlink()
    assert not archive.exists


def test_a_run_that_leaves_no_archive_is_not_repeated_soon(archive: ClassArchive) -> None:
    with pytest.raises(SetupError, match="wrote no archive"):
        archive.make(lambda _: None)
    assert archive.failed
    assert not archive.exists
    day_ago = archive.path.with_suffix(".failed").stat().st_mtime - 25 * 3600
    os.utime(archive.path.with_suffix(".failed"), (day_ago, day_ago))
    assert not archive.failed


def test_a_run_that_is_interrupted_leaves_nothing_behind(archive: ClassArchive) -> None:
    def interrupted(options: Sequence[str]) -> None:
        write(options)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        archive.make(interrupted)
    assert not archive.exists
    assert not archive.failed
    assert not list(archive.home.glob("*.draft"))


def test_one_process_makes_archives_at_a_time(
    archive: ClassArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.machine.class_archive._LOCK_SECONDS", 0.1)
    with (
        locked(archive.home / "make.lock", 1),
        pytest.raises(DeadlineExceededError),
    ):
        archive.make(write)


def test_a_full_disk_is_reported_before_anything_is_written(
    archive: ClassArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.machine.class_archive._ROOM_BYTES", 1 << 60)
    with pytest.raises(OSError, match="bytes free"):
        archive.make(write)
    assert not list(archive.home.glob("*.jsa"))


def test_the_newest_two_are_kept(archive: ClassArchive) -> None:
    paths = []
    for second in (100, 200, 300):
        os.utime(archive.jars[0], (second, second))
        archive.make(write)
        os.utime(archive.path, (second, second))
        paths.append(archive.path)
    assert [path.exists() for path in paths] == [False, True, True]
