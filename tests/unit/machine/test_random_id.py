from __future__ import annotations

import uuid

from penstock.machine.embedded_kafka import random_id


def test_an_id_never_begins_with_a_dash() -> None:
    # 0xf8 is where the URL-safe alphabet has its dash.
    made = iter([uuid.UUID(bytes=b"\xf8" + bytes(15)), uuid.UUID(bytes=b"\x01" + bytes(15))])
    assert random_id(lambda: next(made)) == "AQAAAAAAAAAAAAAAAAAAAA"


def test_ids_differ() -> None:
    assert random_id() != random_id()
    assert len(random_id()) == 22
