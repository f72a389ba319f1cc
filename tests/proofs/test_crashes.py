"""Processes that die, and brokers that go away, in the middle of large transfers."""

from tests.cluster.test_crashes import (  # noqa: F401
    broker,
    crashing,
    test_the_broker_hangs,
    test_the_broker_is_away,
    test_the_spark_jvm_is_killed,
    test_the_worker_is_asked_to_end,
    test_the_worker_is_killed,
    transfer,
)
