from __future__ import annotations

import socket
import ssl
import subprocess
from pathlib import Path

import httpx
import pytest

from penstock.kernel.errors import SetupError
from penstock.testing.waiting import soon
from penstock.worker.rest.listeners import bind
from penstock.worker.rest.server import RestServer
from penstock.worker.rest.tls import server_context
from penstock.worker.settings import StandaloneSettings
from tests.unit.worker.herder.harness import SETTINGS, running


def settings(**props: str) -> StandaloneSettings:
    return StandaloneSettings.read(
        {**SETTINGS.props, **{key.replace("_", "."): text for key, text in props.items()}}
    )


def test_a_port_in_use_is_named_with_its_key() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(SetupError, match=f"^listeners={url}: can't listen on port"):
            bind(settings(listeners=url))


def test_what_was_bound_is_given_back_when_another_fails() -> None:
    with socket.socket() as taken, socket.socket() as free:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        urls = f"http://127.0.0.1:{port},http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(SetupError, match="listeners="):
            bind(settings(listeners=urls))
        bind(settings(listeners=f"http://127.0.0.1:{port}")).close()


def test_the_worker_is_known_by_what_it_advertises() -> None:
    plain = bind(settings())
    assert plain.worker_id == f"127.0.0.1:{plain.main[0].port}"
    assert plain.url == f"http://{plain.worker_id}/"
    plain.close()
    told = bind(settings(rest_advertised_host_name="worker-1", rest_advertised_port="80"))
    assert told.worker_id == "worker-1:80"
    told.close()


def test_a_listener_without_a_host_advertises_the_machines_name() -> None:
    found = bind(settings(listeners="http://:0"))
    assert found.advertised_host
    assert found.main[0].socket.getsockname()[0] == "0.0.0.0"
    found.close()


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-keyout", folder / "key.pem", "-out", folder / "cert.pem"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    both = (folder / "key.pem").read_text() + (folder / "cert.pem").read_text()
    (folder / "both.pem").write_text(both)
    return folder


def test_https_with_a_key_and_certificate_in_one_file(pem: Path) -> None:
    given = settings(
        listeners="https://127.0.0.1:0",
        listeners_https_ssl_keystore_type="PEM",
        listeners_https_ssl_keystore_location=str(pem / "both.pem"),
    )
    with running() as bench:
        listeners = bind(given)
        server = RestServer(listeners, bench.herder, given)
        server.start(soon())
        context = ssl.create_default_context(cafile=str(pem / "cert.pem"))
        answer = httpx.get(f"https://127.0.0.1:{listeners.main[0].port}/", verify=context)
        assert answer.json()["version"] == "4.1.1"
        assert listeners.url.startswith("https://")
        server.close(soon())


def test_keys_may_stand_in_the_settings_themselves(pem: Path) -> None:
    context = server_context(
        {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": (pem / "key.pem").read_text(),
            "ssl.keystore.certificate.chain": (pem / "cert.pem").read_text(),
            "ssl.truststore.certificates": (pem / "cert.pem").read_text(),
            "ssl.client.auth": "required",
        }
    )
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert len(context.get_ca_certs()) == 1


@pytest.mark.parametrize(
    ("props", "words"),
    [
        ({}, "ssl.keystore.type is JKS; only PEM works"),
        ({"ssl.keystore.type": "PEM"}, "set ssl.keystore.location"),
        ({"ssl.keystore.type": "PEM", "ssl.keystore.location": "/none.pem"}, "can't be used"),
    ],
)
def test_tls_settings_that_can_not_work(props: dict[str, str], words: str) -> None:
    with pytest.raises(SetupError, match=words):
        server_context(props)
