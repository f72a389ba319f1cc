"""Targets for sinks: a fresh database of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.testing.databases import FreshDatabase
from tests.spark.connectors.jdbc.sinks import KINDS, Sinks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(params=KINDS)
def sinks(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Iterator[Sinks]:
    """`mysql` is MariaDB through MySQL's driver."""
    made = Sinks(spark, _settings(request, tmp_path))
    yield made
    made.close()


def _settings(request: pytest.FixtureRequest, tmp_path: Path) -> ConnectionSettings:
    if request.param == "sqlite":
        return ConnectionSettings(f"jdbc:sqlite:{tmp_path / 'target.db'}")
    kind = "postgresql" if request.param == "postgresql" else "mariadb"
    fresh: FreshDatabase = request.getfixturevalue(kind)
    url = fresh.url.replace("jdbc:mariadb", f"jdbc:{request.param}")
    return ConnectionSettings(url, fresh.server.user)
