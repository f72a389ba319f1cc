"""Tables for people, lines for pipes, documents for scripts."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from penstock.cli.formats import Output, show, show_document, table_of
from penstock.cli.output import say

ROWS: list[dict[str, Any]] = [
    {"name": "a", "some_count": 12, "ok": True, "more": {"x": [1]}},
    {"name": "a longer name 日本", "some_count": None, "ok": False, "more": "[red]\ntwo"},
]


def test_lines_of_a_pipe_are_never_folded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    show(ROWS, Output.TABLE)
    assert capsys.readouterr().out.splitlines() == [
        "NAME                SOME COUNT  OK   MORE",
        'a                   12          yes  {"x": [1]}',
        "a longer name 日本              no   [red] two",
    ]


def test_columns_and_empty_tables(capsys: pytest.CaptureFixture[str]) -> None:
    show(ROWS[:1], Output.TABLE, ("ok", "name"))
    show([], Output.TABLE, ("name",))
    assert capsys.readouterr().out == "OK   NAME\nyes  a\nNAME\n"
    show([], Output.TABLE)
    assert capsys.readouterr().out == "(none)\n"


def test_documents(capsys: pytest.CaptureFixture[str]) -> None:
    for output, read in ((Output.JSON, json.loads), (Output.YAML, yaml.safe_load)):
        show(ROWS, output, ("name",))
        assert read(capsys.readouterr().out) == ROWS


@pytest.mark.parametrize("text", ["${vault:key:password}", "[bold]x[/bold]", ":warning: " * 50])
def test_texts_stay_as_they_are(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    say(text)
    assert capsys.readouterr().out == f"{text}\n"
    show_document({"x": text}, Output.YAML)
    assert yaml.safe_load(capsys.readouterr().out) == {"x": text}
    table = table_of([{"x": text}])
    assert table.row_count == 1


def test_a_row_may_have_a_colour() -> None:
    table = table_of(ROWS, style=lambda row: "red" if row["ok"] else "")
    assert [row.style for row in table.rows] == ["red", ""]
