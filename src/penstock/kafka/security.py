"""Translates Java's security.* and sasl.* properties for the Python clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from penstock.kafka.client_keys import OAUTH_PACKAGE
from penstock.kafka.jaas import LoginModule, parse_jaas
from penstock.kernel.config.prefix import under_prefix
from penstock.kernel.config.values import invalid
from penstock.machine.tls import Tls, tls_of


@dataclass(frozen=True, slots=True)
class OAuth:
    """Client credentials of an OAuth token endpoint."""

    token_url: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str | None = None
    extensions: Mapping[str, str] = field(default_factory=dict)


SASL_KEYS: Final = frozenset({
    "sasl.jaas.config", "sasl.mechanism", "sasl.kerberos.service.name",
    "sasl.oauthbearer.token.endpoint.url", "sasl.oauthbearer.scope.claim.name",
    "sasl.login.callback.handler.class", "security.protocol",
})  # fmt: skip

#: Java classes that this module replaces: they get a token for a client's id and secret.
OWN_LOGINS: Final = frozenset(
    f"{OAUTH_PACKAGE}{name}"
    for name in (
        "OAuthBearerLoginCallbackHandler",
        "secured.OAuthBearerLoginCallbackHandler",
        "DefaultJwtRetriever",
        "ClientCredentialsJwtRetriever",
        "DefaultJwtValidator",
        "ClientJwtValidator",
    )
)


@dataclass(frozen=True, slots=True)
class Security:
    """The settings of each library, including secrets."""

    librdkafka: dict[str, Any] = field(default_factory=dict, repr=False)
    kafka_python: dict[str, Any] = field(default_factory=dict, repr=False)
    tls: Tls | None = None
    oauth: OAuth | None = None


def security_of(properties: Mapping[str, str]) -> Security:
    protocol = properties.get("security.protocol", "PLAINTEXT").strip().upper()
    if protocol not in ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"):
        raise invalid("security.protocol", protocol, "must be a protocol of Kafka")
    security = Security(
        {"security.protocol": protocol.lower()},
        {"security_protocol": protocol},
        tls_of(properties) if protocol.endswith("SSL") else None,
    )
    return _with_sasl(security, properties) if protocol.startswith("SASL") else security


def _with_sasl(security: Security, properties: Mapping[str, str]) -> Security:
    mechanism = properties.get("sasl.mechanism", "GSSAPI").strip().upper()
    jaas = properties.get("sasl.jaas.config")
    module = parse_jaas(jaas) if jaas else LoginModule("", {})
    login = _LOGINS.get(mechanism)
    if login is None:
        raise invalid("sasl.mechanism", mechanism, f"String must be one of: {', '.join(_LOGINS)}")
    added = login(module, properties)
    return Security(
        {**security.librdkafka, "sasl.mechanism": mechanism, **added.librdkafka},
        {**security.kafka_python, "sasl_mechanism": mechanism, **added.kafka_python},
        security.tls,
        added.oauth,
    )


def _password_login(module: LoginModule, _: Mapping[str, str]) -> Security:
    name, secret = (_required(module, option) for option in ("username", "password"))
    return Security(
        {"sasl.username": name, "sasl.password": secret},
        {"sasl_plain_username": name, "sasl_plain_password": secret},
    )


def _kerberos_login(module: LoginModule, properties: Mapping[str, str]) -> Security:
    service = properties.get("sasl.kerberos.service.name") or module.options.get("serviceName")
    wanted = {
        "sasl.kerberos.service.name": service or "kafka",
        "sasl.kerberos.principal": module.options.get("principal"),
        "sasl.kerberos.keytab": module.options.get("keyTab"),
    }
    librdkafka = {key: value for key, value in wanted.items() if value}
    return Security(librdkafka, {"sasl_kerberos_service_name": service or "kafka"})


def _oauth_login(module: LoginModule, properties: Mapping[str, str]) -> Security:
    url = properties.get("sasl.oauthbearer.token.endpoint.url")
    if not url:
        raise invalid("sasl.oauthbearer.token.endpoint.url", None, "is needed for OAUTHBEARER")
    oauth = OAuth(
        url,
        _required(module, "clientId"),
        _required(module, "clientSecret"),
        module.options.get("scope"),
        under_prefix(module.options, "extension_"),
    )
    librdkafka = {
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.oauthbearer.client.id": oauth.client_id,
        "sasl.oauthbearer.client.secret": oauth.client_secret,
        **({"sasl.oauthbearer.scope": oauth.scope} if oauth.scope else {}),
    }
    if oauth.extensions:
        pairs = ",".join(f"{key}={value}" for key, value in oauth.extensions.items())
        librdkafka["sasl.oauthbearer.extensions"] = pairs
    return Security(librdkafka, oauth=oauth)


_LOGINS: Final[Mapping[str, Callable[[LoginModule, Mapping[str, str]], Security]]] = {
    "PLAIN": _password_login,
    "SCRAM-SHA-256": _password_login,
    "SCRAM-SHA-512": _password_login,
    "OAUTHBEARER": _oauth_login,
    "GSSAPI": _kerberos_login,
}


def _required(module: LoginModule, option: str) -> str:
    if option not in module.options:
        rule = f"the login module {module.kind or '(none)'} needs the option {option}"
        raise invalid("sasl.jaas.config", "[hidden]", rule)
    return module.options[option]
