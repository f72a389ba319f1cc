from __future__ import annotations

from pathlib import Path

import pytest

from penstock.demo.flow import DemoError, Feed, Receipt, line
from penstock.testing.waiting import patient


def write(path: Path, *texts: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(texts))


def test_what_was_sent_is_accepted_as_it_comes(tmp_path: Path) -> None:
    receipt = Receipt(tmp_path / "out")
    receipt.read()
    write(tmp_path / "out", f"{line(0)}\n", line(1)[:7])
    receipt.read()
    assert receipt.received == 1
    write(tmp_path / "out", f"{line(1)[7:]}\n")
    receipt.read()
    assert receipt.received == 2


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param([line(1)], id="lost"),
        pytest.param([line(0), line(0)], id="doubled"),
        pytest.param([line(0), line(2), line(1)], id="out of order"),
        pytest.param([line(0), line(1) + " "], id="changed"),
    ],
)
def test_a_wrong_record_is_noticed(tmp_path: Path, wrong: list[str]) -> None:
    write(tmp_path / "out", *(f"{text}\n" for text in wrong))
    with pytest.raises(DemoError, match="should be"):
        Receipt(tmp_path / "out").read()


def test_the_feed_stops_at_its_limit(tmp_path: Path) -> None:
    with Feed(tmp_path / "in", limit=300) as feed:
        feed._thread.join(patient())
    assert feed.written == 300
    lines = (tmp_path / "in").read_text(encoding="utf-8").splitlines()
    assert lines == [line(number) for number in range(300)]
