"""Hides passwords that no key declares: in addresses, errors, log lines and unknown keys."""

from __future__ import annotations

import re
from typing import Final

from penstock.kernel.config.values import HIDDEN

# A password may contain @ and /, so it ends at the last @ of its address. What looks like a port
# is not a password, and neither is a config provider's reference.
_IN_ADDRESS: Final = re.compile(
    r"""(
        ://(?:\$\{[^{}\s]*\}|[^/@:\[\s])*+:(?!\d{1,5}(?:[/?\#;,\s]|$))
        |jdbc:oracle:\w+:[^/@\s]+/
    )
    (?!\$\{[^{}\s]+\}@)
    (?:(?!://)\S)+(?=@)""",
    re.IGNORECASE | re.VERBOSE,
)
# It ends at a space, else it would include the text that follows; SQL Server has braces for spaces.
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
# Keys about a secret: its place, its owner, its lifetime.
_ABOUT_SECRETS: Final = re.compile(
    r"[._-](class|provider|source|type|mechanism|algorithm|url|uri|endpoint|path|file|location"
    r"|name|columns?|fields?|enabled?|length|ms|seconds)$",
    re.IGNORECASE,
)

LONG: Final = 10
"""A value of so many characters is hardly part of another word."""

_REFERENCE: Final = r"\$\{[^{}]+\}"
_NO_WORD: Final = r"(?:[^\w$]|_|\$(?!\{))*"
_OPTION: Final = r"\w{1,64}"
_SECRET_OPTION: Final = r"\w{0,64}?(?:passw|secret|token|key|credential)\w{0,64}"  # noqa: S105
# What may surround references and is not a secret itself: no word at all (`$${env:X}`), the user
# before a password, a login module whose secret options are all references.
_NO_SECRET: Final = re.compile(
    rf"""{_NO_WORD}(?:{_REFERENCE}{_NO_WORD})+
    |[^\s:]*:{_REFERENCE}
    |[\w.]+\s+(?:required|requisite|sufficient|optional)
        (?:\s+(?:(?!{_SECRET_OPTION}\s*=){_OPTION}\s*=\s*(?:"[^"]*"|[^\s"';]+)
            |{_SECRET_OPTION}\s*=\s*(?:"{_REFERENCE}"|{_REFERENCE})))*
        \s*;""",
    re.IGNORECASE | re.VERBOSE,
)


def is_reference(value: str) -> bool:
    """Whether a secret's value consists of references, with no secret beside them."""
    return "${" in value and _NO_SECRET.fullmatch(value) is not None


def sounds_secret(key: str) -> bool:
    """Whether the name of a config key suggests that its value is a secret."""
    return _LOOKS_SECRET.search(key) is not None and not _ABOUT_SECRETS.search(key)


def without_passwords(text: str) -> str:
    """The text with the passwords of its addresses hidden."""
    return _IN_QUERY.sub(rf"\1{HIDDEN}", _IN_ADDRESS.sub(rf"\1{HIDDEN}", text))


def without_password(value: str) -> str:
    """The value of a key; if it is an address, with its password hidden."""
    shown = without_passwords(value)
    # The end of a password with a space in it is unknown.
    return HIDDEN if shown != value and re.search(r"\s", value) else shown


def has_mask(value: str) -> bool:
    """Whether a value has the mask where the password of an address was."""
    given = value.replace(HIDDEN, "-")
    return given != value and without_passwords(given) != given


def without_value(text: str, value: str, shown: str = HIDDEN) -> str:
    """The text with `shown` in place of the value; of a short one only where it is a whole word."""
    if len(value) >= LONG:
        return text.replace(value, shown)
    pattern = rf"(?<!\w){re.escape(value)}(?!\w)"
    return re.sub(pattern, lambda _: shown, text) if value else text
