from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.herder.harness import running
from tests.unit.rest.served import Served


@pytest.fixture
def api() -> Iterator[Served]:
    with running() as bench:
        served = Served(bench)
        yield served
        served.close()
