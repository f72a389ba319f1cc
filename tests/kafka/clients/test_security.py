"""Java's security properties, as a user has them, against a broker that insists on them."""

from __future__ import annotations

import pytest

from penstock.kafka.clients import (
    Admin,
    GroupConsumer,
    LogReader,
    LogWriter,
    RecordTimes,
    TopicSpec,
)
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import PenstockError
from penstock.testing.waiting import soon
from tests.kafka.clients.support import Recorder, take
from tests.secured_broker import LOGINS, Secured, by_password, by_token, logged_in


@pytest.mark.parametrize("login", LOGINS)
def test_every_client_gets_in(secured: Secured, login: str) -> None:
    properties = logged_in(secured, login)
    topic = f"t-{login}"
    admin = Admin(properties)
    admin.create_topic(TopicSpec(topic, 1, 1), soon())
    LogWriter(properties, topic).append([(b"k", b"v")], soon())
    reader = LogReader(properties, topic)
    assert reader.open(soon()) == [0]
    reader.close()
    consumer = GroupConsumer({**properties, "group.id": f"g-{topic}"})
    consumer.subscribe([topic], Recorder())
    assert [record.value for record in take(consumer, 1)] == [b"v"]
    consumer.commit({TopicPartition(topic, 0): 1}, soon())
    (member,) = admin.group_states([f"g-{topic}"], soon())[f"g-{topic}"].members
    assert member.partitions == (TopicPartition(topic, 0),)
    consumer.close(soon())
    times = RecordTimes(properties)
    (first, last) = times.of({TopicPartition(topic, 0): (0, 1)}, soon())[TopicPartition(topic, 0)]
    assert first == last is not None
    times.close()
    admin.close()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_a_wrong_password_is_told_and_not_shown(secured: Secured, mechanism: str) -> None:
    properties = by_password(secured, "wrong-one", mechanism)
    with pytest.raises(PenstockError) as from_admin:
        Admin(properties).cluster_id(Deadline.after(5))
    with pytest.raises(PenstockError) as from_reader:
        LogReader(properties, "t").open(Deadline.after(5))
    assert "wrong-one" not in f"{from_admin.value} {from_reader.value}"
    assert "sasl." in str(from_admin.value)
    assert "Authentication failed" in str(from_reader.value)


def test_a_token_that_is_refused_is_told(secured: Secured) -> None:
    properties = by_token(secured, "wrong-one")
    with pytest.raises(PenstockError) as from_admin:
        Admin(properties).cluster_id(Deadline.after(5))
    with pytest.raises(PenstockError) as from_reader:
        LogReader(properties, "t").open(Deadline.after(5))
    assert "wrong-one" not in f"{from_admin.value} {from_reader.value}"
    assert "no OAuth token from" in f"{from_admin.value} {from_reader.value}"


def test_a_broker_nobody_vouches_for_is_refused(secured: Secured) -> None:
    properties = by_password(secured)
    del properties["ssl.truststore.location"], properties["ssl.truststore.type"]
    with pytest.raises(PenstockError):
        Admin(properties).cluster_id(Deadline.after(3))
    with pytest.raises(PenstockError):
        LogReader(properties, "t").open(Deadline.after(3))
