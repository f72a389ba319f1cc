"""Java client properties, translated for the clients that are not Java.

A user writes Kafka's own property names: in the worker's file, under `consumer.` / `producer.` /
`admin.` there, and in a connector's overrides. Three clients read them: librdkafka (sink
consumers, internal topics), kafka-python (administration), and Spark's Java client, which takes
them as they are. A property without a counterpart is never dropped in silence: its name is in
`unsupported`, for the caller to warn about or to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from penstock.config.values import Type, invalid, parse_value
from penstock.kafka.security import SASL_KEYS, OAuth, security_of
from penstock.tls import TLS_KEYS, Tls


class Role(StrEnum):
    """What a client does; the value is the prefix of its properties in the worker's file."""

    ADMIN = "admin"
    CONSUMER = "consumer"
    PRODUCER = "producer"


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Settings of one client library. They hold secrets, so `repr` shows none of them."""

    values: Mapping[str, Any] = field(repr=False)
    #: Set when the connection is encrypted; the files it names are read by `penstock.tls`.
    tls: Tls | None = None
    #: OAuth client credentials, for libraries that want a token function.
    oauth: OAuth | None = None
    unsupported: tuple[str, ...] = ()


Translate = Callable[[str, str], Any]
Table = Mapping[str, tuple[str, Translate]]


#: Java classes that have no meaning outside Java, and keys the framework itself sets.
_IGNORED: Final = frozenset({
    "key.serializer", "value.serializer", "key.deserializer", "value.deserializer",
    "enable.auto.commit", "auto.commit.interval.ms", "default.api.timeout.ms",
    "max.poll.records", "max.block.ms",
})  # fmt: skip


# --------------------------------------------------------------------------- how values change


def _text(_: str, value: str) -> str:
    return str(value).strip()


def _int(name: str, value: str) -> int:
    return int(parse_value(name, value, Type.INT))


def _long(name: str, value: str) -> int:
    return int(parse_value(name, value, Type.LONG))


def _boolean(name: str, value: str) -> bool:
    return bool(parse_value(name, value, Type.BOOLEAN))


def _buffer(name: str, value: str) -> int:
    """Java's -1, the system's own buffer size, is 0 in librdkafka."""
    return max(0, _int(name, value))


def _optional_buffer(name: str, value: str) -> int | None:
    size = _int(name, value)
    return None if size < 0 else size


def _kilobytes(name: str, value: str) -> int:
    return max(1, _long(name, value) // 1024)


def _choice(**words: Any) -> Translate:
    def translate(name: str, value: str) -> Any:
        word = str(value).strip().lower()
        if word not in words:
            raise invalid(name, value, f"String must be one of: {', '.join(words)}")
        return words[word]

    return translate


def _acks(name: str, value: str) -> str | int:
    word = str(value).strip().lower()
    if word not in ("all", "-1", "0", "1"):
        raise invalid(name, value, "String must be one of: all, -1, 0, 1")
    return "all" if word in ("all", "-1") else int(word)


_ASSIGNORS: Final = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "CooperativeStickyAssignor": "cooperative-sticky",
}


def _assignors(name: str, value: str) -> str:
    """Java class names, or librdkafka's names. Java's default pair behaves as its first, range."""
    names = [entry.strip().rpartition(".")[2] for entry in value.split(",") if entry.strip()]
    known = [_ASSIGNORS.get(entry, entry) for entry in names]
    wrong = [entry for entry in known if entry not in _ASSIGNORS.values()]
    if wrong:
        raise invalid(
            name, value, f"{', '.join(wrong)} exists only in Java; use one of {list(_ASSIGNORS)}"
        )
    # librdkafka refuses to mix eager and cooperative ones; Java runs such a mix eagerly.
    eager = [entry for entry in known if entry != "cooperative-sticky"]
    return ",".join(eager or known)


# ------------------------------------------------------------------------------ librdkafka

_LIBRDKAFKA_COMMON: Final[Table] = {
    "bootstrap.servers": ("bootstrap.servers", _text),
    "client.dns.lookup": ("client.dns.lookup", _text),
    "client.id": ("client.id", _text),
    "client.rack": ("client.rack", _text),
    "connections.max.idle.ms": ("connections.max.idle.ms", _buffer),
    "metadata.max.age.ms": ("metadata.max.age.ms", _int),
    "metadata.recovery.strategy": ("metadata.recovery.strategy", _text),
    "receive.buffer.bytes": ("socket.receive.buffer.bytes", _buffer),
    "reconnect.backoff.max.ms": ("reconnect.backoff.max.ms", _int),
    "reconnect.backoff.ms": ("reconnect.backoff.ms", _int),
    "request.timeout.ms": ("socket.timeout.ms", _int),
    "retry.backoff.max.ms": ("retry.backoff.max.ms", _int),
    "retry.backoff.ms": ("retry.backoff.ms", _int),
    "send.buffer.bytes": ("socket.send.buffer.bytes", _buffer),
    "socket.connection.setup.timeout.ms": ("socket.connection.setup.timeout.ms", _int),
    # Settings only librdkafka has, for those who know it.
    "broker.address.family": ("broker.address.family", _text),
    "debug": ("debug", _text),
    "socket.keepalive.enable": ("socket.keepalive.enable", _boolean),
    "statistics.interval.ms": ("statistics.interval.ms", _int),
}

_LIBRDKAFKA_CONSUMER: Final[Table] = {
    "allow.auto.create.topics": ("allow.auto.create.topics", _boolean),
    "auto.offset.reset": (
        "auto.offset.reset", _choice(earliest="earliest", latest="latest", none="error")
    ),
    "check.crcs": ("check.crcs", _boolean),
    "fetch.max.bytes": ("fetch.max.bytes", _int),
    "fetch.max.wait.ms": ("fetch.wait.max.ms", _int),
    "fetch.min.bytes": ("fetch.min.bytes", _int),
    "group.id": ("group.id", _text),
    "group.instance.id": ("group.instance.id", _text),
    "group.protocol": ("group.protocol", _choice(classic="classic", consumer="consumer")),
    "group.remote.assignor": ("group.remote.assignor", _text),
    "heartbeat.interval.ms": ("heartbeat.interval.ms", _int),
    "isolation.level": ("isolation.level", _choice(
        read_committed="read_committed", read_uncommitted="read_uncommitted"
    )),
    "max.partition.fetch.bytes": ("max.partition.fetch.bytes", _int),
    "max.poll.interval.ms": ("max.poll.interval.ms", _int),
    "partition.assignment.strategy": ("partition.assignment.strategy", _assignors),
    "session.timeout.ms": ("session.timeout.ms", _int),
    "fetch.error.backoff.ms": ("fetch.error.backoff.ms", _int),
    "fetch.queue.backoff.ms": ("fetch.queue.backoff.ms", _int),
    "queued.max.messages.kbytes": ("queued.max.messages.kbytes", _int),
    "queued.min.messages": ("queued.min.messages", _int),
}  # fmt: skip

_LIBRDKAFKA_PRODUCER: Final[Table] = {
    "acks": ("acks", lambda name, value: str(_acks(name, value))),
    "batch.size": ("batch.size", _int),
    "buffer.memory": ("queue.buffering.max.kbytes", _kilobytes),
    "compression.type": ("compression.type", _text),
    "delivery.timeout.ms": ("delivery.timeout.ms", _int),
    "enable.idempotence": ("enable.idempotence", _boolean),
    "linger.ms": ("linger.ms", _int),
    "max.in.flight.requests.per.connection": ("max.in.flight.requests.per.connection", _int),
    "max.request.size": ("message.max.bytes", _int),
    "request.timeout.ms": ("request.timeout.ms", _int),
    "retries": ("retries", _int),
    "transaction.timeout.ms": ("transaction.timeout.ms", _int),
    "transactional.id": ("transactional.id", _text),
}

# Where librdkafka's own default is not Java's. Java's partitioner is murmur2.
_LIBRDKAFKA_DEFAULTS: Final[Mapping[Role, Mapping[str, Any]]] = {
    Role.ADMIN: {},
    Role.CONSUMER: {"isolation.level": "read_uncommitted", "allow.auto.create.topics": True},
    Role.PRODUCER: {"partitioner": "murmur2_random"},
}


def librdkafka_settings(properties: Mapping[str, str], role: Role) -> ClientSettings:
    """For confluent-kafka; add `librdkafka_tls(settings.tls)` when there is one."""
    table = dict(_LIBRDKAFKA_COMMON)
    table |= {Role.CONSUMER: _LIBRDKAFKA_CONSUMER, Role.PRODUCER: _LIBRDKAFKA_PRODUCER}.get(
        role, {}
    )
    values, unsupported = _translate(properties, table)
    values = {**_LIBRDKAFKA_DEFAULTS[role], **values}
    if "fetch.max.bytes" in values:
        # librdkafka wants room for a whole response above the fetch size.
        values["receive.message.max.bytes"] = max(100_000_000, values["fetch.max.bytes"] + 1024)
    security = security_of(properties)
    values |= security.librdkafka
    return ClientSettings(values, security.tls, None, unsupported)


# ---------------------------------------------------------------------------- kafka-python

_PYTHON_COMMON: Final[Table] = {
    "bootstrap.servers": (
        "bootstrap_servers", lambda _, value: [s.strip() for s in value.split(",") if s.strip()]
    ),
    "client.dns.lookup": ("client_dns_lookup", _text),
    "client.id": ("client_id", _text),
    "connections.max.idle.ms": ("connections_max_idle_ms", _int),
    "metadata.max.age.ms": ("metadata_max_age_ms", _int),
    "receive.buffer.bytes": ("receive_buffer_bytes", _optional_buffer),
    "reconnect.backoff.max.ms": ("reconnect_backoff_max_ms", _int),
    "reconnect.backoff.ms": ("reconnect_backoff_ms", _int),
    "request.timeout.ms": ("request_timeout_ms", _int),
    "retry.backoff.ms": ("retry_backoff_ms", _int),
    "send.buffer.bytes": ("send_buffer_bytes", _optional_buffer),
}  # fmt: skip

_PYTHON_CONSUMER: Final[Table] = {
    "allow.auto.create.topics": ("allow_auto_create_topics", _boolean),
    "auto.offset.reset": (
        "auto_offset_reset", _choice(earliest="earliest", latest="latest", none="none")
    ),
    "check.crcs": ("check_crcs", _boolean),
    "client.rack": ("client_rack", _text),
    "exclude.internal.topics": ("exclude_internal_topics", _boolean),
    "fetch.max.bytes": ("fetch_max_bytes", _int),
    "fetch.max.wait.ms": ("fetch_max_wait_ms", _int),
    "fetch.min.bytes": ("fetch_min_bytes", _int),
    "group.id": ("group_id", _text),
    "group.instance.id": ("group_instance_id", _text),
    "heartbeat.interval.ms": ("heartbeat_interval_ms", _int),
    "isolation.level": ("isolation_level", _choice(
        read_committed="read_committed", read_uncommitted="read_uncommitted"
    )),
    "max.partition.fetch.bytes": ("max_partition_fetch_bytes", _int),
    "max.poll.interval.ms": ("max_poll_interval_ms", _int),
    "session.timeout.ms": ("session_timeout_ms", _int),
}  # fmt: skip

_PYTHON_PRODUCER: Final[Table] = {
    "acks": ("acks", _acks),
    "batch.size": ("batch_size", _int),
    "compression.type": (
        "compression_type", _choice(none=None, gzip="gzip", snappy="snappy", lz4="lz4", zstd="zstd")
    ),
    "delivery.timeout.ms": ("delivery_timeout_ms", _int),
    "enable.idempotence": ("enable_idempotence", _boolean),
    "linger.ms": ("linger_ms", _int),
    "max.in.flight.requests.per.connection": ("max_in_flight_requests_per_connection", _int),
    "max.request.size": ("max_request_size", _int),
    "retries": ("retries", _int),
    "transaction.timeout.ms": ("transaction_timeout_ms", _int),
    "transactional.id": ("transactional_id", _text),
}  # fmt: skip


def kafka_python_settings(properties: Mapping[str, str], role: Role) -> ClientSettings:
    """For kafka-python; set `ssl_context` from `settings.tls`, a token provider from `.oauth`."""
    table = dict(_PYTHON_COMMON)
    table |= {Role.CONSUMER: _PYTHON_CONSUMER, Role.PRODUCER: _PYTHON_PRODUCER}.get(role, {})
    values, unsupported = _translate(properties, table)
    # Java's default; kafka-python's 30 s would keep us from a broker that has long come back.
    values = {"reconnect_backoff_max_ms": 1000, **values}
    security = security_of(properties)
    return ClientSettings(values | security.kafka_python, security.tls, security.oauth, unsupported)


# ----------------------------------------------------------------------------------- Spark

#: What Spark sets itself and refuses to be told.
_SPARK_REFUSES: Final = frozenset({
    "auto.offset.reset", "enable.auto.commit", "interceptor.classes", "key.deserializer",
    "key.serializer", "value.deserializer", "value.serializer",
})  # fmt: skip


def spark_settings(properties: Mapping[str, str]) -> ClientSettings:
    """`kafka.*` options of Spark's Kafka source and writer: Java's properties as they are."""
    values = {
        f"kafka.{key}": value for key, value in properties.items() if key not in _SPARK_REFUSES
    }
    refused = tuple(sorted(_SPARK_REFUSES & set(properties) - _IGNORED))
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
        elif key not in _IGNORED and key not in SASL_KEYS and key not in TLS_KEYS:
            unsupported.append(key)
    return values, tuple(sorted(unsupported))
