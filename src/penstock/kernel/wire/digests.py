"""Digests with which two sides compare a secret without showing it."""

from __future__ import annotations

import hmac


def secret_digest(salt: str, connector: str, key: str, value: str) -> str:
    """The digest of one value, valid for this connector and key only."""
    # With lengths, so that different parts never make the same text.
    parts = (connector, key, value)
    text = "".join(f"{len(part)}:{part}" for part in parts)
    key_bytes, message = (each.encode("utf-8", "surrogatepass") for each in (salt, text))
    return hmac.digest(key_bytes, message, "sha256").hex()
