"""The connection of administration: who interrupts a command does not wait for it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from penstock.clock import Deadline
from penstock.errors import SetupError
from penstock.kafka.clients import admin_calls
from penstock.kafka.clients.admin_calls import AdminCalls


class Broker:
    """Answers when it is let to."""

    def __init__(self) -> None:
        self.asked, self.answers, self.closed = (threading.Event() for _ in range(3))

    def connect(self, properties: object, seconds: float) -> Any:
        self.asked.set()
        assert self.answers.wait(10)
        return self

    def close(self) -> None:
        self.closed.set()


def test_closing_does_not_wait_for_a_broker_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker()
    monkeypatch.setattr(admin_calls, "python_admin", broker.connect)
    calls = AdminCalls({"bootstrap.servers": "away:9092"})
    told: list[BaseException] = []

    def ask() -> None:
        with pytest.raises(SetupError, match="closed while it was made") as error:
            calls.do(Deadline.after(20), "asking", lambda client: client)
        told.append(error.value)

    asking = threading.Thread(target=ask)
    asking.start()
    assert broker.asked.wait(10)
    closing = threading.Thread(target=calls.close)
    closing.start()
    closing.join(5)
    assert not closing.is_alive()
    broker.answers.set()
    asking.join(10)
    assert told
    assert broker.closed.is_set(), "a connection that comes too late is not kept"
    assert calls.do(Deadline.after(20), "asking", lambda client: client) is broker
