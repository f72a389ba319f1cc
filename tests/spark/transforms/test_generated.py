"""Generated records through Kafka's transformations and through ours; `make parity` runs more."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spark.transforms.generated.configs import SHAPES
from tests.spark.transforms.generated.differences import page
from tests.spark.transforms.generated.trials import transforms, trials

if TYPE_CHECKING:
    from tests.spark.transforms.generated.parity import Parity

_DOCUMENT = Path(__file__).parents[3] / "docs" / "transform-differences.md"
_TRIALS = 4


@pytest.mark.parametrize("name", SHAPES)
def test_the_same_becomes_of_generated_records(parity: Parity, name: str) -> None:
    sides = transforms(name)

    found = list(parity.compare(list(islice(trials(7, sides), _TRIALS * len(sides)))))

    assert not found, "\n".join(map(str, found[:3]))


def test_differences_are_documented() -> None:
    assert _DOCUMENT.read_text(encoding="utf-8") == page()
