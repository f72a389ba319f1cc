"""What doctor finds by asking a real broker."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.cli import doctor
from penstock.cli.doctor import Finding, Verdict
from penstock.kafka.clients import Admin
from penstock.kernel.clock import Deadline
from penstock.machine.free_ports import free_port
from penstock.testing.connect import distributed_properties
from penstock.testing.waiting import patient


def topics_of(kafka: str, name: str, **properties: str) -> Finding:
    listeners = {"listeners": f"http://127.0.0.1:{free_port()}"}
    given = distributed_properties(kafka, name) | listeners
    given |= {key.replace("_", "."): value for key, value in properties.items()}
    found = {each.name: each for each in doctor._worker_findings(given)}
    return found["topics"]


def test_topics_that_can_be_made_are_not_made(kafka: str, unique: Callable[[str], str]) -> None:
    name = unique("fine")
    found = topics_of(kafka, name)
    assert found.verdict is Verdict.OK
    assert found.text.endswith(" can be made")
    with_admin = Admin({"bootstrap.servers": kafka})
    there = with_admin.topic_names(Deadline.after(patient()))
    with_admin.close()
    assert not any(name in topic for topic in there)


@pytest.mark.parametrize("store", ["config", "offset", "status"])
def test_more_replicas_than_brokers_are_wrong(
    kafka: str, unique: Callable[[str], str], store: str
) -> None:
    key = f"{store}_storage_replication_factor"
    found = topics_of(kafka, unique("three"), **{key: "3"})
    assert found.verdict is Verdict.WRONG
    assert f"{store}.storage.replication.factor" in found.text
    assert "can't have more replicas than there are brokers (1)" in found.text
