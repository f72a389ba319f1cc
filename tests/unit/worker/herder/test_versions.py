"""What a required version allows, in the syntax of Maven's version ranges."""

from __future__ import annotations

import pytest

from penstock.kernel.errors import BadRequestError
from penstock.worker.herder.versions import mismatch, version_range

ALLOWED = [
    (None, "4.1.1"),
    ("latest", "4.1.1"),
    ("4.1.1", "4.1.1"),
    ("4.1", "4.1.0"),
    ("[4.1.1]", "4.1.1"),
    ("[4,5)", "4.1.1"),
    ("[4.1,)", "4.1.1"),
    ("(,4.2]", "4.1.1"),
    ("[4.9,4.10]", "4.10"),
    ("[4.1-rc1,4.1]", "4.1-rc2"),
]
REFUSED = [
    ("4.1", "4.1.1", "[4.1,4.1]"),
    ("", "4.1.1", "[,]"),
    ("(,4.0]", "4.1.1", "(,4.0]"),
    ("(4.1.1,5]", "4.1.1", "(4.1.1,5]"),
    ("[4,4.1.1)", "4.1.1", "[4,4.1.1)"),
    (f"[{'9' * 5000},)", "4.1.1", f"[{'9' * 5000},)"),
]


@pytest.mark.parametrize(("requirement", "version"), ALLOWED)
def test_allowed(requirement: str | None, version: str) -> None:
    assert mismatch("a.B", requirement, [version]) is None


@pytest.mark.parametrize(("requirement", "version", "shown"), REFUSED)
def test_refused(requirement: str, version: str, shown: str) -> None:
    assert mismatch("a.B", requirement, [version]) == (
        f"Plugin a.B not found that matches the version range {shown}, "
        f"available versions: [{version}]"
    )


def test_what_is_no_range() -> None:
    with pytest.raises(BadRequestError, match=r"^Unbounded range: \[$"):
        version_range("[")
