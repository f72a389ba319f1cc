"""A lock that one process at a time holds."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from penstock.kernel.errors import SetupError
from penstock.machine.files import ProcessLock


def test_only_one_holds_it_and_the_other_is_told_who(tmp_path: Path) -> None:
    first, second = (ProcessLock(tmp_path / "lock") for _ in range(2))
    first.acquire("the data", "choose other data")
    first.acquire("the data", "choose other data")
    pickle.loads(pickle.dumps(first)).release()  # A copy holds nothing.
    told = f"^the data is in use by process {os.getpid()}; end that .*, or choose other data$"
    with pytest.raises(SetupError, match=told):
        second.acquire("the data", "choose other data")
    first.release()
    second.acquire("the data", "choose other data")
    second.release()
