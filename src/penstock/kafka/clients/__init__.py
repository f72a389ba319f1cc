"""The Kafka clients that Penstock uses. No other package imports a client library.

May import the kernel, TLS of the machine and Kafka's keys; callers see Penstock's types only.
"""

from penstock.kafka.clients.admin import Admin, Edge, TopicSpec, TopicView
from penstock.kafka.clients.admin_groups import GroupEntry, GroupMember, GroupState
from penstock.kafka.clients.admin_topics import PartitionState, TopicSetting, TopicState
from penstock.kafka.clients.compacted_topic import LogReader, LogRecord, LogWriter, Reading
from penstock.kafka.clients.group_consumer import GroupConsumer, PartitionEvents
from penstock.kafka.clients.raw_records import RawRecord
from penstock.kafka.clients.record_times import RecordTimes
from penstock.kafka.clients.topic_records import NewRecord, TopicReader, TopicWriter, Written

__all__ = [
    "Admin",
    "Edge",
    "GroupConsumer",
    "GroupEntry",
    "GroupMember",
    "GroupState",
    "LogReader",
    "LogRecord",
    "LogWriter",
    "NewRecord",
    "PartitionEvents",
    "PartitionState",
    "RawRecord",
    "Reading",
    "RecordTimes",
    "TopicReader",
    "TopicSetting",
    "TopicSpec",
    "TopicState",
    "TopicView",
    "TopicWriter",
    "Written",
]
