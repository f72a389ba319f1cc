"""Java client properties, translated for the clients that are not Java.

A user writes Kafka's own property names: in the worker's file, under `consumer.` / `producer.` /
`admin.` there, and in a connector's overrides. Three clients read them: librdkafka (sink
consumers, internal topics), kafka-python (administration), and Spark's Java client, which takes
them as they are. A property without a counterpart is never dropped silently: its name is in
`unsupported`, for the caller to log or to reject.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from penstock.kafka.client_keys import LEFT_OUT, ClientKey, Named, Role, keys_of
from penstock.kafka.client_values import OF_TYPE, Translate, boolean, integer, text
from penstock.kafka.security import SASL_KEYS, OAuth, security_of
from penstock.machine.tls import TLS_KEYS, Tls


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Settings of one client library. They contain secrets, so `repr` shows none of them."""

    values: Mapping[str, Any] = field(repr=False)
    #: Set when the connection is encrypted; the files it names are read by `penstock.machine.tls`.
    tls: Tls | None = None
    #: OAuth client credentials, for libraries that need a token function.
    oauth: OAuth | None = None
    unsupported: tuple[str, ...] = ()


Table = Mapping[str, tuple[str, Translate]]


def _entry(key: ClientKey, named: Named, same: str) -> tuple[str, Translate]:
    return named.name or same, named.value or OF_TYPE[key.type]


# ------------------------------------------------------------------------------ librdkafka

#: For users who know librdkafka: settings that Java lacks, or has for consumers only.
_LIBRDKAFKA_OWN: Final[Mapping[str, Translate]] = {
    "broker.address.family": text,
    "client.rack": text,
    "debug": text,
    "socket.keepalive.enable": boolean,
    "statistics.interval.ms": integer,
}
_LIBRDKAFKA_CONSUMER: Final[Mapping[str, Translate]] = {
    "fetch.error.backoff.ms": integer,
    "fetch.queue.backoff.ms": integer,
    "queued.max.messages.kbytes": integer,
    "queued.min.messages": integer,
}

# Java's defaults where librdkafka's differ. Java's partitioner is murmur2.
_LIBRDKAFKA_DEFAULTS: Final[Mapping[Role, Mapping[str, Any]]] = {
    Role.ADMIN: {},
    Role.CONSUMER: {"isolation.level": "read_uncommitted", "allow.auto.create.topics": True},
    Role.PRODUCER: {"partitioner": "murmur2_random"},
}


def _librdkafka_table(role: Role) -> Table:
    own = {**_LIBRDKAFKA_OWN, **(_LIBRDKAFKA_CONSUMER if role is Role.CONSUMER else {})}
    return {name: (name, value) for name, value in own.items()} | {
        key.name: _entry(key, key.librdkafka, key.name)
        for key in keys_of(role)
        if key.librdkafka is not None
    }


_LIBRDKAFKA: Final = {role: _librdkafka_table(role) for role in Role}


def librdkafka_settings(properties: Mapping[str, str], role: Role) -> ClientSettings:
    """For confluent-kafka; add `librdkafka_tls(settings.tls)` when there is one."""
    values, unsupported = _translate(properties, _LIBRDKAFKA[role])
    values = {**_LIBRDKAFKA_DEFAULTS[role], **values}
    if "fetch.max.bytes" in values:
        # librdkafka needs room for a whole response above the fetch size.
        values["receive.message.max.bytes"] = max(100_000_000, values["fetch.max.bytes"] + 1024)
    security = security_of(properties)
    values |= security.librdkafka
    return ClientSettings(values, security.tls, None, unsupported)


# ---------------------------------------------------------------------------- kafka-python

_KAFKA_PYTHON: Final[Table] = {
    key.name: _entry(key, key.kafka_python, key.name.replace(".", "_"))
    for key in keys_of(Role.ADMIN)
    if key.kafka_python is not None
}


def kafka_python_settings(properties: Mapping[str, str]) -> ClientSettings:
    """For kafka-python's admin client.

    Set `ssl_context` from `settings.tls`, a token provider from `settings.oauth`.
    """
    values, unsupported = _translate(properties, _KAFKA_PYTHON)
    # Java's default; with kafka-python's 30 s we would reconnect too late after an outage.
    values = {"reconnect_backoff_max_ms": 1000, **values}
    security = security_of(properties)
    return ClientSettings(values | security.kafka_python, security.tls, security.oauth, unsupported)


# ----------------------------------------------------------------------------------- Spark

#: Spark sets these itself and rejects them as options.
_SPARK_REFUSES: Final = frozenset({
    "auto.offset.reset", "enable.auto.commit", "interceptor.classes", "key.deserializer",
    "key.serializer", "value.deserializer", "value.serializer",
})  # fmt: skip


def spark_settings(properties: Mapping[str, str]) -> ClientSettings:
    """`kafka.*` options of Spark's Kafka source and writer: Java's properties as they are."""
    values = {
        f"kafka.{key}": value for key, value in properties.items() if key not in _SPARK_REFUSES
    }
    refused = tuple(sorted(_SPARK_REFUSES & set(properties) - LEFT_OUT))
    return ClientSettings(values, unsupported=refused)


def _translate(
    properties: Mapping[str, str], table: Table
) -> tuple[dict[str, Any], tuple[str, ...]]:
    values: dict[str, Any] = {}
    unsupported = []
    for key, value in properties.items():
        if key in table:
            name, translate = table[key]
            values[name] = translate(key, value)
        elif key not in LEFT_OUT and key not in SASL_KEYS and key not in TLS_KEYS:
            unsupported.append(key)
    return values, tuple(sorted(unsupported))
