"""RegexRouter: changes the topic of records whose topic matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.api.plugin import CONNECT_VERSION
from penstock.api.transform import ColumnTransformation
from penstock.columns.java.regex import anchored, matches_whole, replacement_error
from penstock.kernel.config import Config, Importance, Type, java_regex, key

if TYPE_CHECKING:
    from penstock.api.envelope import Envelope


class RegexRouterConfig(Config):
    """Keys of RegexRouter."""

    regex: str = key(
        Type.STRING,
        importance=Importance.HIGH,
        valid=java_regex,
        doc="The Java regular expression that the whole name of the topic has to match.",
    )
    replacement: str = key(
        Type.STRING,
        importance=Importance.HIGH,
        doc="The new name; $1, $2 and so on stand for what the groups of the expression matched.",
    )


class RegexRouter(ColumnTransformation):
    """Send records elsewhere by a pattern of their topic's name."""

    Config = RegexRouterConfig
    java_name = "org.apache.kafka.connect.transforms.RegexRouter"
    version = CONNECT_VERSION

    def columns(self, envelope: Envelope) -> Envelope:
        from pyspark.sql import functions as F

        from penstock.columns.faults import fail

        regex, topic = self.config.regex, envelope.topic
        matches = matches_whole(topic, regex)
        wrong = replacement_error(regex, self.config.replacement)
        if wrong is not None:
            return fail(envelope, matches, wrong)
        # If the whole text matches, Java replaces that first match; without anchors, Spark would
        # also replace an empty match at the end.
        renamed = F.regexp_replace(topic, anchored(regex), self.config.replacement)
        return envelope.replace(topic=F.when(matches, renamed).otherwise(topic))
