"""The settings of Kafka's clients, each once: Java's definition, and the Python clients' names.

Facts of Kafka 4.1's producer, consumer and admin client, and of the Kafka Connect worker, which
passes its own settings of the same names on to them. Three places derive from this table: the
worker's settings, the answers of validate for `producer.override.`, `consumer.override.` and
`admin.override.`, and the translation for clients that are not Java (`kafka.options`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from penstock.kafka.client_values import (
    Translate,
    acks,
    assignors,
    buffer_size,
    kilobytes,
    one_word,
    optional_buffer_size,
    server_list,
)
from penstock.kernel.config import (
    REQUIRED,
    ConfigDef,
    ConfigKey,
    Importance,
    Type,
    Validator,
    at_least,
    between,
    one_of,
    one_of_ignoring_case,
)


class Role(StrEnum):
    """What a client does; the value is the prefix of its properties in the worker's file."""

    ADMIN = "admin"
    CONSUMER = "consumer"
    PRODUCER = "producer"


#: Beside the roles: a worker has settings of its own, which it passes to every client.
WORKER: Final = "worker"


@dataclass(frozen=True, slots=True)
class Named:
    """A client library's name of a setting and form of its value; empty means as in Java."""

    name: str = ""
    value: Translate | None = None


SAME: Final = Named()

_CLIENTS: Final[frozenset[str]] = frozenset(Role)
_PRODUCER: Final[frozenset[str]] = frozenset({Role.PRODUCER})
_CONSUMER: Final[frozenset[str]] = frozenset({Role.CONSUMER})
_ADMIN: Final[frozenset[str]] = frozenset({Role.ADMIN})


@dataclass(frozen=True, slots=True)
class ClientKey:
    """One setting.

    Args:
        doc: for the worker's reference page; if empty, a standard sentence.
        valid: the worker's rule. Java checks overrides of connectors for their type alone.
        has: the clients with this setting; by default all.
        differs: fields that differ for one of these clients.
        librdkafka: None if librdkafka has no such setting; as `kafka_python`.
        left_out: names Java code that the framework replaces, or is set by the framework itself;
            Python clients ignore it without a warning.
        java_only: names Java code or parts of the JVM; Python clients can't run it.
    """

    name: str
    type: Type
    default: Any
    importance: Importance
    doc: str = ""
    valid: Validator | None = None
    has: frozenset[str] = _CLIENTS | {WORKER}
    differs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    librdkafka: Named | None = None
    kafka_python: Named | None = None
    left_out: bool = False
    java_only: bool = False


_HIGH, _MEDIUM, _LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
_STRING, _PASSWORD, _CLASS, _LIST = Type.STRING, Type.PASSWORD, Type.CLASS, Type.LIST
_SHORT, _INT, _LONG, _DOUBLE, _BOOLEAN = (
    Type.SHORT, Type.INT, Type.LONG, Type.DOUBLE, Type.BOOLEAN
)  # fmt: skip
OAUTH_PACKAGE: Final = "org.apache.kafka.common.security.oauthbearer."

# fmt: off
KEYS: Final[tuple[ClientKey, ...]] = (
    # Connections
    ClientKey("client.dns.lookup", _STRING, "use_all_dns_ips", _MEDIUM,
        "Whether a client tries every address that a broker's name resolves to, or "
        "expands the bootstrap names to canonical ones first.",
        valid=one_of("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
        librdkafka=SAME, kafka_python=SAME,
    ),
    ClientKey("metadata.max.age.ms", _LONG, 300_000, _LOW,
        "Fetch the cluster's metadata again after this time even if nothing seems to have changed.",
        valid=at_least(0), librdkafka=SAME, kafka_python=SAME,
    ),
    ClientKey("send.buffer.bytes", _INT, 131_072, _MEDIUM,
        "Size of the TCP send buffer; -1 leaves it to the operating system.",
        valid=at_least(-1), librdkafka=Named("socket.send.buffer.bytes", buffer_size),
        kafka_python=Named(value=optional_buffer_size),
    ),
    ClientKey("receive.buffer.bytes", _INT, 32_768, _MEDIUM,
        "Size of the TCP receive buffer; -1 leaves it to the operating system.",
        valid=at_least(-1), librdkafka=Named("socket.receive.buffer.bytes", buffer_size),
        kafka_python=Named(value=optional_buffer_size),
        differs={Role.CONSUMER: {"default": 65_536}, Role.ADMIN: {"default": 65_536}},
    ),
    ClientKey("reconnect.backoff.ms", _LONG, 50, _LOW,
        "First wait before a lost connection to a broker is tried again.",
        valid=at_least(0), librdkafka=SAME, kafka_python=SAME,
    ),
    ClientKey("reconnect.backoff.max.ms", _LONG, 1000, _LOW,
        "Longest wait between attempts to reach a broker that keeps failing.",
        valid=at_least(0), librdkafka=SAME, kafka_python=SAME,
    ),
    ClientKey("socket.connection.setup.timeout.ms", _LONG, 10_000, _MEDIUM,
        "How long opening a connection may take at first.",
        valid=at_least(0), librdkafka=SAME, differs={WORKER: {"importance": _LOW}},
    ),
    ClientKey("socket.connection.setup.timeout.max.ms", _LONG, 30_000, _MEDIUM,
        "How long opening a connection may take after repeated failures.",
        valid=at_least(0), differs={WORKER: {"importance": _LOW}},
    ),
    ClientKey("retry.backoff.ms", _LONG, 100, _LOW,
        "First wait before a failed request is sent again.",
        valid=at_least(0), librdkafka=SAME, kafka_python=SAME,
    ),
    ClientKey("retry.backoff.max.ms", _LONG, 1000, _LOW,
        "Longest wait between attempts of a request that keeps failing.",
        valid=at_least(0), librdkafka=SAME,
    ),
    ClientKey("request.timeout.ms", _INT, 30_000, _MEDIUM,
        "How long to wait for a broker's answer.",
        valid=at_least(0), librdkafka=Named("socket.timeout.ms"), kafka_python=SAME,
        differs={WORKER: {"default": 40_000}, Role.PRODUCER: {"librdkafka": SAME}},
    ),
    ClientKey("connections.max.idle.ms", _LONG, 540_000, _MEDIUM,
        "Close connections that were idle for this long.",
        librdkafka=Named(value=buffer_size), kafka_python=SAME,
        differs={Role.ADMIN: {"default": 300_000}},
    ),
    ClientKey("security.protocol", _STRING, "PLAINTEXT", _MEDIUM,
        "How to talk to brokers: in clear or over TLS, with or without SASL.",
        valid=one_of_ignoring_case("SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT"),
    ),
    ClientKey("metadata.recovery.strategy", _STRING, "rebootstrap", _LOW,
        "What a client does when it can reach none of the brokers it knows: start again "
        "from bootstrap.servers, or fail.",
        valid=one_of_ignoring_case("REBOOTSTRAP", "NONE"), librdkafka=SAME,
    ),
    ClientKey("metadata.recovery.rebootstrap.trigger.ms", _LONG, 300_000, _LOW,
        "Start again from bootstrap.servers after this long without metadata.", valid=at_least(0),
    ),
    # TLS
    ClientKey("ssl.protocol", _STRING, "TLSv1.3", _MEDIUM, "The TLS version to begin with."),
    ClientKey("ssl.provider", _STRING, None, _MEDIUM,
        "Name of a Java security provider.", java_only=True,
    ),
    ClientKey("ssl.cipher.suites", _LIST, None, _LOW, "Cipher suites that may be used."),
    ClientKey("ssl.enabled.protocols", _LIST, ["TLSv1.2", "TLSv1.3"], _MEDIUM,
        "TLS versions that may be used.",
    ),
    ClientKey("ssl.keystore.type", _STRING, "JKS", _MEDIUM, "JKS, PKCS12 or PEM."),
    ClientKey("ssl.keystore.location", _STRING, None, _HIGH,
        "File with the client's own key and certificate, where the broker asks for one.",
    ),
    ClientKey("ssl.keystore.password", _PASSWORD, None, _HIGH,
        "Password of the key store file; PEM files have none.",
    ),
    ClientKey("ssl.key.password", _PASSWORD, None, _HIGH, "Password of the private key itself."),
    ClientKey("ssl.keystore.key", _PASSWORD, None, _HIGH,
        "The private key as PEM text instead of a file.",
    ),
    ClientKey("ssl.keystore.certificate.chain", _PASSWORD, None, _HIGH,
        "The certificate and its issuers as PEM text instead of a file.",
    ),
    ClientKey("ssl.truststore.certificates", _PASSWORD, None, _HIGH,
        "Trusted certificates as PEM text instead of a file.",
    ),
    ClientKey("ssl.truststore.type", _STRING, "JKS", _MEDIUM, "JKS, PKCS12 or PEM."),
    ClientKey("ssl.truststore.location", _STRING, None, _HIGH,
        "File with the certificates a broker's certificate is checked against.",
    ),
    ClientKey("ssl.truststore.password", _PASSWORD, None, _HIGH,
        "Password of the trust store file; without it the file's integrity is not "
        "checked.",
    ),
    ClientKey("ssl.keymanager.algorithm", _STRING, "SunX509", _LOW,
        "Java's algorithm for choosing keys.",
    ),
    ClientKey("ssl.trustmanager.algorithm", _STRING, "PKIX", _LOW,
        "Java's algorithm for checking certificates.",
    ),
    ClientKey("ssl.endpoint.identification.algorithm", _STRING, "https", _LOW,
        "https: the broker's certificate must carry its host name. Empty: it need not.",
    ),
    ClientKey("ssl.secure.random.implementation", _STRING, None, _LOW,
        "Java's source of randomness.", java_only=True,
    ),
    ClientKey("ssl.engine.factory.class", _CLASS, None, _LOW,
        "A Java class that makes TLS engines.", java_only=True,
    ),
    # SASL
    ClientKey("sasl.mechanism", _STRING, "GSSAPI", _MEDIUM,
        "How to authenticate: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, GSSAPI or OAUTHBEARER.",
    ),
    ClientKey("sasl.jaas.config", _PASSWORD, None, _MEDIUM,
        "The login module with user name and password, as one line ending in a semicolon.",
    ),
    ClientKey("sasl.client.callback.handler.class", _CLASS, None, _MEDIUM,
        "A Java class that answers the mechanism's questions.", java_only=True,
    ),
    ClientKey("sasl.login.callback.handler.class", _CLASS, None, _MEDIUM,
        "A Java class that answers the login's questions.", java_only=True,
    ),
    ClientKey("sasl.login.class", _CLASS, None, _MEDIUM,
        "A Java class that logs in.", java_only=True,
    ),
    ClientKey("sasl.kerberos.service.name", _STRING, None, _MEDIUM,
        "The Kerberos name that the brokers run under.",
    ),
    ClientKey("sasl.kerberos.kinit.cmd", _STRING, "/usr/bin/kinit", _LOW, "The kinit command."),
    ClientKey("sasl.kerberos.ticket.renew.window.factor", _DOUBLE, 0.8, _LOW,
        "The part of a ticket's life after which it is renewed.",
    ),
    ClientKey("sasl.kerberos.ticket.renew.jitter", _DOUBLE, 0.05, _LOW,
        "Random part that is added to the time of renewal.",
    ),
    ClientKey("sasl.kerberos.min.time.before.relogin", _LONG, 60_000, _LOW,
        "Wait at least this long between two logins.",
    ),
    ClientKey("sasl.login.refresh.window.factor", _DOUBLE, 0.8, _LOW,
        "The part of a credential's life after which it is refreshed.", valid=between(0.5, 1.0),
    ),
    ClientKey("sasl.login.refresh.window.jitter", _DOUBLE, 0.05, _LOW,
        "Random part that is added to the time of refresh.", valid=between(0.0, 0.25),
    ),
    ClientKey("sasl.login.refresh.min.period.seconds", _SHORT, 60, _LOW,
        "Wait at least this long before refreshing a credential.", valid=between(0, 900),
    ),
    ClientKey("sasl.login.refresh.buffer.seconds", _SHORT, 300, _LOW,
        "Refresh this long before a credential ends, if the other settings allow it.",
        valid=between(0, 3600),
    ),
    ClientKey("sasl.login.connect.timeout.ms", _INT, None, _LOW,
        "How long connecting to the identity provider may take.",
    ),
    ClientKey("sasl.login.read.timeout.ms", _INT, None, _LOW,
        "How long the identity provider's answer may take.",
    ),
    ClientKey("sasl.login.retry.backoff.max.ms", _LONG, 10_000, _LOW,
        "Longest wait between attempts to log in.",
    ),
    ClientKey("sasl.login.retry.backoff.ms", _LONG, 100, _LOW,
        "First wait between attempts to log in.",
    ),
    # OAuth
    ClientKey("sasl.oauthbearer.jwt.retriever.class", _CLASS,
        f"{OAUTH_PACKAGE}DefaultJwtRetriever", _MEDIUM,
        "A Java class that fetches tokens.",
        java_only=True, differs={WORKER: {"default": None}},
    ),
    ClientKey("sasl.oauthbearer.jwt.validator.class", _CLASS,
        f"{OAUTH_PACKAGE}DefaultJwtValidator", _MEDIUM,
        "A Java class that checks tokens.",
        java_only=True, differs={WORKER: {"default": None}},
    ),
    ClientKey("sasl.oauthbearer.scope", _STRING, None, _MEDIUM, "The scope to ask for."),
    ClientKey("sasl.oauthbearer.client.credentials.client.id", _STRING, None, _MEDIUM,
        "The client's id.",
    ),
    ClientKey("sasl.oauthbearer.client.credentials.client.secret", _PASSWORD, None, _MEDIUM,
        "Its secret.",
    ),
    ClientKey("sasl.oauthbearer.assertion.algorithm", _STRING, "RS256", _MEDIUM,
        "Algorithm that signs an assertion.", valid=one_of_ignoring_case("ES256", "RS256"),
    ),
    ClientKey("sasl.oauthbearer.assertion.claim.aud", _STRING, None, _MEDIUM,
        "Audience of an assertion.",
    ),
    ClientKey("sasl.oauthbearer.assertion.claim.exp.seconds", _INT, 300, _LOW,
        "How long an assertion is valid.", valid=between(0, 86_400),
    ),
    ClientKey("sasl.oauthbearer.assertion.claim.iss", _STRING, None, _MEDIUM,
        "Issuer of an assertion.",
    ),
    ClientKey("sasl.oauthbearer.assertion.claim.jti.include", _BOOLEAN, False, _MEDIUM,
        "Whether an assertion carries an id of its own.",
    ),
    ClientKey("sasl.oauthbearer.assertion.claim.nbf.seconds", _INT, 60, _LOW,
        "How far in the past an assertion begins to be valid.", valid=between(0, 3600),
    ),
    ClientKey("sasl.oauthbearer.assertion.claim.sub", _STRING, None, _MEDIUM,
        "Subject of an assertion.",
    ),
    ClientKey("sasl.oauthbearer.assertion.file", _STRING, None, _MEDIUM,
        "File with a ready assertion.",
    ),
    ClientKey("sasl.oauthbearer.assertion.private.key.file", _STRING, None, _MEDIUM,
        "File with its signing key.",
    ),
    ClientKey("sasl.oauthbearer.assertion.private.key.passphrase", _PASSWORD, None, _MEDIUM,
        "Password of the signing key.",
    ),
    ClientKey("sasl.oauthbearer.assertion.template.file", _STRING, None, _MEDIUM,
        "File with its fixed claims.",
    ),
    ClientKey("sasl.oauthbearer.scope.claim.name", _STRING, "scope", _LOW,
        "The claim that has the scope.",
    ),
    ClientKey("sasl.oauthbearer.sub.claim.name", _STRING, "sub", _LOW,
        "The claim that has the subject.",
    ),
    ClientKey("sasl.oauthbearer.token.endpoint.url", _STRING, None, _MEDIUM,
        "Where tokens come from.",
    ),
    ClientKey("sasl.oauthbearer.jwks.endpoint.url", _STRING, None, _MEDIUM,
        "Where the signing keys are.",
    ),
    ClientKey("sasl.oauthbearer.jwks.endpoint.refresh.ms", _LONG, 3_600_000, _LOW,
        "How often to fetch the signing keys.",
    ),
    ClientKey("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", _LONG, 10_000, _LOW,
        "Longest wait between attempts to fetch the signing keys.",
    ),
    ClientKey("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", _LONG, 100, _LOW,
        "First wait between attempts to fetch the signing keys.",
    ),
    ClientKey("sasl.oauthbearer.clock.skew.seconds", _INT, 30, _LOW, "How far clocks may differ."),
    ClientKey("sasl.oauthbearer.expected.audience", _LIST, None, _LOW,
        "Audiences a token may be for.",
    ),
    ClientKey("sasl.oauthbearer.expected.issuer", _STRING, None, _LOW,
        "The issuer a token must have.",
    ),
    ClientKey("sasl.oauthbearer.header.urlencode", _BOOLEAN, False, _LOW,
        "Whether id and secret are URL-encoded in the authorization header.",
    ),
    # What every client has, but not the worker
    ClientKey("bootstrap.servers", _LIST, [], _HIGH, has=_CLIENTS, librdkafka=SAME,
        kafka_python=Named(value=server_list),
    ),
    ClientKey("metric.reporters", _LIST, ["org.apache.kafka.common.metrics.JmxReporter"], _LOW,
        has=_CLIENTS,
    ),
    ClientKey("metrics.num.samples", _INT, 2, _LOW, has=_CLIENTS),
    ClientKey("metrics.recording.level", _STRING, "INFO", _LOW, has=_CLIENTS),
    ClientKey("metrics.sample.window.ms", _LONG, 30_000, _LOW, has=_CLIENTS),
    ClientKey("security.providers", _STRING, None, _LOW, has=_CLIENTS),
    ClientKey("client.id", _STRING, "", _MEDIUM, has=_CLIENTS, librdkafka=SAME, kafka_python=SAME,
        differs={Role.CONSUMER: {"importance": _LOW}},
    ),
    ClientKey("enable.metrics.push", _BOOLEAN, True, _LOW, has=_CLIENTS,
        differs={Role.ADMIN: {"default": False}},
    ),
    # Producers
    ClientKey("acks", _STRING, "all", _LOW, has=_PRODUCER, librdkafka=Named(value=acks)),
    ClientKey("batch.size", _INT, 16_384, _MEDIUM, has=_PRODUCER, librdkafka=SAME),
    ClientKey("buffer.memory", _LONG, 33_554_432, _HIGH, has=_PRODUCER,
        librdkafka=Named("queue.buffering.max.kbytes", kilobytes),
    ),
    ClientKey("compression.gzip.level", _INT, -1, _MEDIUM, has=_PRODUCER),
    ClientKey("compression.lz4.level", _INT, 9, _MEDIUM, has=_PRODUCER),
    ClientKey("compression.type", _STRING, "none", _HIGH, has=_PRODUCER, librdkafka=SAME),
    ClientKey("compression.zstd.level", _INT, 3, _MEDIUM, has=_PRODUCER),
    ClientKey("delivery.timeout.ms", _INT, 120_000, _MEDIUM, has=_PRODUCER, librdkafka=SAME),
    ClientKey("enable.idempotence", _BOOLEAN, True, _LOW, has=_PRODUCER, librdkafka=SAME),
    ClientKey("interceptor.classes", _LIST, [], _LOW, has=_PRODUCER | _CONSUMER),
    ClientKey("key.serializer", _CLASS, REQUIRED, _HIGH, has=_PRODUCER, left_out=True),
    ClientKey("linger.ms", _LONG, 5, _MEDIUM, has=_PRODUCER, librdkafka=SAME),
    ClientKey("max.block.ms", _LONG, 60_000, _MEDIUM, has=_PRODUCER, left_out=True),
    ClientKey("max.in.flight.requests.per.connection", _INT, 5, _LOW, has=_PRODUCER,
        librdkafka=SAME,
    ),
    ClientKey("max.request.size", _INT, 1_048_576, _MEDIUM, has=_PRODUCER,
        librdkafka=Named("message.max.bytes"),
    ),
    ClientKey("metadata.max.idle.ms", _LONG, 300_000, _LOW, has=_PRODUCER),
    ClientKey("partitioner.adaptive.partitioning.enable", _BOOLEAN, True, _LOW, has=_PRODUCER),
    ClientKey("partitioner.availability.timeout.ms", _LONG, 0, _LOW, has=_PRODUCER),
    ClientKey("partitioner.class", _CLASS, None, _MEDIUM, has=_PRODUCER),
    ClientKey("partitioner.ignore.keys", _BOOLEAN, False, _MEDIUM, has=_PRODUCER),
    ClientKey("retries", _INT, 2_147_483_647, _HIGH, has=_PRODUCER | _ADMIN, librdkafka=SAME,
        differs={Role.ADMIN: {"importance": _LOW, "librdkafka": None}},
    ),
    ClientKey("transaction.timeout.ms", _INT, 60_000, _LOW, has=_PRODUCER, librdkafka=SAME),
    ClientKey("transaction.two.phase.commit.enable", _BOOLEAN, False, _LOW, has=_PRODUCER),
    ClientKey("transactional.id", _STRING, None, _LOW, has=_PRODUCER, librdkafka=SAME),
    ClientKey("value.serializer", _CLASS, REQUIRED, _HIGH, has=_PRODUCER, left_out=True),
    # Consumers
    ClientKey("allow.auto.create.topics", _BOOLEAN, True, _MEDIUM, has=_CONSUMER, librdkafka=SAME),
    ClientKey("auto.commit.interval.ms", _INT, 5000, _LOW, has=_CONSUMER, left_out=True),
    ClientKey("auto.offset.reset", _STRING, "latest", _MEDIUM, has=_CONSUMER,
        librdkafka=Named(value=one_word(earliest="earliest", latest="latest", none="error")),
    ),
    ClientKey("check.crcs", _BOOLEAN, True, _LOW, has=_CONSUMER, librdkafka=SAME),
    ClientKey("client.rack", _STRING, "", _LOW, has=_CONSUMER),
    ClientKey("default.api.timeout.ms", _INT, 60_000, _MEDIUM, has=_CONSUMER | _ADMIN,
        left_out=True,
    ),
    ClientKey("enable.auto.commit", _BOOLEAN, True, _MEDIUM, has=_CONSUMER, left_out=True),
    ClientKey("exclude.internal.topics", _BOOLEAN, True, _MEDIUM, has=_CONSUMER),
    ClientKey("fetch.max.bytes", _INT, 52_428_800, _MEDIUM, has=_CONSUMER, librdkafka=SAME),
    ClientKey("fetch.max.wait.ms", _INT, 500, _LOW, has=_CONSUMER,
        librdkafka=Named("fetch.wait.max.ms"),
    ),
    ClientKey("fetch.min.bytes", _INT, 1, _HIGH, has=_CONSUMER, librdkafka=SAME),
    ClientKey("group.id", _STRING, None, _HIGH, has=_CONSUMER, librdkafka=SAME),
    ClientKey("group.instance.id", _STRING, None, _MEDIUM, has=_CONSUMER, librdkafka=SAME),
    ClientKey("group.protocol", _STRING, "classic", _HIGH, has=_CONSUMER,
        librdkafka=Named(value=one_word(classic="classic", consumer="consumer")),
    ),
    ClientKey("group.remote.assignor", _STRING, None, _MEDIUM, has=_CONSUMER, librdkafka=SAME),
    ClientKey("heartbeat.interval.ms", _INT, 3000, _HIGH, has=_CONSUMER, librdkafka=SAME),
    ClientKey("internal.leave.group.on.close", _BOOLEAN, True, _LOW, has=_CONSUMER),
    ClientKey("internal.throw.on.fetch.stable.offset.unsupported", _BOOLEAN, False, _LOW,
        has=_CONSUMER,
    ),
    ClientKey("isolation.level", _STRING, "read_uncommitted", _MEDIUM, has=_CONSUMER,
        librdkafka=Named(value=one_word(
            read_committed="read_committed", read_uncommitted="read_uncommitted"
        )),
    ),
    ClientKey("key.deserializer", _CLASS, REQUIRED, _HIGH, has=_CONSUMER, left_out=True),
    ClientKey("max.partition.fetch.bytes", _INT, 1_048_576, _HIGH, has=_CONSUMER, librdkafka=SAME),
    ClientKey("max.poll.interval.ms", _INT, 300_000, _MEDIUM, has=_CONSUMER, librdkafka=SAME),
    ClientKey("max.poll.records", _INT, 500, _MEDIUM, has=_CONSUMER, left_out=True),
    ClientKey("partition.assignment.strategy", _LIST,
        [
            "class org.apache.kafka.clients.consumer.RangeAssignor",
            "class org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
        ],
        _MEDIUM, has=_CONSUMER, librdkafka=Named(value=assignors),
    ),
    ClientKey("session.timeout.ms", _INT, 45_000, _HIGH, has=_CONSUMER, librdkafka=SAME),
    ClientKey("share.acknowledgement.mode", _STRING, "implicit", _MEDIUM, has=_CONSUMER),
    ClientKey("value.deserializer", _CLASS, REQUIRED, _HIGH, has=_CONSUMER, left_out=True),
    # Administration
    ClientKey("bootstrap.controllers", _LIST, [], _HIGH, has=_ADMIN),
)
# fmt: on


def keys_of(owner: str) -> list[ClientKey]:
    """The settings of a role or the worker, with its own fields."""
    return [replace(key, **key.differs.get(owner, {})) for key in KEYS if owner in key.has]


def _definition(role: Role, client: str) -> ConfigDef:
    ordered = sorted(keys_of(role), key=lambda key: key.name)
    return ConfigDef.of(_config_key(key, f"Setting {key.name} of the {client}.") for key in ordered)


def _worker_key(key: ClientKey) -> ConfigKey:
    # The worker does not load the class: it passes the name on.
    type_ = Type.STRING if key.type is Type.CLASS else key.type
    return replace(_config_key(key), type=type_, validator=key.valid)


def _config_key(key: ClientKey, doc: str = "") -> ConfigKey:
    return ConfigKey(
        name=key.name,
        type=key.type,
        default=key.default,
        importance=key.importance,
        documentation=key.doc or doc,
    )


#: The worker's own, in the order of its reference page.
WORKER_KEYS: Final = ConfigDef.of(map(_worker_key, keys_of(WORKER)))
#: What connectors may override, by the name of the client.
CLIENTS: Final = {
    "producer": _definition(Role.PRODUCER, "Kafka producer"),
    "consumer": _definition(Role.CONSUMER, "Kafka consumer"),
    "admin": _definition(Role.ADMIN, "Kafka admin client"),
}
JAVA_ONLY: Final = frozenset(key.name for key in KEYS if key.java_only)
LEFT_OUT: Final = frozenset(key.name for key in KEYS if key.left_out)
