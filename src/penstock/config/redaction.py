"""Passwords in texts that were not made to hold any: addresses, errors, traces and log lines."""

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


def without_passwords(text: str) -> str:
    """A text with the passwords of addresses in it hidden."""
    return _IN_QUERY.sub(rf"\1{HIDDEN}", _IN_ADDRESS.sub(rf"\1{HIDDEN}", text))
