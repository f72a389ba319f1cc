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

LONG: Final = 10
"""A value of so many characters is hardly a part of anything else."""

_REFERENCE: Final = r"\$\{[^{}]+\}"
_NO_WORD: Final = r"(?:[^\w$]|_|\$(?!\{))*"
_OPTION: Final = r"\w{1,64}"
_SECRET_OPTION: Final = r"\w{0,64}?(?:passw|secret|token|key|credential)\w{0,64}"  # noqa: S105
# What may stand around references without being a secret itself: no word at all (`$${env:X}`), the
# user in front of a password, a login module whose secret options are all references.
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
    """Whether a secret's value is kept elsewhere: there are references, and no secret beside."""
    return "${" in value and _NO_SECRET.fullmatch(value) is not None


def sounds_secret(key: str) -> bool:
    """Whether the name of a config key says that its value is a secret."""
    return _LOOKS_SECRET.search(key) is not None and not _ABOUT_SECRETS.search(key)


def without_passwords(text: str) -> str:
    """A text with the passwords of addresses in it hidden."""
    return _IN_QUERY.sub(rf"\1{HIDDEN}", _IN_ADDRESS.sub(rf"\1{HIDDEN}", text))


def without_password(value: str) -> str:
    """The value of a key, with the password hidden that it has if it is an address."""
    shown = without_passwords(value)
    # Where a password with a space in it ends, nobody can tell.
    return HIDDEN if shown != value and re.search(r"\s", value) else shown


def has_mask(value: str) -> bool:
    """Whether a value has the mask where the password of an address was."""
    given = value.replace(HIDDEN, "-")
    return given != value and without_passwords(given) != given


def without_value(text: str, value: str, shown: str = HIDDEN) -> str:
    """A text that may repeat a value, without it; a short one only where it is a word by itself."""
    if len(value) >= LONG:
        return text.replace(value, shown)
    pattern = rf"(?<!\w){re.escape(value)}(?!\w)"
    return re.sub(pattern, lambda _: shown, text) if value else text
