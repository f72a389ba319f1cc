"""InsertHeader: adds the same header to every record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.api.plugin import CONNECT_VERSION
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import Config, Importance, Type, key, non_null
from penstock.kernel.java.connect_parse import parse_text
from penstock.transforms.headers import appended

if TYPE_CHECKING:
    from penstock.api.envelope import Envelope


class InsertHeaderConfig(Config):
    """Keys of InsertHeader."""

    header: str = key(
        Type.STRING,
        importance=Importance.HIGH,
        valid=non_null,
        doc="The name of the header.",
    )
    value_literal: str = key(
        Type.STRING,
        importance=Importance.HIGH,
        valid=non_null,
        doc="The value of the header. Its type is the one that its text looks like: a number, a"
        " boolean, a date, an array, a map or else a text.",
    )


class InsertHeader(ColumnTransformation):
    """Add a header with a fixed value; headers of that name stay."""

    Config = InsertHeaderConfig
    java_name = "org.apache.kafka.connect.transforms.InsertHeader"
    version = CONNECT_VERSION

    def columns(self, envelope: Envelope) -> Envelope:
        from pyspark.sql import functions as F

        data = parse_text(self.config.value_literal)
        raw = envelope.header_converter.encode_header(data.schema, data.value)
        written = F.lit(None if raw is None else bytearray(raw)).cast("binary")
        no_error = F.lit(None).cast("string")
        column = F.struct(written.alias("data"), no_error.alias("error"))
        return appended(envelope, [(self.config.header, column)])
