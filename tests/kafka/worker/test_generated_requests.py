"""Requests that are generated from what our API tells of itself, sent to the real Connect too.

Where ours answers with 500, though the request is at fault, Kafka Connect does so as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.client import Client
from penstock.testing.oracle import JavaConnect
from penstock.testing.waiting import patient
from tests.shared.sizes import Size
from tests.unit.worker.herder.harness import SOURCE, running, validating_bench
from tests.unit.worker.rest.served import Served
from tests.unit.worker.rest.test_generated import OURS_ALONE, operations

#: What Connect's web server refuses in a path by itself; these are among the differences.
REFUSED: Final = re.compile("%(?:25|2F|5C|7F|[01][0-9A-F])", re.IGNORECASE)
#: A run compares at least so many; less were a sign that nothing is generated any more.
LEAST: Final = 20


@pytest.fixture
def ours() -> Iterator[Served]:
    with running(validating_bench()) as bench:
        found = Served(bench)
        yield found
        found.close()


@pytest.fixture
def theirs(oracle_connect: JavaConnect, unique: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """The address of the real Connect, and a connector that it has."""
    name = unique("generated")
    with Client(oracle_connect.url) as client:
        client.create(name, SOURCE | {"file": "/nowhere/at/all"})
        yield client.url, name
        client.delete(name)


def test_where_ours_fails_the_real_connect_does(
    ours: Served, theirs: tuple[str, str], size: Size
) -> None:
    url, (their_url, their_name) = str(ours.http.base_url), theirs
    differences: list[str] = []
    compared = 0
    for operation in operations(url):
        if operation.path.startswith(OURS_ALONE) or operation.path == "/health":
            continue
        ours.create()  # an operation may have deleted it

        @settings(
            max_examples=size.requests,
            derandomize=True,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(), known=st.booleans())
        def ask(case: Any, known: bool) -> None:
            nonlocal compared
            known = known and "connector" in case.path_parameters
            if known:
                case.path_parameters["connector"] = "c"
            answer = case.call(base_url=url, timeout=patient())
            if answer.status_code < 500 or REFUSED.search(case.formatted_path):
                return
            if known:
                case.path_parameters["connector"] = their_name
            other = case.call(base_url=their_url, timeout=patient())
            compared += 1
            if other.status_code != answer.status_code:
                differences.append(
                    f"{case.method} {case.formatted_path} {case.body!r}: {other.status_code}"
                    f" {other.text}; ours: {answer.text}"
                )

        ask()
    assert differences == []
    assert compared >= LEAST
