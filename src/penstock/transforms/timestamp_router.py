"""TimestampRouter: chooses topics by the time of the records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.api.plugin import CONNECT_VERSION
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import Config, Importance, Type, invalid, key, rule
from penstock.kernel.java.date_patterns import pieces_of
from penstock.transforms.date_pattern import PATTERN_DOC, check_letters, java_pattern_error

if TYPE_CHECKING:
    from penstock.api.envelope import Envelope


def _check_pattern(name: str, value: object) -> None:
    wrong = java_pattern_error(str(value))
    if wrong is not None:
        raise invalid(name, value, wrong)
    check_letters(name, str(value))


class TimestampRouterConfig(Config):
    """Keys of TimestampRouter."""

    topic_format: str = key(
        Type.STRING,
        default="${topic}-${timestamp}",
        importance=Importance.HIGH,
        doc="The new name; ${topic} and ${timestamp} stand for the topic and the record's time.",
    )
    timestamp_format: str = key(
        Type.STRING,
        default="yyyyMMdd",
        importance=Importance.HIGH,
        valid=rule(_check_pattern, "pattern of SimpleDateFormat"),
        doc=f"How the time is written. {PATTERN_DOC}",
    )


class TimestampRouter(ColumnTransformation):
    """Send records elsewhere by their timestamp."""

    Config = TimestampRouterConfig
    java_name = "org.apache.kafka.connect.transforms.TimestampRouter"
    version = CONNECT_VERSION

    def columns(self, envelope: Envelope) -> Envelope:
        from pyspark.sql import functions as F

        from penstock.columns.faults import fail
        from penstock.columns.java.date_format import formatted

        # Java shows the whole record here, with its source offset, which no column has.
        missing = F.concat(
            F.lit("Timestamp missing on record: ConnectRecord{topic='"),
            envelope.topic,
            F.lit("', kafkaPartition="),
            F.coalesce(envelope.partition.cast("string"), F.lit("null")),
            F.lit(", timestamp=null}"),
        )
        envelope = fail(envelope, envelope.timestamp.isNull(), missing)
        time = formatted(envelope.timestamp, pieces_of(self.config.timestamp_format))
        # One after the other, as in Java: a topic may itself contain ${timestamp}.
        named = F.replace(F.lit(self.config.topic_format), F.lit("${topic}"), envelope.topic)
        topic = F.replace(named, F.lit("${timestamp}"), time)
        return envelope.replace(topic=F.coalesce(topic, envelope.topic))
