"""Requests that are generated from what the API tells of itself in /openapi.json.

Every answer is as it is described. Where ours is a 500, Kafka Connect gives one to the same
request: tests/kafka/worker/test_generated_requests.py asks it; here are the requests that it
does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from penstock.kernel.config.providers import Resolver
from penstock.plugins import BUILT_IN, Plugins
from penstock.testing.waiting import patient
from penstock.worker.herder.validation import Validation
from tests.shared.sizes import Size
from tests.unit.worker.herder.harness import SETTINGS, VAULT, Bench, running
from tests.unit.worker.rest.served import Served

#: What Kafka Connect does not have.
OURS_ALONE: Final = ("/penstock/", "/connector-plugins/{plugin}/preview")
#: What they answer with 500, as Kafka Connect does to its own requests: bodies that are not of the
#: right shape, configs without a connector or with an unknown one.
AS_CONNECT: Final = re.compile(
    "The request body is not valid JSON|the request|config|name is |initial_state is |"
    "records must|limit must|Failed to find any class|Connector config .* no connector type",
    re.DOTALL,
)
CHECKS: Final = (content_type_conformance, response_schema_conformance, status_code_conformance)
OPERATIONS: Final = 35


def operations(url: str) -> list[Any]:
    """All that the API at this address tells of itself."""
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    return [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    plugins = Plugins([*BUILT_IN, VAULT])
    validation = Validation(plugins, SETTINGS, Resolver({}))
    with running(Bench(plugins=plugins, validation=validation)) as bench:
        found = Served(bench)
        assert found.create().status_code == 201
        yield found
        found.close()


@pytest.mark.parametrize("number", range(OPERATIONS))
def test_generated_requests_are_answered_as_described(
    served: Served, size: Size, number: int, caplog: pytest.LogCaptureFixture
) -> None:
    url = str(served.http.base_url)
    described = operations(url)
    assert len(described) == OPERATIONS

    @settings(
        max_examples=size.requests,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=described[number].as_strategy(), known=st.booleans())
    def ask(case: Any, known: bool) -> None:
        if known and "connector" in case.path_parameters:
            case.path_parameters["connector"] = "c"
        response = case.call(base_url=url, timeout=patient())
        if response.status_code >= 500 and case.path.startswith(OURS_ALONE):
            assert AS_CONNECT.match(response.json()["message"]), response.json()
        case.validate_response(response, checks=CHECKS, excluded_checks=[not_a_server_error])

    ask()
    # Whatever was raised and is no error of ours is logged as one.
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
