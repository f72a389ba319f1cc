"""Offsets that a client wants a sink to have."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.connectors.file.sink import FileStreamSinkConnector
from penstock.kafka.clients import Admin
from penstock.kernel.errors import BadRequestError
from penstock.testing.waiting import soon
from penstock.worker.interface import PartitionOffset
from penstock.worker.runtime.offset_changes import SinkOffsets


class AskedBrokerError(Exception):
    """The offsets were found good."""


def alter(partition: Any, offset: Any) -> None:
    def make_admin() -> Admin:
        raise AskedBrokerError

    wanted = PartitionOffset(
        {"kafka_topic": "t", "kafka_partition": partition}, {"kafka_offset": offset}
    )
    SinkOffsets({}, "group", make_admin).alter(FileStreamSinkConnector(), [wanted], soon())


@pytest.mark.parametrize("number", [-1, "-1", -(2**63)])
def test_negative_numbers_are_refused_with_the_reason(number: int | str) -> None:
    with pytest.raises(BadRequestError, match=rf"offset value .*'{number}'.* of at least 0\.$"):
        alter(0, number)


def test_a_negative_partition_is_refused() -> None:
    with pytest.raises(BadRequestError, match=r"partition value .*'-1'.* of at least 0\.$"):
        alter(-1, 5)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, "1_000", " 1", "9" * 5000, 1.5, None])
def test_what_is_no_whole_number_of_java_is_refused(number: Any) -> None:
    with pytest.raises(BadRequestError, match=r"Failed to parse .* need to be integers\.$"):
        alter(0, number)


@pytest.mark.parametrize(("partition", "offset"), [(0, 0), ("3", "+7"), (2**31 - 1, 2**63 - 1)])
def test_numbers_and_their_texts_are_taken(partition: Any, offset: Any) -> None:
    with pytest.raises(AskedBrokerError):
        alter(partition, offset)
