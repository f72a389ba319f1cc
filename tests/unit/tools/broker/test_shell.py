"""What the functions for a Python shell refuse, with errors of ours."""

from __future__ import annotations

import pytest

from penstock.kernel.errors import BadRequestError
from penstock.tools.broker import shell


@pytest.mark.parametrize("value", [{1, 2}, object(), "\ud800", {"a": {1}}])
def test_what_can_not_be_written(value: object) -> None:
    with pytest.raises(BadRequestError, match="can't be written"):
        shell.produce("t", value, servers="localhost:1")
    with pytest.raises(BadRequestError, match="can't be written"):
        shell.produce("t", "a", key=value, servers="localhost:1")
