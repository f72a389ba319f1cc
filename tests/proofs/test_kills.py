"""Kills at random, many of them, under a million rows."""

from tests.cluster.test_jdbc_sink_crashes import test_kills_at_random  # noqa: F401
