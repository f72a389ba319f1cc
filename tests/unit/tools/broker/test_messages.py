"""What is read of topics that nothing can be read of."""

from __future__ import annotations

from typing import cast

import pytest

from penstock.kafka.clients import Admin, TopicState
from penstock.kernel.clock import Deadline
from penstock.kernel.errors import DeadlineExceededError
from penstock.tools.broker.messages import Messages

NOBODY = {"bootstrap.servers": "localhost:1"}


class EmptyAdmin:
    """Knows a topic that has no partitions."""

    def topic_states(self, names: list[str], deadline: Deadline) -> dict[str, TopicState]:
        return {name: TopicState(name, False, ()) for name in names}

    def offsets(self, *_: object) -> dict[object, int]:
        return {}


def test_a_topic_without_partitions_ends_at_once() -> None:
    messages = Messages(cast("Admin", EmptyAdmin()), NOBODY, seconds=1)
    assert list(messages.read("t")) == []


def test_a_member_of_a_topic_without_partitions_does_not_wait_for_ever() -> None:
    messages = Messages(cast("Admin", EmptyAdmin()), NOBODY, seconds=1)
    with pytest.raises(DeadlineExceededError, match="joining group g"):
        list(messages.read_as("g", "t"))
