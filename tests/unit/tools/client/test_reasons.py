from __future__ import annotations

import traceback

import pytest

from penstock.tools.client.arrival import Verdict, reason


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
        ("no disk\nWhat to do: x.\n\nTraceback (…):\n  File", ["no disk", "What to do: x."]),
    ],
)
def test_the_reason(trace: str | None, lines: list[str]) -> None:
    assert reason(trace) == lines


def test_a_real_trace_of_python() -> None:
    assert reason(_python()) == ["RuntimeError: no disk"]


def test_a_verdict_tells_no_passwords() -> None:
    trace = "x.SqlError: jdbc:x://u:geheim@h?password=geheim refused it\n\tat a"
    told = "it failed: x.SqlError: jdbc:x://u:[hidden]@h?password=[hidden] refused it"
    assert Verdict("it failed", trace).summary == told
