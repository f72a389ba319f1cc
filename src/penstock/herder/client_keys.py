"""The settings of Kafka's own clients, which connectors may override.

Facts of Kafka 4.1's three clients: type, default and importance of each key, as the REST API shows
them for `producer.override.`, `consumer.override.` and `admin.override.`.
"""

from __future__ import annotations

from typing import Final

from penstock.config import REQUIRED, ConfigDef, ConfigKey, Importance, Type
from penstock.config.values import parse_value
from penstock.settings import CLIENT_KEYS

_OAUTH: Final = "org.apache.kafka.common.security.oauthbearer"
_Rows = dict[str, tuple[Type, object, Importance]]

# fmt: off
_COMMON: Final[_Rows] = {
    "bootstrap.servers": (Type.LIST, "", Importance.HIGH),
    "client.dns.lookup": (Type.STRING, "use_all_dns_ips", Importance.MEDIUM),
    "metadata.max.age.ms": (Type.LONG, "300000", Importance.LOW),
    "metadata.recovery.rebootstrap.trigger.ms": (Type.LONG, "300000", Importance.LOW),
    "metadata.recovery.strategy": (Type.STRING, "rebootstrap", Importance.LOW),
    "metric.reporters": (Type.LIST, "org.apache.kafka.common.metrics.JmxReporter", Importance.LOW),
    "metrics.num.samples": (Type.INT, "2", Importance.LOW),
    "metrics.recording.level": (Type.STRING, "INFO", Importance.LOW),
    "metrics.sample.window.ms": (Type.LONG, "30000", Importance.LOW),
    "reconnect.backoff.max.ms": (Type.LONG, "1000", Importance.LOW),
    "reconnect.backoff.ms": (Type.LONG, "50", Importance.LOW),
    "request.timeout.ms": (Type.INT, "30000", Importance.MEDIUM),
    "retry.backoff.max.ms": (Type.LONG, "1000", Importance.LOW),
    "retry.backoff.ms": (Type.LONG, "100", Importance.LOW),
    "sasl.client.callback.handler.class": (Type.CLASS, None, Importance.MEDIUM),
    "sasl.jaas.config": (Type.PASSWORD, None, Importance.MEDIUM),
    "sasl.kerberos.kinit.cmd": (Type.STRING, "/usr/bin/kinit", Importance.LOW),
    "sasl.kerberos.min.time.before.relogin": (Type.LONG, "60000", Importance.LOW),
    "sasl.kerberos.service.name": (Type.STRING, None, Importance.MEDIUM),
    "sasl.kerberos.ticket.renew.jitter": (Type.DOUBLE, "0.05", Importance.LOW),
    "sasl.kerberos.ticket.renew.window.factor": (Type.DOUBLE, "0.8", Importance.LOW),
    "sasl.login.callback.handler.class": (Type.CLASS, None, Importance.MEDIUM),
    "sasl.login.class": (Type.CLASS, None, Importance.MEDIUM),
    "sasl.login.connect.timeout.ms": (Type.INT, None, Importance.LOW),
    "sasl.login.read.timeout.ms": (Type.INT, None, Importance.LOW),
    "sasl.login.refresh.buffer.seconds": (Type.SHORT, "300", Importance.LOW),
    "sasl.login.refresh.min.period.seconds": (Type.SHORT, "60", Importance.LOW),
    "sasl.login.refresh.window.factor": (Type.DOUBLE, "0.8", Importance.LOW),
    "sasl.login.refresh.window.jitter": (Type.DOUBLE, "0.05", Importance.LOW),
    "sasl.login.retry.backoff.max.ms": (Type.LONG, "10000", Importance.LOW),
    "sasl.login.retry.backoff.ms": (Type.LONG, "100", Importance.LOW),
    "sasl.mechanism": (Type.STRING, "GSSAPI", Importance.MEDIUM),
    "sasl.oauthbearer.assertion.algorithm": (Type.STRING, "RS256", Importance.MEDIUM),
    "sasl.oauthbearer.assertion.claim.aud": (Type.STRING, None, Importance.MEDIUM),
    "sasl.oauthbearer.assertion.claim.exp.seconds": (Type.INT, "300", Importance.LOW),
    "sasl.oauthbearer.assertion.claim.iss": (Type.STRING, None, Importance.MEDIUM),
    "sasl.oauthbearer.assertion.claim.jti.include": (Type.BOOLEAN, "false", Importance.MEDIUM),
    "sasl.oauthbearer.assertion.claim.nbf.seconds": (Type.INT, "60", Importance.LOW),
    "sasl.oauthbearer.assertion.claim.sub": (Type.STRING, None, Importance.MEDIUM),
    "sasl.oauthbearer.assertion.file": (Type.STRING, None, Importance.MEDIUM),
    "sasl.oauthbearer.assertion.private.key.file": (Type.STRING, None, Importance.MEDIUM),
    "sasl.oauthbearer.assertion.private.key.passphrase": (Type.PASSWORD, None, Importance.MEDIUM),
    "sasl.oauthbearer.assertion.template.file": (Type.STRING, None, Importance.MEDIUM),
    "sasl.oauthbearer.client.credentials.client.id": (Type.STRING, None, Importance.MEDIUM),
    "sasl.oauthbearer.client.credentials.client.secret": (Type.PASSWORD, None, Importance.MEDIUM),
    "sasl.oauthbearer.clock.skew.seconds": (Type.INT, "30", Importance.LOW),
    "sasl.oauthbearer.expected.audience": (Type.LIST, None, Importance.LOW),
    "sasl.oauthbearer.expected.issuer": (Type.STRING, None, Importance.LOW),
    "sasl.oauthbearer.header.urlencode": (Type.BOOLEAN, "false", Importance.LOW),
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": (Type.LONG, "3600000", Importance.LOW),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": (Type.LONG, "10000", Importance.LOW),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": (Type.LONG, "100", Importance.LOW),
    "sasl.oauthbearer.jwks.endpoint.url": (Type.STRING, None, Importance.MEDIUM),
    "sasl.oauthbearer.jwt.retriever.class": (
        Type.CLASS, f"{_OAUTH}.DefaultJwtRetriever", Importance.MEDIUM,
    ),
    "sasl.oauthbearer.jwt.validator.class": (
        Type.CLASS, f"{_OAUTH}.DefaultJwtValidator", Importance.MEDIUM,
    ),
    "sasl.oauthbearer.scope": (Type.STRING, None, Importance.MEDIUM),
    "sasl.oauthbearer.scope.claim.name": (Type.STRING, "scope", Importance.LOW),
    "sasl.oauthbearer.sub.claim.name": (Type.STRING, "sub", Importance.LOW),
    "sasl.oauthbearer.token.endpoint.url": (Type.STRING, None, Importance.MEDIUM),
    "security.protocol": (Type.STRING, "PLAINTEXT", Importance.MEDIUM),
    "security.providers": (Type.STRING, None, Importance.LOW),
    "send.buffer.bytes": (Type.INT, "131072", Importance.MEDIUM),
    "socket.connection.setup.timeout.max.ms": (Type.LONG, "30000", Importance.MEDIUM),
    "socket.connection.setup.timeout.ms": (Type.LONG, "10000", Importance.MEDIUM),
    "ssl.cipher.suites": (Type.LIST, None, Importance.LOW),
    "ssl.enabled.protocols": (Type.LIST, "TLSv1.2,TLSv1.3", Importance.MEDIUM),
    "ssl.endpoint.identification.algorithm": (Type.STRING, "https", Importance.LOW),
    "ssl.engine.factory.class": (Type.CLASS, None, Importance.LOW),
    "ssl.key.password": (Type.PASSWORD, None, Importance.HIGH),
    "ssl.keymanager.algorithm": (Type.STRING, "SunX509", Importance.LOW),
    "ssl.keystore.certificate.chain": (Type.PASSWORD, None, Importance.HIGH),
    "ssl.keystore.key": (Type.PASSWORD, None, Importance.HIGH),
    "ssl.keystore.location": (Type.STRING, None, Importance.HIGH),
    "ssl.keystore.password": (Type.PASSWORD, None, Importance.HIGH),
    "ssl.keystore.type": (Type.STRING, "JKS", Importance.MEDIUM),
    "ssl.protocol": (Type.STRING, "TLSv1.3", Importance.MEDIUM),
    "ssl.provider": (Type.STRING, None, Importance.MEDIUM),
    "ssl.secure.random.implementation": (Type.STRING, None, Importance.LOW),
    "ssl.trustmanager.algorithm": (Type.STRING, "PKIX", Importance.LOW),
    "ssl.truststore.certificates": (Type.PASSWORD, None, Importance.HIGH),
    "ssl.truststore.location": (Type.STRING, None, Importance.HIGH),
    "ssl.truststore.password": (Type.PASSWORD, None, Importance.HIGH),
    "ssl.truststore.type": (Type.STRING, "JKS", Importance.MEDIUM),
}

_PRODUCER: Final[_Rows] = {
    "acks": (Type.STRING, "all", Importance.LOW),
    "batch.size": (Type.INT, "16384", Importance.MEDIUM),
    "buffer.memory": (Type.LONG, "33554432", Importance.HIGH),
    "client.id": (Type.STRING, "", Importance.MEDIUM),
    "compression.gzip.level": (Type.INT, "-1", Importance.MEDIUM),
    "compression.lz4.level": (Type.INT, "9", Importance.MEDIUM),
    "compression.type": (Type.STRING, "none", Importance.HIGH),
    "compression.zstd.level": (Type.INT, "3", Importance.MEDIUM),
    "connections.max.idle.ms": (Type.LONG, "540000", Importance.MEDIUM),
    "delivery.timeout.ms": (Type.INT, "120000", Importance.MEDIUM),
    "enable.idempotence": (Type.BOOLEAN, "true", Importance.LOW),
    "enable.metrics.push": (Type.BOOLEAN, "true", Importance.LOW),
    "interceptor.classes": (Type.LIST, "", Importance.LOW),
    "key.serializer": (Type.CLASS, REQUIRED, Importance.HIGH),
    "linger.ms": (Type.LONG, "5", Importance.MEDIUM),
    "max.block.ms": (Type.LONG, "60000", Importance.MEDIUM),
    "max.in.flight.requests.per.connection": (Type.INT, "5", Importance.LOW),
    "max.request.size": (Type.INT, "1048576", Importance.MEDIUM),
    "metadata.max.idle.ms": (Type.LONG, "300000", Importance.LOW),
    "partitioner.adaptive.partitioning.enable": (Type.BOOLEAN, "true", Importance.LOW),
    "partitioner.availability.timeout.ms": (Type.LONG, "0", Importance.LOW),
    "partitioner.class": (Type.CLASS, None, Importance.MEDIUM),
    "partitioner.ignore.keys": (Type.BOOLEAN, "false", Importance.MEDIUM),
    "receive.buffer.bytes": (Type.INT, "32768", Importance.MEDIUM),
    "retries": (Type.INT, "2147483647", Importance.HIGH),
    "transaction.timeout.ms": (Type.INT, "60000", Importance.LOW),
    "transaction.two.phase.commit.enable": (Type.BOOLEAN, "false", Importance.LOW),
    "transactional.id": (Type.STRING, None, Importance.LOW),
    "value.serializer": (Type.CLASS, REQUIRED, Importance.HIGH),
}

_CONSUMER: Final[_Rows] = {
    "allow.auto.create.topics": (Type.BOOLEAN, "true", Importance.MEDIUM),
    "auto.commit.interval.ms": (Type.INT, "5000", Importance.LOW),
    "auto.offset.reset": (Type.STRING, "latest", Importance.MEDIUM),
    "check.crcs": (Type.BOOLEAN, "true", Importance.LOW),
    "client.id": (Type.STRING, "", Importance.LOW),
    "client.rack": (Type.STRING, "", Importance.LOW),
    "connections.max.idle.ms": (Type.LONG, "540000", Importance.MEDIUM),
    "default.api.timeout.ms": (Type.INT, "60000", Importance.MEDIUM),
    "enable.auto.commit": (Type.BOOLEAN, "true", Importance.MEDIUM),
    "enable.metrics.push": (Type.BOOLEAN, "true", Importance.LOW),
    "exclude.internal.topics": (Type.BOOLEAN, "true", Importance.MEDIUM),
    "fetch.max.bytes": (Type.INT, "52428800", Importance.MEDIUM),
    "fetch.max.wait.ms": (Type.INT, "500", Importance.LOW),
    "fetch.min.bytes": (Type.INT, "1", Importance.HIGH),
    "group.id": (Type.STRING, None, Importance.HIGH),
    "group.instance.id": (Type.STRING, None, Importance.MEDIUM),
    "group.protocol": (Type.STRING, "classic", Importance.HIGH),
    "group.remote.assignor": (Type.STRING, None, Importance.MEDIUM),
    "heartbeat.interval.ms": (Type.INT, "3000", Importance.HIGH),
    "interceptor.classes": (Type.LIST, "", Importance.LOW),
    "internal.leave.group.on.close": (Type.BOOLEAN, "true", Importance.LOW),
    "internal.throw.on.fetch.stable.offset.unsupported": (Type.BOOLEAN, "false", Importance.LOW),
    "isolation.level": (Type.STRING, "read_uncommitted", Importance.MEDIUM),
    "key.deserializer": (Type.CLASS, REQUIRED, Importance.HIGH),
    "max.partition.fetch.bytes": (Type.INT, "1048576", Importance.HIGH),
    "max.poll.interval.ms": (Type.INT, "300000", Importance.MEDIUM),
    "max.poll.records": (Type.INT, "500", Importance.MEDIUM),
    "partition.assignment.strategy": (
        Type.LIST,
        "class org.apache.kafka.clients.consumer.RangeAssignor,"
        "class org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
        Importance.MEDIUM,
    ),
    "receive.buffer.bytes": (Type.INT, "65536", Importance.MEDIUM),
    "session.timeout.ms": (Type.INT, "45000", Importance.HIGH),
    "share.acknowledgement.mode": (Type.STRING, "implicit", Importance.MEDIUM),
    "value.deserializer": (Type.CLASS, REQUIRED, Importance.HIGH),
}

_ADMIN: Final[_Rows] = {
    "bootstrap.controllers": (Type.LIST, "", Importance.HIGH),
    "client.id": (Type.STRING, "", Importance.MEDIUM),
    "connections.max.idle.ms": (Type.LONG, "300000", Importance.MEDIUM),
    "default.api.timeout.ms": (Type.INT, "60000", Importance.MEDIUM),
    "enable.metrics.push": (Type.BOOLEAN, "false", Importance.LOW),
    "receive.buffer.bytes": (Type.INT, "65536", Importance.MEDIUM),
    "retries": (Type.INT, "2147483647", Importance.LOW),
}
# fmt: on


def _definition(client: str, rows: _Rows) -> ConfigDef:
    return ConfigDef.of(_key(client, name, *row) for name, row in sorted(rows.items()))


def _key(client: str, name: str, type_: Type, default: object, importance: Importance) -> ConfigKey:
    known = CLIENT_KEYS.keys.get(name)
    doc = known.documentation if known else f"Setting {name} of the Kafka {client}."
    value = default if default is REQUIRED else parse_value(name, default, type_)
    return ConfigKey(name=name, type=type_, default=value, importance=importance, documentation=doc)


CLIENTS: Final = {
    "producer": _definition("producer", {**_COMMON, **_PRODUCER}),
    "consumer": _definition("consumer", {**_COMMON, **_CONSUMER}),
    "admin": _definition("admin client", {**_COMMON, **_ADMIN}),
}
