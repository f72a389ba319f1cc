"""Rules over several keys of a connector's config; each finding is a key and a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from penstock.api.connector import SourceConnector
from penstock.kernel.config import ConfigValue
from penstock.kernel.config.values import Type, java_text, parse_value
from penstock.kernel.java.regex import regex_error
from penstock.kernel.java.runaway_regex import runaway_error
from penstock.worker.settings import DistributedSettings, WorkerSettings

Finding = tuple[str, str | None]
"""A key with an error, or with None to list the key although nothing defines it."""

_TOPICS, _REGEX = "topics", "topics.regex"
_DLQ: Final = "errors.deadletterqueue.topic.name"
_GROUP: Final = "consumer.override.group.id"
_ONCE: Final = "exactly.once.support"
_BOUNDARY: Final = "transaction.boundary"


def check_sink(
    props: Mapping[str, str | None], values: Mapping[str, ConfigValue], settings: WorkerSettings
) -> Iterator[Finding]:
    """Either `topics` or `topics.regex`, without the dead letter topic; not the worker's group."""
    topics, regex, dlq = (trimmed(props.get(name)) for name in (_TOPICS, _REGEX, _DLQ))
    yield from _one_of_two(topics, regex)
    if dlq and topics:
        yield from _dlq_in_list(dlq, topics)
    if dlq and regex:
        yield from _dlq_matched(dlq, regex)
    if isinstance(settings, DistributedSettings):
        yield from _group(props, values, settings.group_id)


def check_source(
    connector: SourceConnector,
    props: Mapping[str, str],
    values: Mapping[str, ConfigValue],
    settings: WorkerSettings,
) -> Iterator[Finding]:
    """Exactly once and transactions must be possible if the config requires them."""
    if not isinstance(settings, DistributedSettings):
        return
    if str(values[_ONCE].value).lower() == "required":
        yield from _exactly_once(connector, props, settings)
    if str(values[_BOUNDARY].value).lower() == "connector":
        yield (
            _BOUNDARY,
            "The connector does not support connector-defined transaction boundaries with the "
            "given configuration. Please reconfigure it to use a different transaction boundary "
            "definition.",
        )


def trimmed(text: str | None) -> str:
    return (text or "").strip()


def _one_of_two(topics: str, regex: str) -> Iterator[Finding]:
    text = None
    if topics and regex:
        text = f"{_TOPICS} and {_REGEX} are mutually exclusive options, but both are set."
    elif not topics and not regex:
        text = f"Must configure one of {_TOPICS} or {_REGEX}"
    if text:
        yield from ((_TOPICS, text), (_REGEX, text))


def _dlq_in_list(dlq: str, topics: str) -> Iterator[Finding]:
    names = parse_value(_TOPICS, topics, Type.LIST)
    if dlq in names:
        yield (
            _TOPICS,
            f"The DLQ topic '{dlq}' may not be included in the list of topics "
            f"('{_TOPICS}={java_text(names)}') consumed by the connector",
        )


def _dlq_matched(dlq: str, regex: str) -> Iterator[Finding]:
    if regex_error(regex) is None and runaway_error(regex) is None and _matches(regex, dlq):
        yield (
            _REGEX,
            f"The DLQ topic '{dlq}' may not be matched by the regex for the topics "
            f"('{_REGEX}={regex}') consumed by the connector",
        )


def _matches(regex: str, text: str) -> bool:
    try:
        return re.fullmatch(re.sub(r"\(\?<(?=[a-zA-Z])", "(?P<", regex), text) is not None
    except re.error:
        # Python can't parse this Java pattern; the sink itself checks it later.
        return False


def _group(
    props: Mapping[str, str | None], values: Mapping[str, ConfigValue], worker: str
) -> Iterator[Finding]:
    if _GROUP in props:
        group = props[_GROUP]
        same = f"Consumer group {group} conflicts with Connect worker group {worker}"
        yield _GROUP, same if group == worker else None
        return
    name = values["name"].value
    if worker == f"connect-{name}":
        yield (
            "name",
            f"Consumer group for sink connector named {name} conflicts with Connect worker group "
            f"{worker}",
        )


def _exactly_once(
    connector: SourceConnector, props: Mapping[str, str], settings: DistributedSettings
) -> Iterator[Finding]:
    if settings.exactly_once_source_support.lower() != "enabled":
        yield _ONCE, "This worker does not have exactly-once source support enabled."
    supported = connector.exactly_once_supported(props)
    if supported is None:
        yield (
            _ONCE,
            "The connector does not implement the API required for preflight validation of "
            "exactly-once source support. Please consult the documentation for the connector to "
            "determine whether it supports exactly-once semantics, and then consider "
            'reconfiguring the connector to use the value "requested" for this property (which '
            "will disable this preflight check and allow the connector to be created).",
        )
    elif not supported:
        yield (
            _ONCE,
            "The connector does not support exactly-once semantics with the provided "
            "configuration.",
        )
