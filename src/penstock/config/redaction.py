"""Passwords where nothing declares them: in addresses, errors and log lines, and unknown keys."""

from __future__ import annotations

import re
from typing import Final

from penstock.config.values import HIDDEN

# A password may have @ and / in it, so it goes to the last @ of its address. What looks like a
# port is none, and a config provider's reference is not the secret.
_IN_ADDRESS: Final = re.compile(
    r"""(
        ://(?:\$\{[^{}\s]*\}|[^/@:\[\s])*+:(?!\d{1,5}(?:[/?\#;,\s]|$))
        |jdbc:oracle:\w+:[^/@\s]+/
    )
    (?!\$\{[^{}\s]+\}@)
    (?:(?!://)\S)+(?=@)""",
    re.IGNORECASE | re.VERBOSE,
)
# It ends at a space, else it would swallow the text that follows; SQL Server has braces for these.
_IN_QUERY: Final = re.compile(
    r"""(
        [?&;][\w.-]{0,64}?
        (?:password|passwd|pwd|passphrase|secret|token|(?:api|access|account)[._-]?key)
        [\w.-]{0,64}=
    )
    (?!\$\{[^{}\s]+\}(?:[&;\s"']|$))
    (?:\{(?:[^{}]|\}\})+\}|(?:[^&;\s"']|["'](?![\s,:)\]}]|$))+)""",
    re.IGNORECASE | re.VERBOSE,
)

_LOOKS_SECRET: Final = re.compile(
    r"passw(or)?d|passphrase|secret|token(?!iz)|credential|jaas|(private|access|api)[._-]?key"
    r"|keystore\.key$|\.user\.info$",
    re.IGNORECASE,
)
# Keys about a secret: where it is, who knows it, how long it lasts.
_ABOUT_SECRETS: Final = re.compile(
    r"[._-](class|provider|source|type|mechanism|algorithm|url|uri|endpoint|path|file|location"
    r"|name|columns?|fields?|enabled?|length|ms|seconds)$",
    re.IGNORECASE,
)


def sounds_secret(key: str) -> bool:
    """Whether the name of a config key says that its value is a secret."""
    return _LOOKS_SECRET.search(key) is not None and not _ABOUT_SECRETS.search(key)


def without_passwords(text: str) -> str:
    """A text with the passwords of addresses in it hidden."""
    return _IN_QUERY.sub(rf"\1{HIDDEN}", _IN_ADDRESS.sub(rf"\1{HIDDEN}", text))
