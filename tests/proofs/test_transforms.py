"""Every case written by hand and very many generated records, through Kafka's transformations."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.spark.transforms.generated.trials import transforms, trials
from tests.spark.transforms.test_parity import (  # noqa: F401
    interpreted,
    load_cases,
)
from tests.spark.transforms.test_parity import test_predicates as compare_predicate
from tests.spark.transforms.test_parity import test_transformations as compare_transformation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.spark.transforms.generated.parity import Parity
    from tests.spark.transforms.java_side import JavaSide

_RECORDS: Final = 20_000
_SEED: Final = 1
_BATCH: Final = 25


@pytest.mark.parametrize(("document", "case"), load_cases("transformation", step=1))
def test_all_cases(
    spark: SparkSession, java: JavaSide, document: dict[str, Any], case: dict[str, Any]
) -> None:
    compare_transformation(spark, java, document, case)


@pytest.mark.parametrize(("document", "case"), load_cases("predicate", step=1))
def test_all_predicate_cases(
    spark: SparkSession, java: JavaSide, document: dict[str, Any], case: dict[str, Any]
) -> None:
    compare_predicate(spark, java, document, case)


def test_generated_records(parity: Parity) -> None:
    chosen = trials(_SEED, transforms(""))
    while parity.cases.total() < _RECORDS:
        found = list(parity.compare(list(islice(chosen, _BATCH))))
        assert not found, "\n".join(map(str, found[:3]))
