"""The keys a worker hands on to Kafka clients: connection, TLS and SASL.

A table rather than fields: nobody in Penstock reads these one by one. They are checked at start
and given to every client as they were written.
"""

from __future__ import annotations

from typing import Any, Final

from penstock.config import (
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

_HIGH, _MEDIUM, _LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
_Row = tuple[str, Type, Any, Importance, Validator | None, str]

_CONNECTION: Final[tuple[_Row, ...]] = (
    (
        "client.dns.lookup",
        Type.STRING,
        "use_all_dns_ips",
        _MEDIUM,
        one_of("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
        "Whether a client tries every address that a broker's name resolves to, or expands the "
        "bootstrap names to canonical ones first.",
    ),
    (
        "metadata.max.age.ms",
        Type.LONG,
        300_000,
        _LOW,
        at_least(0),
        "Fetch the cluster's metadata again after this time even if nothing seems to have changed.",
    ),
    (
        "send.buffer.bytes",
        Type.INT,
        131_072,
        _MEDIUM,
        at_least(-1),
        "Size of the TCP send buffer; -1 leaves it to the operating system.",
    ),
    (
        "receive.buffer.bytes",
        Type.INT,
        32_768,
        _MEDIUM,
        at_least(-1),
        "Size of the TCP receive buffer; -1 leaves it to the operating system.",
    ),
    (
        "reconnect.backoff.ms",
        Type.LONG,
        50,
        _LOW,
        at_least(0),
        "First wait before a lost connection to a broker is tried again.",
    ),
    (
        "reconnect.backoff.max.ms",
        Type.LONG,
        1000,
        _LOW,
        at_least(0),
        "Longest wait between attempts to reach a broker that keeps failing.",
    ),
    (
        "socket.connection.setup.timeout.ms",
        Type.LONG,
        10_000,
        _LOW,
        at_least(0),
        "How long opening a connection may take at first.",
    ),
    (
        "socket.connection.setup.timeout.max.ms",
        Type.LONG,
        30_000,
        _LOW,
        at_least(0),
        "How long opening a connection may take after repeated failures.",
    ),
    (
        "retry.backoff.ms",
        Type.LONG,
        100,
        _LOW,
        at_least(0),
        "First wait before a failed request is sent again.",
    ),
    (
        "retry.backoff.max.ms",
        Type.LONG,
        1000,
        _LOW,
        at_least(0),
        "Longest wait between attempts of a request that keeps failing.",
    ),
    (
        "request.timeout.ms",
        Type.INT,
        40_000,
        _MEDIUM,
        at_least(0),
        "How long to wait for a broker's answer.",
    ),
    (
        "connections.max.idle.ms",
        Type.LONG,
        540_000,
        _MEDIUM,
        None,
        "Close connections that were idle for this long.",
    ),
    (
        "security.protocol",
        Type.STRING,
        "PLAINTEXT",
        _MEDIUM,
        one_of_ignoring_case("SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT"),
        "How to talk to brokers: in clear or over TLS, with or without SASL.",
    ),
    (
        "metadata.recovery.strategy",
        Type.STRING,
        "rebootstrap",
        _LOW,
        one_of_ignoring_case("REBOOTSTRAP", "NONE"),
        "What a client does when it can reach none of the brokers it knows: start again from "
        "bootstrap.servers, or fail.",
    ),
    (
        "metadata.recovery.rebootstrap.trigger.ms",
        Type.LONG,
        300_000,
        _LOW,
        at_least(0),
        "Start again from bootstrap.servers after this long without metadata.",
    ),
)

_SSL: Final[tuple[_Row, ...]] = (
    ("ssl.protocol", Type.STRING, "TLSv1.3", _MEDIUM, None, "The TLS version to begin with."),
    ("ssl.provider", Type.STRING, None, _MEDIUM, None, "Name of a Java security provider."),
    ("ssl.cipher.suites", Type.LIST, None, _LOW, None, "Cipher suites that may be used."),
    (
        "ssl.enabled.protocols",
        Type.LIST,
        ["TLSv1.2", "TLSv1.3"],
        _MEDIUM,
        None,
        "TLS versions that may be used.",
    ),
    ("ssl.keystore.type", Type.STRING, "JKS", _MEDIUM, None, "JKS, PKCS12 or PEM."),
    (
        "ssl.keystore.location",
        Type.STRING,
        None,
        _HIGH,
        None,
        "File with the client's own key and certificate, where the broker asks for one.",
    ),
    (
        "ssl.keystore.password",
        Type.PASSWORD,
        None,
        _HIGH,
        None,
        "Password of the key store file; PEM files have none.",
    ),
    (
        "ssl.key.password",
        Type.PASSWORD,
        None,
        _HIGH,
        None,
        "Password of the private key itself.",
    ),
    (
        "ssl.keystore.key",
        Type.PASSWORD,
        None,
        _HIGH,
        None,
        "The private key as PEM text instead of a file.",
    ),
    (
        "ssl.keystore.certificate.chain",
        Type.PASSWORD,
        None,
        _HIGH,
        None,
        "The certificate and its issuers as PEM text instead of a file.",
    ),
    (
        "ssl.truststore.certificates",
        Type.PASSWORD,
        None,
        _HIGH,
        None,
        "Trusted certificates as PEM text instead of a file.",
    ),
    ("ssl.truststore.type", Type.STRING, "JKS", _MEDIUM, None, "JKS, PKCS12 or PEM."),
    (
        "ssl.truststore.location",
        Type.STRING,
        None,
        _HIGH,
        None,
        "File with the certificates a broker's certificate is checked against.",
    ),
    (
        "ssl.truststore.password",
        Type.PASSWORD,
        None,
        _HIGH,
        None,
        "Password of the trust store file; without it the file's integrity is not checked.",
    ),
    (
        "ssl.keymanager.algorithm",
        Type.STRING,
        "SunX509",
        _LOW,
        None,
        "Java's algorithm for choosing keys.",
    ),
    (
        "ssl.trustmanager.algorithm",
        Type.STRING,
        "PKIX",
        _LOW,
        None,
        "Java's algorithm for checking certificates.",
    ),
    (
        "ssl.endpoint.identification.algorithm",
        Type.STRING,
        "https",
        _LOW,
        None,
        "https: the broker's certificate must carry its host name. Empty: it need not.",
    ),
    (
        "ssl.secure.random.implementation",
        Type.STRING,
        None,
        _LOW,
        None,
        "Java's source of randomness.",
    ),
    (
        "ssl.engine.factory.class",
        Type.STRING,
        None,
        _LOW,
        None,
        "A Java class that makes TLS engines.",
    ),
)

_SASL: Final[tuple[_Row, ...]] = (
    (
        "sasl.mechanism",
        Type.STRING,
        "GSSAPI",
        _MEDIUM,
        None,
        "How to authenticate: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, GSSAPI or OAUTHBEARER.",
    ),
    (
        "sasl.jaas.config",
        Type.PASSWORD,
        None,
        _MEDIUM,
        None,
        "The login module with user name and password, as one line ending in a semicolon.",
    ),
    (
        "sasl.client.callback.handler.class",
        Type.STRING,
        None,
        _MEDIUM,
        None,
        "A Java class that answers the mechanism's questions.",
    ),
    (
        "sasl.login.callback.handler.class",
        Type.STRING,
        None,
        _MEDIUM,
        None,
        "A Java class that answers the login's questions.",
    ),
    ("sasl.login.class", Type.STRING, None, _MEDIUM, None, "A Java class that logs in."),
    (
        "sasl.kerberos.service.name",
        Type.STRING,
        None,
        _MEDIUM,
        None,
        "The Kerberos name that the brokers run under.",
    ),
    (
        "sasl.kerberos.kinit.cmd",
        Type.STRING,
        "/usr/bin/kinit",
        _LOW,
        None,
        "The kinit command.",
    ),
    (
        "sasl.kerberos.ticket.renew.window.factor",
        Type.DOUBLE,
        0.8,
        _LOW,
        None,
        "The part of a ticket's life after which it is renewed.",
    ),
    (
        "sasl.kerberos.ticket.renew.jitter",
        Type.DOUBLE,
        0.05,
        _LOW,
        None,
        "Random part that is added to the time of renewal.",
    ),
    (
        "sasl.kerberos.min.time.before.relogin",
        Type.LONG,
        60_000,
        _LOW,
        None,
        "Wait at least this long between two logins.",
    ),
    (
        "sasl.login.refresh.window.factor",
        Type.DOUBLE,
        0.8,
        _LOW,
        between(0.5, 1.0),
        "The part of a credential's life after which it is refreshed.",
    ),
    (
        "sasl.login.refresh.window.jitter",
        Type.DOUBLE,
        0.05,
        _LOW,
        between(0.0, 0.25),
        "Random part that is added to the time of refresh.",
    ),
    (
        "sasl.login.refresh.min.period.seconds",
        Type.SHORT,
        60,
        _LOW,
        between(0, 900),
        "Wait at least this long before refreshing a credential.",
    ),
    (
        "sasl.login.refresh.buffer.seconds",
        Type.SHORT,
        300,
        _LOW,
        between(0, 3600),
        "Refresh this long before a credential ends, if the other settings allow it.",
    ),
    (
        "sasl.login.connect.timeout.ms",
        Type.INT,
        None,
        _LOW,
        None,
        "How long connecting to the identity provider may take.",
    ),
    (
        "sasl.login.read.timeout.ms",
        Type.INT,
        None,
        _LOW,
        None,
        "How long the identity provider's answer may take.",
    ),
    (
        "sasl.login.retry.backoff.max.ms",
        Type.LONG,
        10_000,
        _LOW,
        None,
        "Longest wait between attempts to log in.",
    ),
    (
        "sasl.login.retry.backoff.ms",
        Type.LONG,
        100,
        _LOW,
        None,
        "First wait between attempts to log in.",
    ),
)

_OAUTH: Final[tuple[_Row, ...]] = (
    ("jwt.retriever.class", Type.STRING, None, _MEDIUM, None, "A Java class that fetches tokens."),
    ("jwt.validator.class", Type.STRING, None, _MEDIUM, None, "A Java class that checks tokens."),
    ("scope", Type.STRING, None, _MEDIUM, None, "The scope to ask for."),
    ("client.credentials.client.id", Type.STRING, None, _MEDIUM, None, "The client's id."),
    ("client.credentials.client.secret", Type.PASSWORD, None, _MEDIUM, None, "Its secret."),
    (
        "assertion.algorithm",
        Type.STRING,
        "RS256",
        _MEDIUM,
        one_of_ignoring_case("ES256", "RS256"),
        "Algorithm that signs an assertion.",
    ),
    ("assertion.claim.aud", Type.STRING, None, _MEDIUM, None, "Audience of an assertion."),
    (
        "assertion.claim.exp.seconds",
        Type.INT,
        300,
        _LOW,
        between(0, 86_400),
        "How long an assertion is valid.",
    ),
    ("assertion.claim.iss", Type.STRING, None, _MEDIUM, None, "Issuer of an assertion."),
    (
        "assertion.claim.jti.include",
        Type.BOOLEAN,
        False,
        _MEDIUM,
        None,
        "Whether an assertion carries an id of its own.",
    ),
    (
        "assertion.claim.nbf.seconds",
        Type.INT,
        60,
        _LOW,
        between(0, 3600),
        "How far in the past an assertion begins to be valid.",
    ),
    ("assertion.claim.sub", Type.STRING, None, _MEDIUM, None, "Subject of an assertion."),
    ("assertion.file", Type.STRING, None, _MEDIUM, None, "File with a ready assertion."),
    ("assertion.private.key.file", Type.STRING, None, _MEDIUM, None, "File with its signing key."),
    (
        "assertion.private.key.passphrase",
        Type.PASSWORD,
        None,
        _MEDIUM,
        None,
        "Password of the signing key.",
    ),
    ("assertion.template.file", Type.STRING, None, _MEDIUM, None, "File with its fixed claims."),
    ("scope.claim.name", Type.STRING, "scope", _LOW, None, "The claim that has the scope."),
    ("sub.claim.name", Type.STRING, "sub", _LOW, None, "The claim that has the subject."),
    ("token.endpoint.url", Type.STRING, None, _MEDIUM, None, "Where tokens come from."),
    ("jwks.endpoint.url", Type.STRING, None, _MEDIUM, None, "Where the signing keys are."),
    (
        "jwks.endpoint.refresh.ms",
        Type.LONG,
        3_600_000,
        _LOW,
        None,
        "How often to fetch the signing keys.",
    ),
    (
        "jwks.endpoint.retry.backoff.max.ms",
        Type.LONG,
        10_000,
        _LOW,
        None,
        "Longest wait between attempts to fetch the signing keys.",
    ),
    (
        "jwks.endpoint.retry.backoff.ms",
        Type.LONG,
        100,
        _LOW,
        None,
        "First wait between attempts to fetch the signing keys.",
    ),
    ("clock.skew.seconds", Type.INT, 30, _LOW, None, "How far clocks may differ."),
    ("expected.audience", Type.LIST, None, _LOW, None, "Audiences a token may be for."),
    ("expected.issuer", Type.STRING, None, _LOW, None, "The issuer a token must have."),
    (
        "header.urlencode",
        Type.BOOLEAN,
        False,
        _LOW,
        None,
        "Whether id and secret are URL-encoded in the authorization header.",
    ),
)


def _key(row: _Row, prefix: str = "") -> ConfigKey:
    name, type_, default, importance, validator, doc = row
    return ConfigKey(
        name=prefix + name,
        type=type_,
        default=default,
        importance=importance,
        validator=validator,
        documentation=doc,
    )


CLIENT_KEYS: Final = ConfigDef.of(
    [
        *map(_key, (*_CONNECTION, *_SSL, *_SASL)),
        *(_key(row, "sasl.oauthbearer.") for row in _OAUTH),
    ]
)

#: Settings that name Java code or parts of the JVM; Python clients have nothing to run them with.
JAVA_ONLY: Final = frozenset(
    {
        "ssl.provider",
        "ssl.secure.random.implementation",
        "ssl.engine.factory.class",
        "sasl.client.callback.handler.class",
        "sasl.login.callback.handler.class",
        "sasl.login.class",
        "sasl.oauthbearer.jwt.retriever.class",
        "sasl.oauthbearer.jwt.validator.class",
    }
)
_OAUTH_PACKAGE: Final = "org.apache.kafka.common.security.oauthbearer."
#: Java code that Penstock's clients do the work of: a token for a client's id and secret.
OWN_LOGINS: Final = frozenset(
    f"{_OAUTH_PACKAGE}{name}"
    for name in (
        "OAuthBearerLoginCallbackHandler",
        "secured.OAuthBearerLoginCallbackHandler",
        "DefaultJwtRetriever",
        "ClientCredentialsJwtRetriever",
        "DefaultJwtValidator",
        "ClientJwtValidator",
    )
)
