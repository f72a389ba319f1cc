"""The keys of the framework, which every connector has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from penstock.kernel.config import (
    Config,
    ConfigDef,
    ConfigKey,
    Importance,
    Type,
    Validator,
    Width,
    at_least,
    java_regex,
    key,
    no_control_characters,
    no_duplicates,
    non_empty,
    one_of,
    one_of_ignoring_case,
    optional,
)
from penstock.kernel.retries import DEFAULT_LONGEST_DELAY_MS, DEFAULT_TIMEOUT_MS

COMMON: Final = "Common"
_TRANSFORMS, _PREDICATES, _ERRORS = "Transforms", "Predicates", "Error Handling"
_HIGH, _MEDIUM, _LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW


@dataclass(frozen=True, slots=True)
class Choices:
    """Suggests fixed values for a key; with `of`, shows the key only when that one has a value."""

    values: Sequence[str]
    of: str | None = None

    def valid_values(self, name: str, parsed: Mapping[str, Any]) -> list[Any]:
        del name
        return list(self.values) if self._wanted(parsed) else []

    def visible(self, name: str, parsed: Mapping[str, Any]) -> bool:
        del name
        return self._wanted(parsed)

    def _wanted(self, parsed: Mapping[str, Any]) -> bool:
        return self.of is None or parsed.get(self.of) is not None


@dataclass(frozen=True, slots=True)
class ConverterChoice:
    """Default and choices for one of the three converter keys."""

    default: str | None = None
    version: str | None = None
    names: Sequence[str] = ()
    versions: Sequence[str] = ()
    valid: Validator | None = None


CONVERTER_KEYS: Final = ("key.converter", "value.converter", "header.converter")


def common_keys(
    version: str | None, converters: Mapping[str, ConverterChoice] | None = None
) -> ConfigDef:
    """The keys of both sources and sinks."""
    found = converters or {}
    head = [_NAME, _CLASS, _connector_version(version), *TaskKeys.definition()]
    for place, name in enumerate(CONVERTER_KEYS):
        head += _converter(name, found.get(name, ConverterChoice()), order=6 + 2 * place)
    return ConfigDef.of([*head, *CommonKeys.definition()])


_NAME: Final = ConfigKey(
    name="name",
    type=Type.STRING,
    validator=no_control_characters,
    importance=_HIGH,
    documentation="The connector's name; no other connector of the cluster may have it.",
    group=COMMON,
    order=1,
    width=Width.MEDIUM,
    display_name="Connector name",
)
_CLASS: Final = ConfigKey(
    name="connector.class",
    type=Type.STRING,
    importance=_HIGH,
    documentation="The connector's class: its full name, its simple name, or that without the "
    "ending Connector, as in FileStreamSource.",
    group=COMMON,
    order=2,
    width=Width.LONG,
    display_name="Connector class",
)


def _connector_version(version: str | None) -> ConfigKey:
    return ConfigKey(
        name="connector.plugin.version",
        type=Type.STRING,
        default=version,
        importance=_MEDIUM,
        documentation="The connector's version: one, a range such as [4.0,5.0), or latest.",
        group=COMMON,
        order=3,
        width=Width.MEDIUM,
        display_name="Connector version",
        recommender=Choices([version] if version else []),
    )


class TaskKeys(Config):
    """How many tasks a connector may have."""

    tasks_max: int = key(
        Type.INT,
        default=1,
        valid=at_least(1),
        importance=_HIGH,
        doc="The most tasks that the connector's work is split into.",
        group=COMMON,
        order=4,
        width=Width.SHORT,
        display="Tasks max",
    )
    tasks_max_enforce: bool = key(
        Type.BOOLEAN,
        default=True,
        importance=_LOW,
        doc="Whether a connector that makes more tasks than tasks.max fails.",
        group=COMMON,
        order=5,
        width=Width.SHORT,
        display="Enforce tasks max",
    )


def _converter(name: str, choice: ConverterChoice, order: int) -> list[ConfigKey]:
    part = name.partition(".")[0]
    return [
        ConfigKey(
            name=name,
            type=Type.CLASS,
            default=choice.default,
            validator=choice.valid,
            importance=_LOW,
            documentation=f"Converter of the record's {part}; its own keys follow {name}.",
            group=COMMON,
            order=order,
            width=Width.SHORT,
            display_name=f"{part.capitalize()} converter class",
            recommender=Choices(choice.names),
        ),
        ConfigKey(
            name=f"{name}.plugin.version",
            type=Type.STRING,
            default=choice.version,
            importance=_LOW,
            documentation=f"Version of the {part} converter: one, a range, or latest.",
            group=COMMON,
            order=order + 1,
            width=Width.SHORT,
            display_name=f"{part.capitalize()} converter version",
            recommender=Choices(choice.versions, of=name),
        ),
    ]


class CommonKeys(Config):
    """Keys of both sources and sinks: the chain, and the handling of bad records."""

    transforms: list[str] = key(
        Type.LIST,
        default=[],
        valid=no_duplicates,
        importance=_LOW,
        doc="Aliases of the transformations each record goes through, in this order.",
        group=_TRANSFORMS,
        order=12,
        width=Width.LONG,
        display="Transforms",
    )
    predicates: list[str] = key(
        Type.LIST,
        default=[],
        valid=no_duplicates,
        importance=_LOW,
        doc="Aliases of the predicates that transformations refer to.",
        group=_PREDICATES,
        order=13,
        width=Width.LONG,
        display="Predicates",
    )
    config_action_reload: str = key(
        Type.STRING,
        default="restart",
        valid=one_of("none", "restart"),
        importance=_LOW,
        doc="What to do when a value behind a config provider changes: restart the connector, or "
        "nothing.",
        group=COMMON,
        order=14,
        width=Width.MEDIUM,
        display="Reload Action",
    )
    errors_retry_timeout: int = key(
        Type.LONG,
        default=DEFAULT_TIMEOUT_MS,
        importance=_MEDIUM,
        doc="How many milliseconds a failed step is repeated; 0: not at all, -1: without end.",
        group=_ERRORS,
        width=Width.MEDIUM,
        display="Retry Timeout for Errors",
    )
    errors_retry_delay_max_ms: int = key(
        Type.LONG,
        default=DEFAULT_LONGEST_DELAY_MS,
        importance=_MEDIUM,
        doc="The longest wait between two attempts.",
        group=_ERRORS,
        width=Width.MEDIUM,
        display="Maximum Delay Between Retries for Errors",
    )
    errors_tolerance: str = key(
        Type.STRING,
        default="none",
        valid=one_of("none", "all"),
        importance=_MEDIUM,
        doc="none: a record that can't be processed fails the task. all: it is skipped.",
        group=_ERRORS,
        width=Width.SHORT,
        display="Error Tolerance",
    )
    errors_log_enable: bool = key(
        Type.BOOLEAN,
        default=False,
        importance=_MEDIUM,
        doc="Whether each failed step is written to the log, tolerated ones too.",
        group=_ERRORS,
        width=Width.SHORT,
        display="Log Errors",
    )
    errors_log_include_messages: bool = key(
        Type.BOOLEAN,
        default=False,
        importance=_MEDIUM,
        doc="Whether the log also shows the record; its data may not be meant for a log.",
        group=_ERRORS,
        width=Width.SHORT,
        display="Log Error Details",
    )


class SinkKeys(Config):
    """Keys of sinks only: their topics."""

    topics: list[str] = key(
        Type.LIST,
        default=[],
        importance=_HIGH,
        doc="The topics to read. Either this or topics.regex.",
        group=COMMON,
        order=4,
        width=Width.LONG,
        display="Topics",
    )
    topics_regex: str = key(
        Type.STRING,
        default="",
        valid=java_regex,
        importance=_HIGH,
        doc="Read every topic whose whole name matches this expression. Either this or topics.",
        group=COMMON,
        order=4,
        width=Width.LONG,
        display="Topics regex",
    )


class DeadLetterKeys(Config):
    """Where bad records go. Connect's sources lack these keys; ours have them if one is set."""

    dlq_topic: str = key(
        Type.STRING,
        name="errors.deadletterqueue.topic.name",
        default="",
        importance=_MEDIUM,
        doc="Topic for records that could not be processed; empty: they are not stored.",
        group=_ERRORS,
        order=6,
        width=Width.MEDIUM,
        display="Dead Letter Queue Topic Name",
    )
    dlq_replication_factor: int = key(
        Type.SHORT,
        name="errors.deadletterqueue.topic.replication.factor",
        default=3,
        importance=_MEDIUM,
        doc="Replicas of that topic if the connector creates it.",
        group=_ERRORS,
        order=7,
        width=Width.MEDIUM,
        display="Dead Letter Queue Topic Replication Factor",
    )
    dlq_headers: bool = key(
        Type.BOOLEAN,
        name="errors.deadletterqueue.context.headers.enable",
        default=False,
        importance=_MEDIUM,
        doc="Whether records get headers that begin with __connect.errors. and name the error.",
        group=_ERRORS,
        order=8,
        width=Width.MEDIUM,
        display="Enable Error Context Headers",
    )


class SourceKeys(Config):
    """Keys of sources only: creation of topics, exactly once."""

    topic_creation_groups: list[str] = key(
        Type.LIST,
        default=[],
        valid=no_duplicates,
        importance=_LOW,
        doc="Names of groups of topics; topic.creation.<group>. keys say how theirs are created.",
        group="Topic Creation",
        width=Width.LONG,
        display="Topic Creation Groups",
    )
    exactly_once_support: str = key(
        Type.STRING,
        default="requested",
        valid=one_of_ignoring_case("REQUIRED", "REQUESTED"),
        importance=_MEDIUM,
        doc="required: refuse the connector unless it can deliver each record exactly once.",
        group="Exactly Once Support",
        order=2,
        width=Width.SHORT,
        display="Exactly once support",
    )
    transaction_boundary: str = key(
        Type.STRING,
        default="poll",
        valid=one_of_ignoring_case("INTERVAL", "POLL", "CONNECTOR"),
        importance=_MEDIUM,
        doc="Where transactions end: after each batch (poll), after a time (interval), or where "
        "the connector says.",
        group="Exactly Once Support",
        order=3,
        width=Width.SHORT,
        display="Transaction Boundary",
    )
    transaction_boundary_interval_ms: int | None = key(
        Type.LONG,
        default=None,
        valid=optional(at_least(0)),
        importance=_LOW,
        doc="The time for the boundary interval; not set: the worker's offset.flush.interval.ms.",
        group="Exactly Once Support",
        order=4,
        width=Width.SHORT,
        display="Transaction boundary interval",
    )
    offsets_storage_topic: str | None = key(
        Type.STRING,
        default=None,
        valid=non_empty,
        importance=_LOW,
        doc="A topic of its own for this connector's offsets; not set: the worker's.",
        group="offsets.topic",
        width=Width.LONG,
        display="Offsets topic",
    )


SINK_KEYS: Final = SinkKeys.definition() + DeadLetterKeys.definition()
SOURCE_KEYS: Final = SourceKeys.definition()


def source_keys(props: Mapping[str, str | None]) -> ConfigDef:
    """The keys of a source with this config."""
    letters = DeadLetterKeys.definition()
    return SOURCE_KEYS + letters if props.keys() & letters.keys.keys() else SOURCE_KEYS
