"""Who may read a clock."""

from __future__ import annotations

import re
from pathlib import Path

import penstock

SOURCE = Path(penstock.__file__).parent
READS = re.compile(
    r"\btime\.(time|monotonic|perf_counter)|\bdatetime\.(now|today|utcnow)|date\.today"
)
#: They measure, or wait for a database: nothing is decided by it that a test would want to script.
MAY = ("kernel/clock.py", "cli/doctor.py", "connectors/jdbc", "demo", "testing")


def test_all_others_ask_the_clock_of_the_kernel() -> None:
    readers = [
        str(file.relative_to(SOURCE))
        for file in SOURCE.rglob("*.py")
        if READS.search(file.read_text(encoding="utf-8"))
    ]
    assert [name for name in readers if not name.startswith(MAY)] == []
    assert "kernel/clock.py" in readers
