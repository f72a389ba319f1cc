"""The registry's client against a small HTTP server that answers as it is told."""

from __future__ import annotations

import base64
import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from penstock.codecs.registry.client import RegistryClient, RegistrySchema
from penstock.converters.avro.converter import AvroConverter, AvroConverterConfig
from penstock.kernel.errors import ConfigError, DataError, PluginError, ServiceAwayError
from penstock.machine.free_ports import free_port

Answer = tuple[int, Any]


class Server:
    """Answers requests by path, and remembers their headers and bodies."""

    def __init__(
        self, answers: dict[str, Answer], user: str | None, tls: ssl.SSLContext | None
    ) -> None:
        self.seen: list[tuple[str, str, dict[str, str], Any]] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler(answers, user))
        self._http.daemon_threads = True
        if tls is not None:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @contextmanager
    def running(self) -> Iterator[Server]:
        self._thread.start()
        yield self
        self._http.shutdown()
        self._http.server_close()

    def _handler(self, answers: dict[str, Answer], user: str | None) -> type:
        seen = self.seen

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(size)) if size else None
                seen.append((self.command, self.path, dict(self.headers), body))
                status, answer = answers.get(
                    self.path, (404, {"error_code": 40401, "message": "no"})
                )
                if user is not None and self.headers.get("Authorization") != user:
                    status, answer = 401, {"error_code": 401, "message": "Who are you?"}
                data = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_GET  # noqa: N815 - the name that http.server asks for

            def log_message(self, *_: Any) -> None: ...

        return Handler


@contextmanager
def server(
    answers: dict[str, Answer], user: str | None = None, tls: ssl.SSLContext | None = None
) -> Iterator[Server]:
    with Server(answers, user, tls).running() as found:
        yield found


def client(*urls: str, **keys: str) -> RegistryClient:
    given = {name.replace("_", "."): value for name, value in keys.items()}
    return RegistryClient(
        AvroConverterConfig.parse(
            {"converter.type": "value", "schema.registry.url": ",".join(urls), **given}
        )
    )


STRING = {"/schemas/ids/7": (200, {"schema": '"string"'})}
BASIC = "Basic " + base64.b64encode(b"me:s:ecret").decode()


def test_the_user_stands_in_the_key_or_in_the_url() -> None:
    with server(STRING, BASIC) as found:
        source = {"basic_auth_credentials_source": "USER_INFO"}
        assert client(found.url, basic_auth_user_info="me:s:ecret", **source).by_id(7).text
        older = {"schema_registry_basic_auth_user_info": "me:s:ecret"}
        assert client(found.url, **older, **source).by_id(7).text == '"string"'
        inside = found.url.replace("//", "//me:s%3Aecret@")
        assert client(inside).by_id(7).text == '"string"'
        with pytest.raises(ConfigError, match="Who are you") as refused:
            client(found.url.replace("//", "//me:wrong@")).by_id(7)
    assert "wrong" not in str(refused.value)


def test_a_token_is_sent() -> None:
    with server(STRING, "Bearer abc") as found:
        assert client(found.url, bearer_auth_token="abc").by_id(7).text == '"string"'


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private key and its certificate in one PEM file."""
    directory = tmp_path_factory.mktemp("tls")
    key, own, both = (directory / name for name in ("k.pem", "c.pem", "both.pem"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", own,
         "-days", "1", "-subj", "/CN=registry", "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    both.write_text(key.read_text() + own.read_text())
    return both


def test_tls_with_a_certificate_on_both_sides(certificate: Path) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(certificate))
    context.load_cert_chain(certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    trust = {
        "schema_registry_ssl_truststore_location": str(certificate),
        "schema_registry_ssl_truststore_type": "PEM",
    }
    own = {
        "schema_registry_ssl_keystore_location": str(certificate),
        "schema_registry_ssl_keystore_type": "PEM",
    }
    with server(STRING, tls=context) as found:
        assert client(found.url, **trust, **own).by_id(7).text == '"string"'
        with pytest.raises(ServiceAwayError):
            client(found.url, **trust).by_id(7)
        with pytest.raises(ConfigError, match=r"certificate.*ssl\.truststore"):
            client(found.url, **own).by_id(7)


def test_a_registry_that_does_not_answer_is_away() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ServiceAwayError, match="timed out"):
            client(url, http_read_timeout_ms="200").by_id(7)


def test_the_next_address_is_asked_when_one_is_away_or_in_trouble() -> None:
    with server({"/schemas/ids/7": (503, "down")}) as ill, server(STRING) as well:
        dead = f"http://127.0.0.1:{free_port()}"
        asked = client(dead, ill.url, well.url)
        assert asked.by_id(7).text == '"string"'
        assert asked.by_id(7).text == '"string"'
        assert len(ill.seen) == 1, "the one that answered is asked first"
        with pytest.raises(ServiceAwayError, match=r"does not answer.*id 7.*refused.*HTTP 503"):
            client(dead, ill.url).by_id(7)


def test_refusals_have_the_words_of_the_registry() -> None:
    schema = RegistrySchema("AVRO", '"int"')
    answers: dict[str, Answer] = {
        "/subjects/a%2Fb-value/versions": (409, {"error_code": 409, "message": "Not compatible"}),
        "/subjects/s": (404, {"error_code": 40403, "message": "Schema not found"}),
        "/schemas/ids/1": (200, "<html>"),
    }
    with server(answers) as found:
        asked = client(found.url)
        with pytest.raises(DataError, match=r"subject a/b-value: Not compatible \(error code 409"):
            asked.register("a/b-value", schema)
        with pytest.raises(DataError, match=r"subject s .*auto\.register.*Schema not found"):
            asked.lookup("s", schema)
        with pytest.raises(DataError, match=r"id 2: no \(error code 40401\)"):
            asked.by_id(2)
        with pytest.raises(ConfigError, match=r"check schema\.registry\.url"):
            asked.by_id(1)
        assert found.seen[0][3] == {"schema": '"int"'}


def test_references_come_with_the_schema_that_has_them() -> None:
    inner = {"name": "p.P", "subject": "points", "version": 2}
    answers: dict[str, Answer] = {
        "/schemas/ids/7": (
            200,
            {"schema": '{"type":"array","items":"p.P"}', "references": [inner]},
        ),
        "/subjects/points/versions/2?deleted=true": (200, {"schema": '{"type":"x"}'}),
    }
    with server(answers) as found:
        schema = client(found.url).by_id(7)
        (reference,) = schema.references
        assert (reference.name, reference.version, reference.schema.text) == (
            "p.P",
            2,
            '{"type":"x"}',
        )
        with pytest.raises(DataError):
            client(found.url, normalize_schemas="true").register("s", schema)
        body = found.seen[-1]
        assert body[1] == "/subjects/s/versions?normalize=true"
        assert body[3]["references"] == [inner]


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("schema.registry.url", "", "schema.registry.url"),
        ("schema.registry.url", "http://a:1,localhost:8081", "must be http://host:port"),
        ("basic.auth.credentials.source", "SASL_INHERIT", "must be one of: URL, USER_INFO"),
        ("value.subject.name.strategy", "com.acme.Mine", "must be one of TopicNameStrategy"),
        ("use.latest.with.metadata", "a=b", "not supported"),
        ("latest.cache.ttl.sec", "60", "must be -1"),
        ("context.name.strategy", "com.acme.Mine", "contexts are not supported"),
        ("flatten.unions", "true", "no such form"),
    ],
)
def test_keys_that_can_not_be_honoured_are_refused(key: str, value: str, words: str) -> None:
    props = {"converter.type": "value", "schema.registry.url": "http://localhost", key: value}
    with pytest.raises(ConfigError, match=words):
        AvroConverterConfig.parse(props)


def test_an_address_that_is_none_is_refused_without_its_password() -> None:
    with pytest.raises(ConfigError, match="http://host:port") as refused:
        client("ftp://me:secret@localhost")
    assert "secret" not in str(refused.value)


def test_secrets_are_not_shown() -> None:
    config = AvroConverterConfig.parse(
        {
            "converter.type": "value",
            "schema.registry.url": "http://localhost",
            "basic.auth.credentials.source": "USER_INFO",
            "basic.auth.user.info": "me:secret",
        }
    )
    assert "secret" not in repr(config) + repr(RegistryClient(config)._bases)


def test_a_converter_must_know_the_topic() -> None:
    converter = AvroConverter(
        AvroConverterConfig.parse(
            {"converter.type": "value", "schema.registry.url": "http://localhost"}
        )
    )
    with pytest.raises(PluginError, match="encode_one_for"):
        converter.encode_one(None, 5)
    assert converter.encode_one_for("t", None, None) is None
