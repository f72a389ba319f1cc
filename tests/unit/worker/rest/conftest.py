from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.worker.herder.harness import running
from tests.unit.worker.rest.served import Served


@pytest.fixture
def api() -> Iterator[Served]:
    with running() as bench:
        served = Served(bench)
        yield served
        served.close()
