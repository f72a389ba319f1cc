"""Tests that take long because they prove something: the same as in the suite, at full size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Final

import pytest

# What these tests ask for stands beside their thin versions.
from tests.cluster.conftest import (  # noqa: F401
    dropped_plugins,
    lone,
    lone_worker,
    mortal,
    mortal_worker,
    shared_worker,
    worker,
)
from tests.shared.sizes import FULL, Size
from tests.spark.transforms.conftest import java, parity  # noqa: F401

#: What each test proves once it has passed; `make proofs` shows it.
PROVED: Final = {
    "test_the_spark_jvm_is_killed": "Spark's JVM is killed under {lines:,} lines: all arrive",
    "test_the_worker_is_killed": "the worker is killed under {lines:,} lines: all arrive",
    "test_the_worker_is_asked_to_end": "it ends under {lines:,} lines: all arrive; at rest, once",
    "test_the_broker_is_away": "no broker for {broker_away_seconds:.0f} s: tasks go on",
    "test_the_broker_hangs": "a broker that hangs for {hang_seconds:.0f} s: tasks go on",
    "test_a_log_whose_broker_goes_away_and_comes_back": (
        "no broker for {client_away_seconds:.0f} s: the internal topics are followed again"
    ),
    "test_a_consumer_whose_broker_goes_away_and_comes_back": (
        "no broker for {client_away_seconds:.0f} s: a consumer reads and commits again"
    ),
    "test_kills_at_random": (
        "{kills} kills at random under {kill_rows:,} rows: exactly once is exactly once"
    ),
    "test_databases_that_are_away": (
        "no databases for {database_away_seconds:.0f} s under {outage_rows:,} rows: all arrive"
    ),
    "test_a_database_that_dies_in_the_middle_of_a_load": (
        "the database dies in a load of {load_rows:,} rows: all arrive"
    ),
    "test_a_worker_that_is_killed_goes_on_within_a_chunk": (
        "killed in a load of {chunk_rows:,} rows: at most 200,000 come again"
    ),
    "test_one_bad_record_for_each_step_among_many": (
        "a bad record for each step among {records:,}: they alone are dead letters"
    ),
    "test_one_refused_record_among_many": (
        "a record of {records:,} that the database refuses: it alone is a dead letter"
    ),
    "test_bad_records_among_good_ones_into_a_file": (
        "{mixtures} mixtures into a file: all good arrive"
    ),
    "test_bad_records_among_good_ones_into_a_table": (
        "{mixtures} mixtures into a table: all good arrive"
    ),
    "test_bad_records_among_good_ones_with_a_registry": (
        "{mixtures} mixtures of each registry converter: all good arrive"
    ),
    "test_a_big_backlog_of_several_topics": "backlogs of {backlog:,} and two thirds: once each",
    "test_a_bad_record_deep_in_a_large_backlog": (
        "a bad record behind nine tenths of {backlog:,}: those before it arrive, then those behind"
    ),
    "test_thirty_idle_connectors_run_no_spark_job": (
        "30 connectors without work for {idle_seconds:.0f} s: no job, next to no processor time"
    ),
    "test_nothing_outlives_a_demo_that_is_killed": "a killed demo leaves no process behind",
    "test_all_cases": "every case written by hand: Kafka's transformations and ours agree",
    "test_all_predicate_cases": "every case written by hand: Kafka's predicates and ours agree",
    "test_generated_requests_are_answered_as_described": (
        "{requests} generated requests of each operation: answered as /openapi.json describes"
    ),
    "test_where_ours_fails_the_real_connect_does": (
        "{requests} generated requests of each operation: ours fails only where Connect does"
    ),
    "test_generated_records": "20,000 generated records: Kafka's transformations and ours agree",
}


@pytest.fixture(scope="session")
def size() -> Size:
    """Everything at full size."""
    return FULL


@pytest.fixture(autouse=True)
def _proves(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> None:
    record_property("proves", PROVED[request.function.__name__].format(**asdict(FULL)))
