"""The predicates of Kafka Connect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.api.plugin import CONNECT_VERSION
from penstock.api.transform import ColumnPredicate
from penstock.columns.java.regex import matches_whole
from penstock.kernel.config import Config, Importance, Type, all_of, java_regex, key, non_empty
from penstock.transforms.requirements import is_null

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.envelope import Envelope


class TopicNameMatchesConfig(Config):
    """Keys of TopicNameMatches."""

    pattern: str = key(
        Type.STRING,
        importance=Importance.MEDIUM,
        valid=all_of(non_empty, java_regex),
        doc="The Java regular expression that the whole name of the topic has to match.",
    )


class TopicNameMatches(ColumnPredicate):
    """Holds for records of topics whose name matches."""

    Config = TopicNameMatchesConfig
    java_name = "org.apache.kafka.connect.transforms.predicates.TopicNameMatches"
    version = CONNECT_VERSION

    def column(self, envelope: Envelope) -> Column:
        from pyspark.sql import functions as F

        return F.coalesce(matches_whole(envelope.topic, self.config.pattern), F.lit(False))


class HasHeaderKeyConfig(Config):
    """Keys of HasHeaderKey."""

    name: str = key(
        Type.STRING,
        importance=Importance.MEDIUM,
        valid=non_empty,
        doc="The name of the header.",
    )


class HasHeaderKey(ColumnPredicate):
    """Holds for records with at least one header of that name."""

    Config = HasHeaderKeyConfig
    java_name = "org.apache.kafka.connect.transforms.predicates.HasHeaderKey"
    version = CONNECT_VERSION

    def column(self, envelope: Envelope) -> Column:
        from pyspark.sql import functions as F

        wanted = self.config.name
        found = F.exists(envelope.headers, lambda header: header.getField("key") == wanted)
        return F.coalesce(found, F.lit(False))


class RecordIsTombstone(ColumnPredicate):
    """Holds for records without a value."""

    java_name = "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone"
    version = CONNECT_VERSION

    def column(self, envelope: Envelope) -> Column:
        return is_null(envelope.value)
