"""The machine's trusted certificates in a form Java reads.

A JRE from a wheel has its own list. Behind a proxy or a mirror with a private authority, Java would
refuse what pip accepts, so it gets the same authorities that Python trusts.
"""

from __future__ import annotations

import base64
import hashlib
import re
import ssl
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

PASSWORD = "changeit"  # noqa: S105 - certificates are public; the format just needs a password

_PEM = re.compile(
    rb"-----BEGIN (?:TRUSTED )?CERTIFICATE-----(.+?)-----END (?:TRUSTED )?CERTIFICATE-----",
    re.DOTALL,
)
_BUNDLES = ("ca-certificates.crt", "ca-bundle.crt", "cert.pem")
_TRUSTED_ENTRY = 2


def machine_certificates() -> tuple[bytes, ...]:
    """The DER form of every authority in Python's default bundle; empty if there is none."""
    found = {der for path in _bundle_files() for der in _certificates(path)}
    return tuple(sorted(found))


def java_key_store(certificates: Iterable[bytes]) -> bytes:
    """The certificates as a Java key store (format JKS, version 2) that opens with PASSWORD."""
    entries = [
        struct.pack(">I", _TRUSTED_ENTRY)
        + _text(f"authority-{number}")
        + struct.pack(">Q", 0)
        + _text("X.509")
        + struct.pack(">I", len(der))
        + der
        for number, der in enumerate(certificates)
    ]
    body = struct.pack(">III", 0xFEEDFEED, 2, len(entries)) + b"".join(entries)
    seal = hashlib.sha1(PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + body)  # noqa: S324 - the format's own checksum
    return body + seal.digest()


def _bundle_files() -> Iterator[Path]:
    paths = ssl.get_default_verify_paths()
    if paths.cafile:
        yield Path(paths.cafile)
    if paths.capath:
        yield from (Path(paths.capath) / name for name in _BUNDLES)


def _certificates(path: Path) -> Iterator[bytes]:
    try:
        content = path.read_bytes()
    except OSError:
        return
    for match in _PEM.finditer(content):
        yield base64.b64decode(match.group(1))


def _text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack(">H", len(encoded)) + encoded
