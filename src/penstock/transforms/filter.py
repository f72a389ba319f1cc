"""Filter: drops records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.api.plugin import CONNECT_VERSION
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import Config

if TYPE_CHECKING:
    from penstock.api.envelope import Envelope


class FilterConfig(Config):
    """It has no keys; its predicate chooses the records."""


class Filter(ColumnTransformation):
    """Drop all records; with a predicate, those it holds for."""

    Config = FilterConfig
    java_name = "org.apache.kafka.connect.transforms.Filter"
    version = CONNECT_VERSION

    def columns(self, envelope: Envelope) -> Envelope:
        from pyspark.sql import functions as F

        return envelope.replace(keep=F.lit(False))
