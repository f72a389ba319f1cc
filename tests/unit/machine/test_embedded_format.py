"""What is in the directory of a node whose formatting did not come to its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.kernel.errors import SetupError
from penstock.machine import embedded_kafka
from penstock.machine.embedded_kafka import EmbeddedKafka
from penstock.machine.files import replace_file


def written(node: EmbeddedKafka) -> set[str]:
    return {path.name for path in (node.data_dir / "data").glob("*")}


@pytest.mark.parametrize("last", ["bootstrap.checkpoint", "meta.properties"])
def test_a_crash_leaves_nothing_that_looks_formatted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    def crash_at_the_last(path: Path, data: bytes) -> None:
        if path.name == last:
            raise OSError("the disk is full")
        replace_file(path, data)

    monkeypatch.setattr(embedded_kafka, "replace_file", crash_at_the_last)
    node = EmbeddedKafka(tmp_path)
    with pytest.raises(OSError, match="the disk is full"):
        node.start()
    assert written(node) == {"bootstrap.checkpoint", "meta.properties"} - {"meta.properties", last}


@pytest.mark.parametrize(
    "key", ["node.id", "log.dirs", "metadata.log.dir", "unstable.feature.versions.enable"]
)
def test_properties_that_would_change_the_format_are_refused(tmp_path: Path, key: str) -> None:
    node = EmbeddedKafka(tmp_path, properties={key: "5", "num.partitions": "3"})
    with pytest.raises(SetupError, match=f"the embedded Kafka sets {key} itself"):
        node.start()
    assert not written(node)


def test_a_data_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(SetupError, match=r"can't create the data directory .*: .*; choose another"):
        EmbeddedKafka(file).begin()
