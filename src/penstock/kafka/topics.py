"""Creates and checks internal topics; and the rules for topics that source connectors write to."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from penstock.kafka.clients import Admin, TopicSpec, TopicView
from penstock.kafka.topic_patterns import java_pattern
from penstock.kernel.clock import Deadline
from penstock.kernel.config.prefix import under_prefix
from penstock.kernel.config.values import Type, invalid, parse_value
from penstock.kernel.errors import ConfigError, RetriableError, StorageError

log = logging.getLogger(__name__)

_COMPACT: Final = "compact"
_POLICY: Final = "cleanup.policy"

# ----------------------------------------------------------------------------- internal topics


@dataclass(frozen=True, slots=True)
class InternalKind:
    """One of the worker's own topics."""

    name: str
    partitions: int
    content: str

    @property
    def prefix(self) -> str:
        return f"{self.name}.storage."

    @property
    def topic_key(self) -> str:
        return f"{self.prefix}topic"


CONFIGS: Final = InternalKind("config", 1, "connector configurations")
OFFSETS: Final = InternalKind("offset", 25, "source offsets")
STATUSES: Final = InternalKind("status", 5, "connector and task statuses")

_OWN_KEYS: Final = frozenset({"topic", "partitions", "replication.factor", "file.filename"})
_DEFAULT_REPLICATION: Final = 3


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """An internal topic by the worker's properties."""

    kind: InternalKind
    spec: TopicSpec


def internal_topic(worker: Mapping[str, str], kind: InternalKind) -> InternalTopic:
    """The topic's name, partitions, replication and `<kind>.storage.*` topic settings."""
    own = under_prefix(worker, kind.prefix)
    name = own.get("topic", "").strip()
    if not name:
        message = f'Missing required configuration "{kind.topic_key}" which has no default value.'
        raise ConfigError(message, {kind.topic_key: (message,)})
    settings = {key: value for key, value in own.items() if key not in _OWN_KEYS}
    if settings.pop(_POLICY, _COMPACT).strip() != _COMPACT:
        log.warning("%s%s is not used: the topic must be compacted", kind.prefix, _POLICY)
    partitions = _count(own, kind, "partitions", kind.partitions)
    if kind is CONFIGS:
        partitions = 1
    replication = _count(own, kind, "replication.factor", _DEFAULT_REPLICATION)
    spec = TopicSpec(name, partitions, replication, {_POLICY: _COMPACT, **settings})
    return InternalTopic(kind, spec)


def _count(own: Mapping[str, str], kind: InternalKind, key: str, default: int) -> int:
    number = int(parse_value(kind.prefix + key, own.get(key, default), Type.INT))
    if number != -1 and number < 1:
        rule = "Number must be positive, or -1 to use the broker's default"
        raise invalid(kind.prefix + key, own[key], rule)
    return number


def ensure_internal_topic(admin: Admin, topic: InternalTopic, deadline: Deadline) -> TopicView:
    """Create the topic if it is missing, and check its settings.

    Raises:
        ConfigError: the topic can't be used, or not be created by the properties.
    """
    view = admin.topics([topic.spec.name], deadline).get(topic.spec.name)
    if view is None:
        _create(admin, topic, deadline)
        view = admin.topics([topic.spec.name], deadline)[topic.spec.name]
    _check_partitions(topic, view)
    _check_policy(admin, topic, deadline)
    return view


def check_internal_topic(admin: Admin, topic: InternalTopic, deadline: Deadline) -> bool:
    """Check the topic's settings or, without creating it, that it could be created. Returns
    whether it exists.

    Raises:
        ConfigError: the topic can't be used, or not be created by the properties.
    """
    view = admin.topics([topic.spec.name], deadline).get(topic.spec.name)
    if view is None:
        _create(admin, topic, deadline, only_check=True)
        return False
    _check_partitions(topic, view)
    _check_policy(admin, topic, deadline)
    return True


def _create(
    admin: Admin, topic: InternalTopic, deadline: Deadline, *, only_check: bool = False
) -> None:
    spec = topic.spec
    try:
        created = admin.create_topic(spec, deadline, only_check=only_check)
    except RetriableError:
        raise
    except StorageError as error:
        brokers = admin.broker_count(deadline)
        if spec.replication_factor > brokers:
            key = f"{topic.kind.prefix}replication.factor"
            raise invalid(
                key,
                spec.replication_factor,
                f"topic {spec.name} can't have more replicas than there are brokers ({brokers}); "
                "set a smaller number, or -1 for the broker's default",
            ) from error
        raise StorageError(
            f"can't create topic {spec.name} for {topic.kind.content}: {error}. Create it by hand "
            f"({spec.partitions} partitions, {_POLICY}={_COMPACT}), or allow this worker to"
        ) from error
    if created and not only_check:
        log.info("Created topic %s for %s", spec.name, topic.kind.content)


def _check_partitions(topic: InternalTopic, view: TopicView) -> None:
    if topic.kind is CONFIGS and view.partitions != 1:
        raise invalid(
            topic.kind.topic_key,
            topic.spec.name,
            f"the topic for {topic.kind.content} must have a single partition, for their order, "
            f"but has {view.partitions}; name another topic, or delete this one to have it made",
        )


def _check_policy(admin: Admin, topic: InternalTopic, deadline: Deadline) -> None:
    name = topic.spec.name
    try:
        settings = admin.topic_settings(name, deadline)
    except StorageError as error:
        # A client may lack the right to read settings; Connect goes on then, too.
        log.warning("Can't check %s of topic %s: %s", _POLICY, name, error)
        return
    policy = settings.get(_POLICY, _COMPACT)
    if {part.strip() for part in policy.split(",")} != {_COMPACT}:
        raise invalid(
            topic.kind.topic_key,
            name,
            f"the topic must have {_POLICY}={_COMPACT} but has {_POLICY}={policy}, which would "
            f"lose {topic.kind.content} in time; change the topic's setting, or name another topic",
        )


# ------------------------------------------------------------------------------- target topics

_CREATION: Final = "topic.creation."
_DEFAULT_GROUP: Final = "default"
_GROUP_KEYS: Final = frozenset({"include", "exclude", "partitions", "replication.factor"})


@dataclass(frozen=True, slots=True)
class TopicGroup:
    """Topics that are created with the same settings."""

    name: str
    partitions: int
    replication_factor: int
    include: tuple[re.Pattern[str], ...]
    exclude: tuple[re.Pattern[str], ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    def matches(self, topic: str) -> bool:
        if any(pattern.fullmatch(topic) for pattern in self.exclude):
            return False
        return any(pattern.fullmatch(topic) for pattern in self.include)


@dataclass(frozen=True, slots=True)
class TopicRules:
    """The groups of a source connector in order; the last, default one matches all topics."""

    groups: tuple[TopicGroup, ...]

    def spec_for(self, topic: str) -> TopicSpec:
        """How to create the topic: by the first group that matches."""
        group = next(group for group in self.groups if group.matches(topic))
        return TopicSpec(topic, group.partitions, group.replication_factor, group.settings)


def topic_rules(connector: Mapping[str, str]) -> TopicRules | None:
    """The rules in a connector's configuration; None if it leaves topics to the broker."""
    if not any(key.startswith(_CREATION) for key in connector):
        return None
    listed = parse_value(
        "topic.creation.groups", connector.get("topic.creation.groups", ""), Type.LIST
    )
    names = [name for name in dict.fromkeys(listed) if name and name != _DEFAULT_GROUP]
    default = _default_group(connector)
    return TopicRules((*(_group(connector, name, default) for name in names), default))


def _default_group(connector: Mapping[str, str]) -> TopicGroup:
    return TopicGroup(
        _DEFAULT_GROUP,
        _required_count(connector, "partitions"),
        _required_count(connector, "replication.factor"),
        include=(re.compile(".*", re.DOTALL),),
        settings=_settings(connector, _DEFAULT_GROUP),
    )


def _required_count(connector: Mapping[str, str], key: str) -> int:
    name = f"{_CREATION}{_DEFAULT_GROUP}.{key}"
    if name not in connector:
        message = f'Missing required configuration "{name}" which has no default value.'
        raise ConfigError(message, {name: (message,)})
    return _positive(name, connector[name])


def _group(connector: Mapping[str, str], name: str, default: TopicGroup) -> TopicGroup:
    prefix = f"{_CREATION}{name}."
    include = _patterns(connector, f"{prefix}include")
    if not include:
        message = f'Missing required configuration "{prefix}include" which has no default value.'
        raise ConfigError(message, {f"{prefix}include": (message,)})
    return TopicGroup(
        name,
        _positive(f"{prefix}partitions", connector.get(f"{prefix}partitions", default.partitions)),
        _positive(
            f"{prefix}replication.factor",
            connector.get(f"{prefix}replication.factor", default.replication_factor),
        ),
        include,
        _patterns(connector, f"{prefix}exclude"),
        _settings(connector, name),
    )


def _patterns(connector: Mapping[str, str], key: str) -> tuple[re.Pattern[str], ...]:
    texts = parse_value(key, connector.get(key, ""), Type.LIST)
    return tuple(java_pattern(text, key) for text in texts if text)


def _settings(connector: Mapping[str, str], group: str) -> dict[str, str]:
    own = under_prefix(connector, f"{_CREATION}{group}.")
    return {key: value for key, value in own.items() if key not in _GROUP_KEYS}


def _positive(key: str, value: object) -> int:
    number = int(parse_value(key, value, Type.INT))
    if number != -1 and number < 1:
        raise invalid(key, value, "Value must be positive, or -1 to use the broker's default")
    return number


class TopicCreator:
    """Creates target topics by a connector's rules; checks each topic once. For one task."""

    def __init__(self, admin: Admin, rules: TopicRules) -> None:
        self._admin = admin
        self._rules = rules
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def ensure(self, topics: set[str], deadline: Deadline) -> None:
        """Create the topics that do not exist."""
        with self._lock:
            missing = topics - self._known
        if not missing:
            return
        existing = self._admin.topics(missing, deadline)
        for name in sorted(missing - set(existing)):
            spec = self._rules.spec_for(name)
            self._admin.create_topic(spec, deadline)
            log.info("Created topic %s", name)
        with self._lock:
            self._known |= missing
