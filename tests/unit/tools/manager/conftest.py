"""A worker without Spark for tests of what the manager does through REST."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.tools.manager.served import Served, served


@pytest.fixture
def worker() -> Iterator[Served]:
    with served() as found:
        yield found
