from __future__ import annotations

from pathlib import Path

import pytest

from penstock.docs import pages, write
from penstock.plugins import BUILT_IN, Plugins

DOCS = Path(__file__).parents[2] / "docs"
PAGES = pages(Plugins(BUILT_IN))


@pytest.mark.parametrize("path", PAGES)
def test_the_page_is_up_to_date(path: str) -> None:
    assert (DOCS / path).read_text(encoding="utf-8") == PAGES[path], "run `make docs`"


def test_there_is_no_page_of_a_plugin_that_is_gone() -> None:
    written = {f"plugins/{page.name}" for page in (DOCS / "plugins").glob("*.md")}
    assert written == {path for path in PAGES if path.startswith("plugins/")}


def test_a_page_that_is_left_over_is_removed(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "sink-Gone.md").touch()
    write(tmp_path, Plugins(BUILT_IN))
    assert not (tmp_path / "plugins" / "sink-Gone.md").exists()
    assert (tmp_path / "worker.md").read_text(encoding="utf-8") == PAGES["worker.md"]


def test_a_key_is_told_with_its_type_default_and_rule() -> None:
    assert (
        "### `offset.storage.partitions`\n\n"
        "Partitions of the offsets topic when it is created.\n\n"
        "- Type: int\n- Default: `25`\n"
        "- Valid: a positive number, or -1 for the broker's default\n- Importance: low\n"
    ) in PAGES["worker.md"]
    assert "- Required\n" in PAGES["worker.md"]
