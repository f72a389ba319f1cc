"""Making clients of the two libraries out of Java properties."""

from __future__ import annotations

import base64
import json
import logging
import threading
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.error import HTTPError

import confluent_kafka
import confluent_kafka.admin
from kafka import KafkaAdminClient
from kafka.errors import KafkaTimeoutError
from kafka.net.sasl.oauth import AbstractTokenProvider

from penstock.clock import Clock, SystemClock
from penstock.errors import ConfigError, RetriableError, SetupError
from penstock.kafka.clients.failures import librdkafka_failure, python_failure
from penstock.kafka.clients.logs import LIBRDKAFKA, quieten
from penstock.kafka.options import Role, kafka_python_settings, librdkafka_settings
from penstock.kafka.security import OAuth
from penstock.tls import librdkafka_tls, ssl_context

log = logging.getLogger(__name__)
_TOKEN_SECONDS: Final = 10.0


def warn_unsupported(client: str, unsupported: tuple[str, ...]) -> None:
    """Say which properties this client can't honour; by name, never by value."""
    if unsupported:
        log.warning("Properties without effect on %s: %s", client, ", ".join(unsupported))


def rd_consumer(
    properties: Mapping[str, str],
    fixed: Mapping[str, Any],
    on_error: Callable[[confluent_kafka.KafkaError], None],
) -> Any:
    """A confluent-kafka Consumer; `fixed` wins over the properties."""
    return _rd_client(confluent_kafka.Consumer, properties, Role.CONSUMER, fixed, on_error)


def rd_producer(
    properties: Mapping[str, str],
    fixed: Mapping[str, Any],
    on_error: Callable[[confluent_kafka.KafkaError], None],
) -> Any:
    """A confluent-kafka Producer; `fixed` wins over the properties."""
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
    settings = kafka_python_settings(properties, Role.ADMIN)
    warn_unsupported("the administration client", settings.unsupported)
    values = dict(settings.values)
    if settings.tls is not None:
        values["ssl_context"] = ssl_context(settings.tls)
    if settings.oauth is not None:
        tokens = ClientCredentials(settings.oauth)
        # If there is none, the library would tell no more than that no broker answered.
        tokens.token()
        values["sasl_oauth_token_provider"] = tokens
    values["bootstrap_timeout_ms"] = max(1, int(bootstrap_seconds * 1000))
    where = properties.get("bootstrap.servers", "localhost")
    try:
        return KafkaAdminClient(**values)
    except KafkaTimeoutError as error:
        raise RetriableError(
            f"no broker answered at {where}; is Kafka running there, and do security.protocol, "
            "sasl.* and ssl.* fit it?"
        ) from error
    except Exception as error:
        raise python_failure(error, f"connecting to Kafka at {where}") from error


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
        form = {"grant_type": "client_credentials"}
        if self._oauth.scope:
            form["scope"] = self._oauth.scope
        pair = f"{self._oauth.client_id}:{self._oauth.client_secret}".encode()
        request = urllib.request.Request(  # noqa: S310 - the user's own setting
            self._oauth.token_url,
            data=urllib.parse.urlencode(form).encode(),
            headers={"Authorization": f"Basic {base64.b64encode(pair).decode()}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=_TOKEN_SECONDS) as response:  # noqa: S310
                answer = json.load(response)
        except (OSError, ValueError) as error:
            refused = isinstance(error, HTTPError) and error.code < HTTPStatus.INTERNAL_SERVER_ERROR
            raise (SetupError if refused else RetriableError)(
                f"no OAuth token from {self._oauth.token_url}: {error}; look at "
                "sasl.oauthbearer.token.endpoint.url, clientId and clientSecret"
            ) from error
        if not isinstance(answer, dict) or "access_token" not in answer:
            raise SetupError(f"{self._oauth.token_url} answered without an access_token")
        return answer
