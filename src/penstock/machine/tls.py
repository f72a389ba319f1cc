"""Java's ssl.* properties for clients that are not Java.

`tls_of` only parses the properties; `librdkafka_tls` and `ssl_context` read the files.
"""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from penstock.kernel.errors import ConfigError, SetupError

#: Every supported ssl.* property.
TLS_KEYS: Final = frozenset({
    "ssl.truststore.location", "ssl.truststore.certificates", "ssl.truststore.type",
    "ssl.truststore.password", "ssl.keystore.location", "ssl.keystore.certificate.chain",
    "ssl.keystore.key", "ssl.keystore.type", "ssl.keystore.password", "ssl.key.password",
    "ssl.endpoint.identification.algorithm", "ssl.cipher.suites",
})  # fmt: skip

_JKS_MAGIC: Final = b"\xfe\xed\xfe\xed"
_TYPES: Final = frozenset({"PEM", "PKCS12", "JKS"})


@dataclass(frozen=True, slots=True)
class Store:
    """A file or a PEM text with certificates, a key, or both."""

    key: str
    location: str | None = None
    pem: str | None = field(default=None, repr=False)
    type: str = "JKS"
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Tls:
    """A client's TLS settings; no trust store means the machine's authorities."""

    trust: Store | None = None
    identity: Store | None = None
    key_password: str | None = field(default=None, repr=False)
    check_hostname: bool = True
    ciphers: str | None = None


def tls_of(properties: Mapping[str, str]) -> Tls:
    algorithm = properties.get("ssl.endpoint.identification.algorithm", "https").strip().lower()
    return Tls(
        trust=_store(properties, "ssl.truststore", properties.get("ssl.truststore.certificates")),
        identity=_store(properties, "ssl.keystore", _identity_pem(properties)),
        key_password=properties.get("ssl.key.password") or None,
        check_hostname=algorithm == "https",
        ciphers=_ciphers(properties.get("ssl.cipher.suites")),
    )


def librdkafka_tls(tls: Tls) -> dict[str, Any]:
    """The same as settings of librdkafka; reads PKCS12 trust stores."""
    settings: dict[str, Any] = {
        "ssl.endpoint.identification.algorithm": "https" if tls.check_hostname else "none",
    }
    if tls.ciphers:
        settings["ssl.cipher.suites"] = tls.ciphers
    if tls.trust is not None:
        settings.update(_librdkafka_trust(tls.trust))
    if tls.identity is not None:
        settings.update(_librdkafka_identity(tls.identity, tls.key_password))
    return settings


def ssl_context(tls: Tls) -> ssl.SSLContext:
    """The same for Python's own TLS."""
    context = ssl.create_default_context() if tls.trust is None else _trusting(tls.trust)
    context.check_hostname = tls.check_hostname
    if tls.ciphers:
        context.set_ciphers(tls.ciphers)
    if tls.identity is not None:
        _load_identity(context, tls.identity, tls.key_password)
    return context


# ---------------------------------------------------------------------- from the properties


def _store(properties: Mapping[str, str], prefix: str, pem: str | None) -> Store | None:
    location = properties.get(f"{prefix}.location")
    if not location and not pem:
        return None
    if location and pem:
        raise _wrong(f"{prefix}.location", location, "set a file or a PEM text, not both")
    type_ = properties.get(f"{prefix}.type", "PEM" if pem else "JKS").strip().upper()
    if type_ not in _TYPES:
        raise _wrong(f"{prefix}.type", type_, "must be PEM or PKCS12")
    if pem and type_ != "PEM":
        raise _wrong(f"{prefix}.type", type_, "must be PEM when the text itself is given")
    return Store(prefix, location, pem, type_, properties.get(f"{prefix}.password") or None)


def _identity_pem(properties: Mapping[str, str]) -> str | None:
    key = properties.get("ssl.keystore.key")
    chain = properties.get("ssl.keystore.certificate.chain")
    if bool(key) != bool(chain):
        raise _wrong("ssl.keystore.key", "[hidden]", "needs ssl.keystore.certificate.chain too")
    return f"{key}\n{chain}\n" if key else None


def _ciphers(suites: str | None) -> str | None:
    """OpenSSL also accepts Java's names TLS_A_WITH_B, but joined by colons."""
    names = [name.strip() for name in (suites or "").split(",") if name.strip()]
    return ":".join(names) or None


# ----------------------------------------------------------------------------- from the files


def _librdkafka_trust(store: Store) -> dict[str, Any]:
    if store.pem is not None:
        return {"ssl.ca.pem": store.pem}
    if _actual_type(store) == "PEM":
        return {"ssl.ca.location": store.location}
    return {"ssl.ca.pem": _pkcs12_certificates(store)}


def _librdkafka_identity(store: Store, key_password: str | None) -> dict[str, Any]:
    if store.pem is None and _actual_type(store) == "PKCS12":
        settings = {"ssl.keystore.location": store.location}
        return settings | ({"ssl.keystore.password": store.password} if store.password else {})
    if store.pem is not None:
        settings = {"ssl.key.pem": store.pem, "ssl.certificate.pem": store.pem}
    else:
        settings = {
            "ssl.key.location": store.location,
            "ssl.certificate.location": store.location,
        }
    return settings | ({"ssl.key.password": key_password} if key_password else {})


def _trusting(store: Store) -> ssl.SSLContext:
    pem = store.pem
    if pem is None:
        is_pem = _actual_type(store) == "PEM"
        pem = _read(store).decode() if is_pem else _pkcs12_certificates(store)
    try:
        return ssl.create_default_context(cadata=pem)
    except ssl.SSLError as error:
        raise SetupError(f"{store.key}: it has no usable certificate ({error.reason})") from error


def _load_identity(context: ssl.SSLContext, store: Store, key_password: str | None) -> None:
    password = key_password or store.password
    if store.pem is None and _actual_type(store) == "PEM":
        _load_chain(context, Path(store.location or ""), store, password)
        return
    pem = store.pem if store.pem is not None else _pkcs12_identity(store)
    # Python reads keys from files only; this directory is private and deleted at once.
    with tempfile.TemporaryDirectory(prefix="penstock-tls-") as directory:
        path = Path(directory, "identity.pem")
        path.touch(mode=0o600)
        path.write_text(pem, encoding="utf-8")
        _load_chain(context, path, store, password)


def _load_chain(context: ssl.SSLContext, path: Path, store: Store, password: str | None) -> None:
    try:
        context.load_cert_chain(path, password=password or "")
    except (OSError, ssl.SSLError) as error:
        raise SetupError(
            f"{store.key}: can't load the key and certificate: {error}. It must have the private "
            "key and its certificate chain as PEM, and ssl.key.password must be right"
        ) from error


def _actual_type(store: Store) -> str:
    """PEM or PKCS12, by the file's content: keytool writes PKCS12 into .jks files."""
    head = _read(store)
    if head.startswith(_JKS_MAGIC):
        raise SetupError(
            f"{store.key}.location: {store.location} is a JKS file, which only Java can read. "
            f"Convert it with: keytool -importkeystore -srckeystore {store.location} "
            f"-destkeystore {Path(store.location or '').with_suffix('.p12')} "
            f"-deststoretype PKCS12, and set {store.key}.type=PKCS12"
        )
    return "PEM" if b"-----BEGIN" in head else "PKCS12"


def _read(store: Store) -> bytes:
    try:
        return Path(store.location or "").read_bytes()
    except OSError as error:
        raise SetupError(f"{store.key}.location: can't read it: {error}") from error


def _pkcs12_certificates(store: Store) -> str:
    _, own, others = _pkcs12(store)
    certificates = [*([own] if own else []), *others]
    return "".join(_pem(entry.certificate) for entry in certificates)


def _pkcs12_identity(store: Store) -> str:
    serialization = _cryptography("serialization", store)
    key, own, others = _pkcs12(store)
    if key is None or own is None:
        raise SetupError(f"{store.key}.location: {store.location} has no private key")
    text: bytes = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return text.decode() + "".join(_pem(entry.certificate) for entry in [own, *others])


def _pem(certificate: Any) -> str:
    serialization = _cryptography("serialization", None)
    text: bytes = certificate.public_bytes(serialization.Encoding.PEM)
    return text.decode()


def _pkcs12(store: Store) -> tuple[Any, Any, list[Any]]:
    pkcs12 = _cryptography("serialization.pkcs12", store)
    password = store.password.encode() if store.password else None
    try:
        found = pkcs12.load_pkcs12(_read(store), password)
    except ValueError as error:
        raise SetupError(
            f"{store.key}.location: {store.location} is not a PKCS12 file, or "
            f"{store.key}.password is wrong"
        ) from error
    return found.key, found.cert, list(found.additional_certs)


def _cryptography(module: str, store: Store | None) -> Any:
    import importlib

    try:
        return importlib.import_module(f"cryptography.hazmat.primitives.{module}")
    except ImportError as error:
        location = store.location if store else "the store"
        raise SetupError(
            f"reading {location} needs the package cryptography: pip install cryptography, or "
            f"convert it to PEM with: openssl pkcs12 -in {location} -out store.pem -nodes"
        ) from error


def _wrong(key: str, value: str, rule: str) -> ConfigError:
    message = f"Invalid value {value} for configuration {key}: {rule}"
    return ConfigError(message, {key: (message,)})
