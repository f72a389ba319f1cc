"""What the file connectors say of themselves, without Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from penstock.api import PartitionKey
from penstock.connectors.file.appender import TargetFile
from penstock.connectors.file.sink import FileStreamSinkConnector
from penstock.connectors.file.source import FileStreamSourceConnector, FileStreamSourceTask
from penstock.kernel.errors import ConfigError, DataError, RetriableError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONFIG = {"file": "/data/in.txt", "topic": "t"}


class Nobody:
    stopping = False

    @property
    def spark(self) -> SparkSession:
        raise AssertionError

    def request_task_reconfiguration(self) -> None:
        raise AssertionError

    def raise_error(self, error: Exception) -> None:
        raise error


def test_one_source_task_and_as_many_sink_tasks_as_allowed() -> None:
    source, sink = FileStreamSourceConnector(), FileStreamSinkConnector()
    source.start(CONFIG, Nobody())
    sink.start({"file": "out.txt"}, Nobody())
    assert source.task_configs(7) == [CONFIG]
    assert sink.task_configs(3) == [{"file": "out.txt"}] * 3


def test_a_topic_is_required() -> None:
    with pytest.raises(ConfigError, match="topic"):
        FileStreamSourceConnector().start({"file": "x"}, Nobody())


@pytest.mark.parametrize(
    ("partition", "offset", "message"),
    [
        ({"filename": "f"}, {}, "contain the key 'position'"),
        ({"filename": "f"}, {"position": "7"}, "expected to be a Long value"),
        ({"filename": "f"}, {"position": 7.0}, "expected to be a Long value"),
        ({"filename": "f"}, {"position": True}, "expected to be a Long value"),
        ({"filename": "f"}, {"position": -1}, "should be a non-negative value"),
        ({"file": "f"}, {"position": 1}, "should contain the key 'filename'"),
    ],
)
def test_offsets_it_could_not_have_made_are_refused(
    partition: dict[str, Any], offset: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        FileStreamSourceConnector().alter_offsets(CONFIG, {PartitionKey.of(partition): offset})


def test_offsets_it_could_have_made_are_accepted() -> None:
    connector = FileStreamSourceConnector()
    assert connector.alter_offsets(CONFIG, {PartitionKey.of({"filename": "f"}): {"position": 0}})
    assert connector.alter_offsets(CONFIG, {PartitionKey.of({"other": "f"}): None})
    with pytest.raises(DataError, match="stdin is used for input"):
        connector.alter_offsets({"topic": "t"}, {})


def test_exactly_once_for_files_only() -> None:
    connector = FileStreamSourceConnector()
    assert connector.exactly_once_supported(CONFIG) is True
    assert connector.exactly_once_supported({"topic": "t", "file": ""}) is False


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"", b""), (b"whole\n", b"whole\n"), (b"whole\nhal", b"whole\nhal\n")],
)
def test_a_line_that_a_crash_cut_is_ended(tmp_path: Path, before: bytes, after: bytes) -> None:
    path = tmp_path / "out.txt"
    path.write_bytes(before)
    TargetFile(str(path)).prepare()
    assert path.read_bytes() == after


def test_a_file_that_another_task_writes_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_bytes(b"in the midd")
    with TargetFile(str(path)).exclusive(lambda: False):
        TargetFile(str(path)).prepare()
        assert path.read_bytes() == b"in the midd"
        with (
            pytest.raises(RetriableError, match="written by another process"),
            TargetFile(str(path)).exclusive(lambda: True),
        ):
            raise AssertionError


def test_parts_are_added_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_bytes(b"before\n")
    with TargetFile(str(path)).exclusive(lambda: False) as appending:
        with appending.parts() as directory:
            for number in (11, 2, 0):
                Path(directory, f"part-{number:05d}-x.txt").write_bytes(b"%d\n" % number)
            Path(directory, ".part-00000-x.txt.crc").write_bytes(b"no line")
            appending.append_parts(directory)
        assert not Path(directory).exists()
    assert path.read_bytes() == b"before\n0\n2\n11\n"


def test_parts_of_a_failed_batch_are_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"

    def fail_half_way() -> None:
        target = TargetFile(str(path))
        with target.exclusive(lambda: False) as appending, appending.parts() as directory:
            Path(directory, "part-00000-x.txt").write_bytes(b"a\n")
            appending.append_parts(directory)
            assert path.read_bytes() == b"a\n"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert path.read_bytes() == b""
    assert list(tmp_path.iterdir()) == [path]


def test_parts_that_a_crash_left_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "out[1].txt"
    left, of_another = tmp_path / ".out[1].txt.parts-x", tmp_path / ".out1.txt.parts-x"
    for directory in (left, of_another):
        directory.mkdir()
        (directory / "part").write_bytes(b"half")
    with TargetFile(str(path)).exclusive(lambda: False) as appending, appending.parts():
        assert not left.exists()
        assert of_another.exists()


def test_importing_the_plugins_does_not_import_spark() -> None:
    code = (
        "import sys, penstock.connectors.file.source, penstock.connectors.file.sink;"
        "sys.exit('pyspark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("what", ["EOFError: the file ends", "FileNotFoundError: in.txt"])
def test_a_file_that_is_cut_while_it_is_read_is_looked_at_again(what: str, tmp_path: Path) -> None:
    task = FileStreamSourceTask()
    task.start({"file": str(tmp_path / "in.txt"), "topic": "t"}, cast("Any", WithoutOffsets()))
    found = task.explained(RuntimeError(f"Traceback of a Python worker\n{what}"))
    assert isinstance(found, RetriableError)
    other = RuntimeError("something else")
    assert task.explained(other) is other


class WithoutOffsets:
    def offset(self, partition: object) -> None:
        return None
