"""The Kafka clients Penstock uses, in its own terms. Nothing else imports a client library."""

from penstock.kafka.clients.admin import Admin, Edge, TopicSpec, TopicView
from penstock.kafka.clients.group_consumer import GroupConsumer, PartitionEvents, RawRecord
from penstock.kafka.clients.records import LogReader, LogRecord, LogWriter, Reading

__all__ = [
    "Admin",
    "Edge",
    "GroupConsumer",
    "LogReader",
    "LogRecord",
    "LogWriter",
    "PartitionEvents",
    "RawRecord",
    "Reading",
    "TopicSpec",
    "TopicView",
]
