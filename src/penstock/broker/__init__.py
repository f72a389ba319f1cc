"""A Kafka cluster for people in a Python shell, and the class behind these functions.

>>> from penstock import broker
>>> broker.show_topics()  # doctest: +SKIP
>>> broker.delete_topic("x")  # doctest: +SKIP
"""

from penstock.broker.broker import Broker
from penstock.broker.groups import Group, GroupPartition, Groups, GroupSummary
from penstock.broker.reset import Change, Goal, Resets
from penstock.broker.topics import Partition, Topic, Topics
from penstock.kafka.clients import GroupMember, TopicSetting

__all__ = [
    "Broker",
    "Change",
    "Goal",
    "Group",
    "GroupMember",
    "GroupPartition",
    "GroupSummary",
    "Groups",
    "Partition",
    "Resets",
    "Topic",
    "TopicSetting",
    "Topics",
]
