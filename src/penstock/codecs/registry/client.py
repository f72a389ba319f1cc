"""A client of the Schema Registry's REST API. Only the driver talks to it, when it plans."""

from __future__ import annotations

import base64
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from penstock.codecs.registry.address import address_of
from penstock.codecs.registry.config import RegistryConfig, tls_properties
from penstock.kernel.errors import ConfigError, DataError, ServiceAwayError
from penstock.machine.tls import ssl_context, tls_of

if TYPE_CHECKING:
    import httpx

#: What stands in front of the data of a message: a zero, and the id of its schema.
HEAD_SIZE: Final = 5
_MEDIA_TYPE: Final = "application/vnd.schemaregistry.v1+json"
#: Temporary errors: too many requests, or a server that is overloaded or unreachable.
_PASSING: Final = frozenset({408, 429, 500, 502, 503, 504})
_DENIED: Final = frozenset({401, 403, 407})
_DEEPEST: Final = 32


@dataclass(frozen=True, slots=True)
class Reference:
    """Another schema that a schema builds on, under the name it uses for it."""

    name: str
    subject: str
    version: int
    schema: RegistrySchema


@dataclass(frozen=True, slots=True)
class RegistrySchema:
    """A schema as a registry keeps it. `type` is AVRO, PROTOBUF or JSON.

    `part` is what messages say behind the id, of a schema that describes several kinds of data.
    """

    type: str
    text: str
    references: tuple[Reference, ...] = ()
    part: bytes = b""

    def referred(self) -> dict[str, str]:
        """The texts of all schemas it builds on, by the names they are called by."""
        texts: dict[str, str] = {}
        for each in self.references:
            texts |= {each.name: each.schema.text} | each.schema.referred()
        return texts


@dataclass(frozen=True, slots=True)
class Registered:
    """A schema and the id that stands for it in records."""

    id: int
    schema: RegistrySchema

    @property
    def tag(self) -> bytes:
        """What stands in front of the data: a zero, and the id in four bytes."""
        return b"\0" + self.id.to_bytes(4, "big")


class RegistryClient:
    """Asks one of several addresses, the last that answered first. Threads may share it.

    All methods raise:
        ServiceAwayError: no address answers, or they are in trouble.
        ConfigError: the registry refuses the login, or the address is not that of a registry.
        DataError: the registry refuses this very request; the text has its own words.
    """

    def __init__(self, config: RegistryConfig) -> None:
        self._config = config
        self._bases = [_base(url, config) for url in config.schema_registry_url]
        self._lock = threading.Lock()
        self._http: httpx.Client | None = None
        self._first = 0

    def register(self, subject: str, schema: RegistrySchema) -> int:
        """The id of the schema, which is registered under the subject if it was not yet."""
        what = f"register a schema under subject {subject}"
        path = f"subjects/{_quoted(subject)}/versions{self._normalize}"
        return int(self._ask("POST", path, what, _body(schema))["id"])

    def lookup(self, subject: str, schema: RegistrySchema) -> int:
        """The id of a schema that is registered under the subject."""
        what = f"find the schema under subject {subject} (auto.register.schemas is false)"
        path = f"subjects/{_quoted(subject)}{self._normalize}"
        return int(self._ask("POST", path, what, _body(schema))["id"])

    def by_id(self, number: int) -> RegistrySchema:
        answer = self._ask("GET", f"schemas/ids/{number}", f"find the schema with id {number}")
        return self._complete(answer, _DEEPEST)

    def latest(self, subject: str) -> Registered:
        """The latest version of a subject."""
        path = f"subjects/{_quoted(subject)}/versions/latest"
        answer = self._ask("GET", path, f"find the latest version of subject {subject}")
        return Registered(int(answer["id"]), self._complete(answer, _DEEPEST))

    @property
    def _normalize(self) -> str:
        return "?normalize=true" if self._config.normalize_schemas else ""

    def _complete(self, answer: Mapping[str, Any], depth: int) -> RegistrySchema:
        if not depth:
            raise DataError("A schema in the registry refers to others without an end")
        references = tuple(
            self._reference(each, depth - 1) for each in answer.get("references") or ()
        )
        return RegistrySchema(answer.get("schemaType") or "AVRO", answer["schema"], references)

    def _reference(self, found: Mapping[str, Any], depth: int) -> Reference:
        subject, version = found["subject"], int(found["version"])
        path = f"subjects/{_quoted(subject)}/versions/{version}?deleted=true"
        answer = self._ask("GET", path, f"find version {version} of subject {subject}")
        return Reference(found["name"], subject, version, self._complete(answer, depth))

    def _ask(self, method: str, path: str, what: str, body: Any = None) -> dict[str, Any]:
        import httpx

        failures: list[str] = []
        untrusted = True
        for number in self._order():
            base = self._bases[number]
            try:
                response = self._client().request(
                    method, f"{base.url}/{path}", json=body, headers=base.headers
                )
            except httpx.HTTPError as error:
                failures.append(f"{base.url}: {str(error) or type(error).__name__}")
                untrusted = untrusted and _is_untrusted(error)
                continue
            untrusted = False
            if response.status_code in _PASSING:
                failures.append(f"{base.url}: {_words(response)}")
                continue
            self._first = number
            return _answer(response, base.url, what, "schema" if body is None else "id")
        reasons = "; ".join(failures)
        if untrusted:
            raise ConfigError(f"{reasons}. See schema.registry.ssl.truststore.location")
        raise ServiceAwayError(f"The schema registry does not answer; can't {what}. {reasons}")

    def _order(self) -> list[int]:
        numbers = range(len(self._bases))
        return [*numbers[self._first :], *numbers[: self._first]]

    def _client(self) -> httpx.Client:
        import httpx

        config = self._config
        with self._lock:
            if self._http is None:
                self._http = httpx.Client(
                    timeout=httpx.Timeout(
                        config.http_read_timeout_ms / 1000,
                        connect=config.http_connect_timeout_ms / 1000,
                    ),
                    verify=ssl_context(tls_of(tls_properties(config))),
                    proxy=f"http://{config.proxy_host}:{config.proxy_port}"
                    if config.proxy_host
                    else None,
                    trust_env=False,
                )
            return self._http


@dataclass(frozen=True, slots=True)
class _Base:
    """An address, and what every request to it carries."""

    url: str
    headers: Mapping[str, str] = field(repr=False)


def _base(url: str, config: RegistryConfig) -> _Base:
    address = address_of(url)
    headers = {"Accept": f"{_MEDIA_TYPE}, application/json"}
    if authorization := _authorization(config, address.user):
        headers["Authorization"] = authorization
    return _Base(address.url, headers)


def _authorization(config: RegistryConfig, of_url: str) -> str | None:
    if token := config.bearer_auth_token.value:
        return f"Bearer {token}"
    info = of_url
    if config.basic_auth_credentials_source == "USER_INFO":
        info = config.basic_auth_user_info.value
        info = info or config.schema_registry_basic_auth_user_info.value
        if ":" not in info:
            message = "basic.auth.user.info must be user:password"
            raise ConfigError(message, {"basic.auth.user.info": (message,)})
    return f"Basic {base64.b64encode(info.encode()).decode()}" if info else None


def _is_untrusted(error: BaseException | None) -> bool:
    """Whether a certificate was refused, somewhere behind the error: waiting does not help."""
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error is not None


def _answer(response: httpx.Response, url: str, what: str, wanted: str) -> dict[str, Any]:
    """The registry's answer; raises errors by what can be done about them."""
    if response.status_code in _DENIED:
        raise ConfigError(
            f"The schema registry at {url} does not allow us to {what}: {_words(response)}. See"
            " basic.auth.user.info or bearer.auth.token"
        )
    answer = _json(response)
    if response.is_success and isinstance(answer, dict) and wanted in answer:
        return answer
    if isinstance(answer, dict) and "error_code" in answer:
        raise DataError(f"The schema registry can't {what}: {_words(response)}")
    raise ConfigError(
        f"{url} does not answer as a schema registry does ({_words(response)}); check"
        " schema.registry.url"
    )


def _json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return None


def _words(response: httpx.Response) -> str:
    answer = _json(response)
    if isinstance(answer, dict) and "message" in answer:
        code = answer.get("error_code", response.status_code)
        return f"{answer['message']} (error code {code})"
    return f"HTTP {response.status_code} {response.reason_phrase}".strip()


def _body(schema: RegistrySchema) -> dict[str, Any]:
    body: dict[str, Any] = {"schema": schema.text}
    if schema.type != "AVRO":
        body["schemaType"] = schema.type
    if schema.references:
        body["references"] = [
            {"name": each.name, "subject": each.subject, "version": each.version}
            for each in schema.references
        ]
    return body


def _quoted(subject: str) -> str:
    return quote(subject, safe="")
