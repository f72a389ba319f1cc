"""Good, bad and arbitrary records in any order: each bad one costs itself alone."""

from tests.spark.worker.runtime.sink.test_poison_records import (  # noqa: F401
    few_are_fewer,
    test_bad_records_among_good_ones_into_a_file,
    test_bad_records_among_good_ones_into_a_table,
    test_bad_records_among_good_ones_with_a_registry,
)
