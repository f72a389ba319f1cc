from __future__ import annotations

import uuid

from penstock.kafka.embedded import new_cluster_id


def test_a_cluster_id_never_begins_with_a_dash() -> None:
    # 0xf8 is where the URL-safe alphabet has its dash.
    made = iter([uuid.UUID(bytes=b"\xf8" + bytes(15)), uuid.UUID(bytes=b"\x01" + bytes(15))])
    assert new_cluster_id(lambda: next(made)) == "AQAAAAAAAAAAAAAAAAAAAA"


def test_cluster_ids_differ() -> None:
    assert new_cluster_id() != new_cluster_id()
    assert len(new_cluster_id()) == 22
