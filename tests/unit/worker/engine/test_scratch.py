"""Directories for temporary files, of processes that live and of such that were killed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from penstock.testing.waiting import patient
from penstock.worker.engine.jvm_command import DirectLaunch
from penstock.worker.engine.scratch import Scratch
from penstock.worker.engine.session import SparkEngine

_HOLD = """
import sys
from pathlib import Path
from penstock.worker.engine.scratch import Scratch

scratch = Scratch(Path(sys.argv[1]))
(scratch.made() / "blockmgr").mkdir()
print("made", flush=True)
sys.stdin.readline()
"""


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    disk, strange = tmp_path / "disk", tmp_path / "disk" / "penstock-spark-1"
    living, another = Scratch(disk), Scratch(disk)
    mine = living.made()
    strange.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(disk)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "made\n"
        (left,) = {path for path in disk.iterdir() if path.is_dir()} - {mine, strange}
        other = another.made()
        assert (left / "blockmgr").is_dir()
        another.remove()
        process.kill()
        process.wait(patient())
    assert (left / "blockmgr").is_dir()
    assert not other.exists()

    assert another.made() != left
    another.remove()
    assert not left.exists()
    assert living.made() == mine
    assert mine.is_dir()
    living.remove()
    assert [*disk.iterdir()] == [strange]


def test_a_directory_is_empty_for_the_next_jvm(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    (scratch.made() / "blockmgr").mkdir()
    scratch.clear()
    assert [*scratch.made().iterdir()] == []
    scratch.remove()


@pytest.mark.parametrize("master", ["local[2]", "spark://elsewhere:7077"])
def test_only_a_local_spark_is_told_other_disks(tmp_path: Path, master: str) -> None:
    """A cluster's executors would be told the same, on other machines."""
    disks = [tmp_path / "a", tmp_path / "b"]
    given = f"{disks[0]}, {disks[1]}"
    engine = SparkEngine({"spark.master": master, "spark.local.dir": given})
    settings = engine._with_scratch(engine._all_settings())
    assert "-Djava.io.tmpdir=" in settings["spark.driver.extraJavaOptions"]
    if master == "local[2]":
        told = [Path(each) for each in settings["spark.local.dir"].split(",")]
        assert [each.parent for each in told] == disks
        assert all(each.is_dir() for each in told)
    else:
        assert settings["spark.local.dir"] == given
    engine.close()
    assert not any(disk.exists() and [*disk.iterdir()] for disk in disks)


def test_the_address_of_a_jvm_is_among_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a later process removes it too, if this one is killed before the JVM listens."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(DirectLaunch, "command", lambda *_, **__: ["sleep", "60"])
    engine = SparkEngine({})
    engine._launch_ahead()
    [scratch] = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert scratch.with_name(f"{scratch.name}.lock").exists()
    [address] = scratch.iterdir()
    assert address.stat().st_mode & 0o077 == 0
    engine.close()
    assert [*tmp_path.iterdir()] == []
