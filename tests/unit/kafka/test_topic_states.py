"""What the cluster says of topics."""

from __future__ import annotations

from typing import Any, cast

import kafka.errors
import pytest
from kafka.admin import KafkaAdminClient

from penstock.kafka.clients import Admin
from penstock.kernel.clock import Deadline
from penstock.kernel.errors import BadRequestError, RetriableError, StorageError
from penstock.testing.waiting import soon


class Cluster:
    """Answers with these errors, one after the other, and the last one for ever."""

    def __init__(self, *errors: type[Exception]) -> None:
        self.codes = [cast("Any", error).errno for error in errors]

    def describe_topics(self, names: list[str]) -> list[dict[str, Any]]:
        code = self.codes.pop(0) if len(self.codes) > 1 else self.codes[0]
        return [{"name": name, "error_code": code, "partitions": []} for name in names]


def admin(*errors: type[Exception]) -> Admin:
    found = Admin({"bootstrap.servers": "localhost:1"})
    found._client = cast("KafkaAdminClient", Cluster(*errors))
    return found


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (kafka.errors.InvalidTopicError, BadRequestError),
        (kafka.errors.TopicAuthorizationFailedError, StorageError),
        (kafka.errors.LeaderNotAvailableError, RetriableError),
        (kafka.errors.UnknownError, StorageError),
    ],
)
def test_a_topic_with_an_error_is_not_one_without_partitions(
    error: type[Exception], ours: type[Exception]
) -> None:
    with pytest.raises(ours, match=r"looking at topics, t .*localhost:1"):
        admin(error).topic_states(["t"], Deadline.after(1.3))


def test_what_passes_is_waited_for() -> None:
    passing = admin(kafka.errors.LeaderNotAvailableError, kafka.errors.NoError)
    assert list(passing.topic_states(["t"], soon())) == ["t"]


def test_a_topic_that_is_not_there_is_left_out() -> None:
    missing = admin(kafka.errors.UnknownTopicOrPartitionError)
    assert missing.topic_states(["t"], soon()) == {}
