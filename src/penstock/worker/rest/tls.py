"""TLS of https listeners from Kafka's ssl.* settings, with keys and certificates in PEM."""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from penstock.kernel.config.prefix import under_prefix
from penstock.kernel.errors import SetupError

PREFIX: Final = "listeners.https."
_CLIENT_AUTH: Final = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


def server_context(props: Mapping[str, str]) -> ssl.SSLContext:
    """A context from the worker's properties; `listeners.https.` keys win over plain ones.

    Raises:
        SetupError: a key is missing, or a file can't be used.
    """
    own = under_prefix(props, PREFIX)
    given = own or {name: text for name, text in props.items() if name.startswith("ssl.")}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        _load_key(context, given)
        _load_trust(context, given)
    except (OSError, ssl.SSLError) as error:
        raise SetupError(f"https listener: the ssl.* settings can't be used: {error}") from error
    return context


def _load_key(context: ssl.SSLContext, given: Mapping[str, str]) -> None:
    kind = given.get("ssl.keystore.type", "JKS").upper()
    if kind != "PEM":
        raise SetupError(
            f"https listener: ssl.keystore.type is {kind}; only PEM works. Convert the key store, "
            "for instance with `openssl pkcs12 -nodes`, and set ssl.keystore.type=PEM."
        )
    password = given.get("ssl.key.password") or None
    if "ssl.keystore.location" in given:
        context.load_cert_chain(given["ssl.keystore.location"], password=password)
        return
    if "ssl.keystore.key" not in given or "ssl.keystore.certificate.chain" not in given:
        raise SetupError(
            "https listener: set ssl.keystore.location, or ssl.keystore.key and "
            "ssl.keystore.certificate.chain"
        )
    # Python reads keys from files only; this one is private and deleted at once.
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(f"{given['ssl.keystore.key']}\n{given['ssl.keystore.certificate.chain']}\n")
        file.flush()
        context.load_cert_chain(file.name, password=password)


def _load_trust(context: ssl.SSLContext, given: Mapping[str, str]) -> None:
    context.verify_mode = _CLIENT_AUTH[given.get("ssl.client.auth", "none")]
    location = given.get("ssl.truststore.location")
    inline = given.get("ssl.truststore.certificates")
    if inline or location:
        text = inline or Path(location or "").read_text(encoding="ascii")
        context.load_verify_locations(cadata=text)
