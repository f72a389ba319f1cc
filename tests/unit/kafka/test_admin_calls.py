"""The connection of administration: who interrupts a command does not wait for it."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest

from penstock.kafka.clients import Admin, admin_calls
from penstock.kafka.clients.admin_calls import AdminCalls
from penstock.kernel.clock import Deadline
from penstock.kernel.errors import DeadlineExceededError, RetriableError, SetupError
from penstock.testing.waiting import patient, soon


class Broker:
    """Answers when it is let to."""

    def __init__(self) -> None:
        self.asked, self.answers, self.closed = (threading.Event() for _ in range(3))

    def connect(self, properties: object, seconds: float) -> Any:
        self.asked.set()
        assert self.answers.wait(patient())
        return self

    def close(self) -> None:
        self.closed.set()


def test_closing_does_not_wait_for_a_broker_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker()
    monkeypatch.setattr(admin_calls, "python_admin", broker.connect)
    calls = AdminCalls({"bootstrap.servers": "away:9092"})
    told: list[BaseException] = []

    def ask() -> None:
        with pytest.raises(SetupError, match="closed while it connected") as error:
            calls.do(soon(), "asking", lambda client: client)
        told.append(error.value)

    asking = threading.Thread(target=ask)
    asking.start()
    assert broker.asked.wait(patient())
    closing = threading.Thread(target=calls.close)
    closing.start()
    closing.join(patient())
    assert not closing.is_alive()
    broker.answers.set()
    asking.join(patient())
    assert told
    assert broker.closed.is_set(), "a connection that comes too late is not kept"
    assert calls.do(soon(), "asking", lambda client: client) is broker


def test_a_broker_that_takes_connections_and_hangs_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        where = f"127.0.0.1:{hanging.getsockname()[1]}"
        admin = Admin({"bootstrap.servers": where})
        with pytest.raises(
            (DeadlineExceededError, RetriableError), match=f"^the broker at {where} does not answer"
        ):
            admin.cluster_id(Deadline.after(0.5))
        admin.close()
