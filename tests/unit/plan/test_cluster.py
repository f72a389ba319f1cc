"""What a worker says of a Spark cluster that is not there. No Spark is started here."""

from __future__ import annotations

import socket

import pytest

from penstock.errors import SetupError, SparkAwayError
from penstock.plan.cluster import Cluster
from penstock.plan.session import SparkEngine
from penstock.ports import free_port


def test_a_master_that_can_not_be_reached_is_named_at_once() -> None:
    master = f"spark://127.0.0.1:{free_port('127.0.0.1')}"
    engine = SparkEngine({"spark.master": master})
    assert engine.obstacle is None
    with pytest.raises(SparkAwayError, match=f"no Spark master can be reached at .*{master[8:]}"):
        engine.session()
    assert "start it, or correct spark.master" in str(engine.obstacle)


def test_one_of_several_masters_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        away = free_port("127.0.0.1")
        Cluster({"spark.master": f"spark://127.0.0.1:{away},127.0.0.1:{port}"}).check_master()


@pytest.mark.parametrize("master", ["spark://127.0.0.1:port", "spark://no-such-host.invalid:7077"])
def test_an_address_that_is_none_is_told(master: str) -> None:
    with pytest.raises(SetupError, match="no Spark master can be reached"):
        Cluster({"spark.master": master}).check_master()


@pytest.mark.parametrize("master", ["local[2]", "yarn", "k8s://https://127.0.0.1:1"])
def test_others_find_out_by_themselves(master: str) -> None:
    Cluster({"spark.master": master}).check_master()
