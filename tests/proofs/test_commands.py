"""A demo that ends without a word."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.cluster.test_commands import end_demo


def test_nothing_outlives_a_demo_that_is_killed(tmp_path: Path) -> None:
    assert end_demo(tmp_path, signal.SIGKILL) == -signal.SIGKILL
