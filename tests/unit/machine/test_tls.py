from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

import pytest

from penstock.kernel.errors import SetupError
from penstock.machine.tls import librdkafka_tls, ssl_context, tls_of


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private key and its certificate in one PEM file, the way Java takes them."""
    directory = tmp_path_factory.mktemp("tls")
    key, certificate, both = (directory / name for name in ("k.pem", "c.pem", "both.pem"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out",
         certificate, "-days", "1", "-subj", "/CN=penstock"],
        check=True, capture_output=True,
    )  # fmt: skip
    both.write_text(key.read_text() + certificate.read_text())
    return both


def test_pem_files(identity: Path) -> None:
    tls = tls_of({
        "ssl.truststore.location": str(identity.parent / "c.pem"), "ssl.truststore.type": "PEM",
        "ssl.keystore.location": str(identity), "ssl.keystore.type": "PEM",
    })  # fmt: skip
    assert librdkafka_tls(tls) == {
        "ssl.endpoint.identification.algorithm": "https",
        "ssl.ca.location": str(identity.parent / "c.pem"),
        "ssl.key.location": str(identity),
        "ssl.certificate.location": str(identity),
    }
    context = ssl_context(tls)
    assert context.cert_store_stats()["x509"] == 1
    assert context.verify_mode is ssl.CERT_REQUIRED


def test_pem_texts(identity: Path) -> None:
    tls = tls_of({
        "ssl.truststore.certificates": (identity.parent / "c.pem").read_text(),
        "ssl.keystore.key": (identity.parent / "k.pem").read_text(),
        "ssl.keystore.certificate.chain": (identity.parent / "c.pem").read_text(),
        "ssl.endpoint.identification.algorithm": "",
    })  # fmt: skip
    settings = librdkafka_tls(tls)
    assert "BEGIN PRIVATE KEY" in settings["ssl.key.pem"]
    assert settings["ssl.endpoint.identification.algorithm"] == "none"
    assert not ssl_context(tls).check_hostname
    assert "PRIVATE" not in repr(tls)


def test_a_jks_file_is_refused_with_the_command_that_converts_it(tmp_path: Path) -> None:
    store = tmp_path / "trust.jks"
    store.write_bytes(b"\xfe\xed\xfe\xed\x00\x00\x00\x02")
    tls = tls_of({"ssl.truststore.location": str(store), "ssl.truststore.password": "x"})
    with pytest.raises(SetupError, match="keytool -importkeystore"):
        librdkafka_tls(tls)
    with pytest.raises(SetupError, match="PKCS12"):
        ssl_context(tls)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    tls = tls_of(
        {"ssl.truststore.location": str(tmp_path / "no.pem"), "ssl.truststore.type": "PEM"}
    )
    with pytest.raises(SetupError, match=r"no\.pem"):
        ssl_context(tls)
