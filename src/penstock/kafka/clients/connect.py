"""Makes clients of the two libraries from Java properties."""

from __future__ import annotations

import logging
import ssl
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

import confluent_kafka
import confluent_kafka.admin
from kafka import KafkaAdminClient
from kafka.errors import KafkaTimeoutError
from kafka.net.sasl.oauth import AbstractTokenProvider

from penstock.kafka.client_keys import Role
from penstock.kafka.clients.failures import librdkafka_failure, python_failure
from penstock.kafka.clients.logs import LIBRDKAFKA, quieten
from penstock.kafka.options import kafka_python_settings, librdkafka_settings
from penstock.kafka.security import OAuth
from penstock.kernel.clock import Clock, SystemClock
from penstock.kernel.errors import ConfigError, RetriableError, SetupError
from penstock.machine.tls import librdkafka_tls, ssl_context

log = logging.getLogger(__name__)
_TOKEN_SECONDS: Final = 10.0


def warn_unsupported(client: str, unsupported: tuple[str, ...]) -> None:
    """Log which properties this client can't use; by name, never by value."""
    if unsupported:
        log.warning("Properties without effect on %s: %s", client, ", ".join(unsupported))


def rd_consumer(
    properties: Mapping[str, str],
    fixed: Mapping[str, Any],
    on_error: Callable[[confluent_kafka.KafkaError], None],
) -> Any:
    """A confluent-kafka Consumer; `fixed` overrides the properties."""
    return _rd_client(confluent_kafka.Consumer, properties, Role.CONSUMER, fixed, on_error)


def rd_producer(
    properties: Mapping[str, str],
    fixed: Mapping[str, Any],
    on_error: Callable[[confluent_kafka.KafkaError], None],
) -> Any:
    """A confluent-kafka Producer; `fixed` overrides the properties."""
    return _rd_client(confluent_kafka.Producer, properties, Role.PRODUCER, fixed, on_error)


def rd_admin(
    properties: Mapping[str, str],
    fixed: Mapping[str, Any],
    on_error: Callable[[confluent_kafka.KafkaError], None],
) -> Any:
    """A confluent-kafka AdminClient, for what kafka-python can't do."""
    kind = confluent_kafka.admin.AdminClient
    return _rd_client(kind, properties, Role.ADMIN, fixed, on_error)


def _rd_client(
    kind: Callable[..., Any],
    properties: Mapping[str, str],
    role: Role,
    fixed: Mapping[str, Any],
    on_error: Callable[[confluent_kafka.KafkaError], None],
) -> Any:
    quieten()
    settings = librdkafka_settings(properties, role)
    warn_unsupported(f"a Kafka {role.value}", settings.unsupported)
    tls = librdkafka_tls(settings.tls) if settings.tls is not None else {}
    common = {"log.connection.close": False, "error_cb": on_error}
    try:
        return kind({**common, **settings.values, **tls, **fixed}, logger=LIBRDKAFKA)
    except confluent_kafka.KafkaException as error:
        failure = librdkafka_failure(error, f"making a Kafka {role.value}")
        raise failure from error
    except (TypeError, ValueError) as error:
        raise ConfigError(f"making a Kafka {role.value}: {error}") from error


def python_admin(properties: Mapping[str, str], bootstrap_seconds: float) -> KafkaAdminClient:
    """A connected KafkaAdminClient. Blocks until a broker answered."""
    quieten()
    settings = kafka_python_settings(properties)
    warn_unsupported("the administration client", settings.unsupported)
    values = dict(settings.values)
    if settings.tls is not None:
        values["ssl_context"] = ssl_context(settings.tls)
    if settings.oauth is not None:
        tokens = ClientCredentials(settings.oauth)
        # Without this, the library's error would only be that no broker answered.
        tokens.token()
        values["sasl_oauth_token_provider"] = tokens
    values["bootstrap_timeout_ms"] = max(1, int(bootstrap_seconds * 1000))
    where = properties.get("bootstrap.servers", "localhost")
    try:
        return KafkaAdminClient(**values)
    except KafkaTimeoutError as error:
        raise RetriableError(no_answer(where)) from error
    except Exception as error:
        raise python_failure(error, f"connecting to Kafka at {where}") from error


def no_answer(where: str) -> str:
    """The message about brokers that do not answer."""
    return (
        f"the broker at {where} does not answer; check that Kafka is running there, and "
        "security.protocol, sasl.* and ssl.*"
    )


class ClientCredentials(AbstractTokenProvider):  # type: ignore[misc]
    """Tokens of an OAuth endpoint, each used until shortly before it expires."""

    def __init__(self, oauth: OAuth, clock: Clock | None = None) -> None:
        super().__init__()
        self._oauth = oauth
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._token = ""
        self._renew_at = 0.0

    def token(self) -> str:
        with self._lock:
            if not self._token or self._clock.now() >= self._renew_at:
                answer = self._ask()
                self._token = str(answer["access_token"])
                # Java renews at 80 % of the life time.
                self._renew_at = self._clock.now() + 0.8 * float(answer.get("expires_in", 300))
            return self._token

    def extensions(self) -> dict[str, str]:
        return dict(self._oauth.extensions)

    def _ask(self) -> dict[str, Any]:
        import httpx

        try:
            response = httpx.post(
                self._oauth.token_url,
                data=self._form(),
                auth=(self._oauth.client_id, self._oauth.client_secret),
                timeout=_TOKEN_SECONDS,
                follow_redirects=True,
                # The authorities that this machine trusts, not those of httpx.
                verify=ssl.create_default_context(),
            )
            if response.is_error:
                failure = RetriableError if response.is_server_error else SetupError
                raise failure(self._no_token(f"HTTP {response.status_code}"))
            answer = response.json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise RetriableError(self._no_token(str(error))) from error
        if not isinstance(answer, dict) or "access_token" not in answer:
            raise SetupError(f"{self._oauth.token_url} answered without an access_token")
        return answer

    def _form(self) -> dict[str, str]:
        scope = {"scope": self._oauth.scope} if self._oauth.scope else {}
        return {"grant_type": "client_credentials", **scope}

    def _no_token(self, reason: str) -> str:
        return (
            f"no OAuth token from {self._oauth.token_url}: {reason}; check "
            "sasl.oauthbearer.token.endpoint.url, clientId and clientSecret"
        )
