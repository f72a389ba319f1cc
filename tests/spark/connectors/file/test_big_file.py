"""Memory does not grow with the file: 200 MB here, in blocks of 4 MB."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spark.connectors.file.test_file import batch_of, sink, source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MEGABYTES = 200

READ = """
import json, resource, sys
from pathlib import Path
from penstock.connectors.file.source import RangeReader
import pyarrow, pyarrow.compute

def rows(end):
    note = Path(sys.argv[3])
    told = {"path": sys.argv[1], "start": 0, "end": end, "millis": 0}
    note.write_text(json.dumps(told))
    return sum(batch.num_rows for batch in RangeReader(str(note), 2000)(iter([])))

rows(1010)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rows(int(sys.argv[2]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.fixture(scope="module")
def big_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("big") / "in.txt"
    block = "".join(f"{number:09d} {'abcdefghij' * 9}\n" for number in range(10_486)).encode()
    with path.open("wb") as stream:
        for _ in range(MEGABYTES):
            stream.write(block)
    return path


def test_the_reader_holds_a_few_blocks_only(big_file: Path, tmp_path: Path) -> None:
    size = big_file.stat().st_size
    command = [sys.executable, "-c", READ, str(big_file), str(size), str(tmp_path / "note")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert int(done.stdout) < 60 * 1024


def test_a_big_file_arrives_unchanged(spark: SparkSession, big_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    reader, writer = source(spark, big_file, lines=2_000_000), sink(spark, out)
    batches = 0
    while (batch := reader.read()) is not None:
        writer.write(batch_of(batch.frame, 1_000_000))
        batches += 1
    assert batches == 2
    assert digest(out) == digest(big_file)


def digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
