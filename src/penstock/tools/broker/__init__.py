"""A Kafka cluster for people in a Python shell, and the class behind these functions.

>>> from penstock import broker
>>> broker.show_topics()  # doctest: +SKIP
>>> broker.delete_topic("x")  # doctest: +SKIP
"""

from penstock.kafka.clients import GroupMember, NewRecord, RawRecord, TopicSetting, Written
from penstock.tools.broker.broker import Broker
from penstock.tools.broker.goals import (
    Goal,
    by_duration,
    shift_by,
    to_current,
    to_earliest,
    to_last,
    to_latest,
    to_offset,
    to_time,
)
from penstock.tools.broker.groups import Group, GroupPartition, Groups, GroupSummary
from penstock.tools.broker.messages import Messages
from penstock.tools.broker.reset import Change, Resets
from penstock.tools.broker.shell import (
    alter_topic,
    create_topic,
    delete_group,
    delete_topic,
    describe_group,
    describe_topic,
    list_groups,
    list_topics,
    produce,
    read_messages,
    reset_group,
    show_group,
    show_groups,
    show_messages,
    show_topic,
    show_topics,
)
from penstock.tools.broker.topics import Partition, Topic, Topics

__all__ = [
    "Broker",
    "Change",
    "Goal",
    "Group",
    "GroupMember",
    "GroupPartition",
    "GroupSummary",
    "Groups",
    "Messages",
    "NewRecord",
    "Partition",
    "RawRecord",
    "Resets",
    "Topic",
    "TopicSetting",
    "Topics",
    "Written",
    "alter_topic",
    "by_duration",
    "create_topic",
    "delete_group",
    "delete_topic",
    "describe_group",
    "describe_topic",
    "list_groups",
    "list_topics",
    "produce",
    "read_messages",
    "reset_group",
    "shift_by",
    "show_group",
    "show_groups",
    "show_messages",
    "show_topic",
    "show_topics",
    "to_current",
    "to_earliest",
    "to_last",
    "to_latest",
    "to_offset",
    "to_time",
]
