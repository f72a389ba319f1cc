"""DropHeaders: removes headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.api.plugin import CONNECT_VERSION
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import Config, Importance, Type, key, non_empty_list

if TYPE_CHECKING:
    from penstock.api.envelope import Envelope


class DropHeadersConfig(Config):
    """Keys of DropHeaders."""

    headers: list[str] = key(
        Type.LIST,
        importance=Importance.HIGH,
        valid=non_empty_list,
        doc="The names of the headers to leave out.",
    )


class DropHeaders(ColumnTransformation):
    """Remove all headers of these names."""

    Config = DropHeadersConfig
    java_name = "org.apache.kafka.connect.transforms.DropHeaders"
    version = CONNECT_VERSION

    def columns(self, envelope: Envelope) -> Envelope:
        from pyspark.sql import functions as F

        dropped = self.config.headers
        kept = F.filter(envelope.headers, lambda header: ~header.getField("key").isin(dropped))
        return envelope.replace(headers=kept)
