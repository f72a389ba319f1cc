"""A broker that insists on a login, and Java's properties for each kind of login, as users have."""

from __future__ import annotations

import base64
import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from penstock.machine.embedded_kafka import EmbeddedKafka
from penstock.machine.free_ports import free_port

PASSWORD = 'it\'s "x";='
_JAVA_QUOTED = PASSWORD.replace("\\", "\\\\").replace('"', '\\"')
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
SCRAM_MECHANISMS = {
    "SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256,
    "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512,
}
LOGINS = ["PLAIN", *SCRAM_MECHANISMS, "OAUTHBEARER", "certificate"]


@dataclass(frozen=True)
class Secured:
    sasl_ssl: str
    ssl: str
    directory: Path
    tokens: str


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def _certificates(at: Path) -> None:
    """An authority, and one identity signed by it for the broker and its clients."""
    at.mkdir()
    _openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=ca",
             "-keyout", at / "ca.key", "-out", at / "ca.pem")  # fmt: skip
    _openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=node", "-keyout", at / "k.pem",
             "-out", at / "csr.pem")  # fmt: skip
    (at / "ext").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    _openssl("x509", "-req", "-in", at / "csr.pem", "-CA", at / "ca.pem", "-CAkey", at / "ca.key",
             "-CAcreateserial", "-days", "2", "-extfile", at / "ext",
             "-out", at / "c.pem")  # fmt: skip
    (at / "identity.pem").write_text((at / "k.pem").read_text() + (at / "c.pem").read_text())


@contextmanager
def secured_broker(directory: Path) -> Iterator[Secured]:
    """A broker, and an endpoint for tokens, with what they need in the directory."""
    certificates = directory / "tls"
    _certificates(certificates)
    plain, controller, sasl_ssl, ssl = (free_port() for _ in range(4))
    host = "127.0.0.1"
    open_ = f"PLAINTEXT://{host}:{plain}"
    closed = f"SASL_SSL://{host}:{sasl_ssl},SSL://{host}:{ssl}"
    jaas = f'{PLAIN} required username="a" password="a" user_alice="{_JAVA_QUOTED}";'
    properties = {
        "listeners": f"{open_},{closed},CONTROLLER://{host}:{controller}",
        "advertised.listeners": f"{open_},{closed}",
        "listener.security.protocol.map": (
            "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL"
        ),
        "sasl.enabled.mechanisms": ",".join(["PLAIN", *SCRAM_MECHANISMS, "OAUTHBEARER"]),
        # A .properties file has escapes of its own.
        "listener.name.sasl_ssl.plain.sasl.jaas.config": jaas.replace("\\", "\\\\"),
        **{
            f"listener.name.sasl_ssl.{name.lower()}.sasl.jaas.config": f"{SCRAM} required;"
            for name in SCRAM_MECHANISMS
        },
        # A broker takes tokens without a signature unless it is told whose to look for.
        "listener.name.sasl_ssl.oauthbearer.sasl.jaas.config": (
            f'{OAUTH} required unsecuredLoginStringClaim_sub="node";'
        ),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificates / "identity.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificates / "ca.pem"),
        "listener.name.ssl.ssl.client.auth": "required",
    }
    node = EmbeddedKafka(
        directory / "broker",
        port=plain,
        controller_port=controller,
        properties=properties,
    )
    with node, _token_endpoint() as tokens:
        _add_scram_users(node.bootstrap_servers)
        yield Secured(f"{host}:{sasl_ssl}", f"{host}:{ssl}", certificates, tokens)


@contextmanager
def _token_endpoint() -> Iterator[str]:
    """Gives whoever is `alice` and knows the password a token for an hour."""
    known = base64.b64encode(b"alice:secret").decode()

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            ok = self.headers["authorization"] == f"Basic {known}"
            answer = {"access_token": _token("alice"), "expires_in": 3600} if ok else {}
            body = json.dumps(answer).encode()
            self.send_response(200 if ok else 401)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", free_port()), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/token"
    server.shutdown()
    server.server_close()


def _token(subject: str) -> str:
    now = int(time.time())
    parts = {"alg": "none"}, {"sub": subject, "iat": now, "exp": now + 3600, "scope": "kafka"}
    encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()) for part in parts)
    return ".".join(text.decode().rstrip("=") for text in encoded) + "."


def _add_scram_users(bootstrap_servers: str) -> None:
    client = AdminClient({"bootstrap.servers": bootstrap_servers})
    for mechanism in SCRAM_MECHANISMS.values():
        kind = ScramCredentialInfo(mechanism, 4096)
        change = UserScramCredentialUpsertion("alice", kind, PASSWORD.encode())
        # A broker takes one change of a user at a time.
        [done] = client.alter_user_scram_credentials([change]).values()
        done.result(30)


def by_password(
    secured: Secured, password: str = _JAVA_QUOTED, mechanism: str = "PLAIN"
) -> dict[str, str]:
    module = SCRAM if mechanism in SCRAM_MECHANISMS else PLAIN
    return {
        "bootstrap.servers": secured.sasl_ssl,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f'{module} required username="alice" password="{password}";',
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(secured.directory / "ca.pem"),
    }


def by_token(secured: Secured, secret: str = "secret") -> dict[str, str]:
    return {
        **by_password(secured, mechanism="OAUTHBEARER"),
        "sasl.jaas.config": f'{OAUTH} required clientId="alice" clientSecret="{secret}";',
        "sasl.oauthbearer.token.endpoint.url": secured.tokens,
        "sasl.login.callback.handler.class": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
        ),
    }


def by_certificate(secured: Secured) -> dict[str, str]:
    return {
        "bootstrap.servers": secured.ssl,
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": (secured.directory / "ca.pem").read_text(),
        "ssl.keystore.key": (secured.directory / "k.pem").read_text(),
        "ssl.keystore.certificate.chain": (secured.directory / "c.pem").read_text(),
        "ssl.keystore.type": "PEM",
    }


def logged_in(secured: Secured, login: str) -> dict[str, str]:
    """The properties of one of LOGINS."""
    match login:
        case "certificate":
            return by_certificate(secured)
        case "OAUTHBEARER":
            return by_token(secured)
    return by_password(secured, mechanism=login)
