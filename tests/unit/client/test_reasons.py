from __future__ import annotations

import traceback

import pytest

from penstock.client.waiting import reason


def _python() -> str:
    try:
        try:
            raise ValueError("inner")
        except ValueError as error:
            raise RuntimeError("no disk") from error
    except RuntimeError as error:
        return "".join(traceback.format_exception(error))


@pytest.mark.parametrize(
    ("trace", "lines"),
    [
        (None, []),
        ("", []),
        ("x.BadError: no disk", ["x.BadError: no disk"]),
        ("x.BadError: no\n\tat a\n\tat b\n\tat c", ["x.BadError: no", "\tat a", "\tat b"]),
        ('Traceback (…):\n  File "a"\n    b()\nValueError: no disk\n', ["ValueError: no disk"]),
        ("Traceback (…):\n  File", ["  File"]),
    ],
)
def test_the_reason(trace: str | None, lines: list[str]) -> None:
    assert reason(trace) == lines


def test_a_real_trace_of_python() -> None:
    assert reason(_python()) == ["RuntimeError: no disk"]
