"""Histories of many connectors at once."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.kernel.errors import BadRequestError
from penstock.tools.offsets.access import Access
from penstock.tools.offsets.models import Kind
from penstock.tools.offsets.showing import Showing
from penstock.tools.offsets.subject import Subject
from tests.unit.tools.offsets.test_topic import history, stored


class Cluster:
    """A source `lines`, and sinks of any other name."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.note = self.notes.append

    def subjects(self, names: Sequence[str]) -> list[Subject]:
        return [
            Subject(
                name, Kind.SOURCE if name == "lines" else Kind.SINK, "offsets", f"connect-{name}"
            )
            for name in names
        ]

    def kafka(self) -> Any:
        found = history(*(stored({"n": n}, n) for n in (1, 2)), keep=5)
        histories = SimpleNamespace(histories=lambda names, keep: {name: [found] for name in names})
        return SimpleNamespace(topic=lambda _: histories)


def test_sinks_beside_sources_are_noted() -> None:
    cluster = Cluster()
    shown = Showing(cast("Access", cluster)).run(["a-sink", "lines", "b-sink"], history=5)
    assert [(each.connector, each.held.offset) for each in shown] == [
        ("lines", {"n": 2}),
        ("lines", {"n": 1}),
    ]
    assert cluster.notes == ["Kafka keeps no history of the offsets of sinks: a-sink, b-sink"]


def test_sinks_alone_have_none() -> None:
    with pytest.raises(BadRequestError, match="no history of the offsets of sinks: a-sink"):
        Showing(cast("Access", Cluster())).run(["a-sink"], history=5)
