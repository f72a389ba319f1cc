"""Options of `penstock dlq` that are refused before anything is asked of Kafka."""

from __future__ import annotations

import pytest

from penstock.cli.dlq.stages import Stage, stage_named
from tests.unit.cli.run import penstock


@pytest.mark.parametrize("command", ["show", "replay"])
def test_a_step_that_does_not_exist_is_refused_with_those_that_do(command: str) -> None:
    done = penstock("dlq", command, "--topic", "dead", "--stage", "TASK_PUTS")
    assert done.status == 2
    assert "--stage" in done.err
    assert "there is no step TASK_PUTS" in done.words
    assert all(stage in done.words for stage in Stage)


def test_steps_are_taken_in_letters_of_any_size() -> None:
    assert [stage_named(text) for text in ("task_put", "TASK_PUT", "")] == ["TASK_PUT"] * 2 + [""]


@pytest.mark.parametrize("size", ["0", "10001", "some"])
def test_a_batch_has_a_size(size: str) -> None:
    done = penstock("dlq", "replay", "--topic", "dead", "--batch", size)
    assert done.status == 2
    assert "--batch" in done.err
