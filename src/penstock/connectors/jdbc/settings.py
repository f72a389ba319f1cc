"""How to reach a database."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from penstock.kernel.config import Password
from penstock.kernel.config.redaction import LONG, without_value
from penstock.kernel.config.values import HIDDEN

_SECRET_IN_URL: Final = re.compile(r"(?i)((?:password|pwd|passwd|secret|token)\s*=)[^&;,)\s]+")
_USER_INFO: Final = re.compile(r"(//[^/@:\s]*:)[^/@\s]+@")


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """Where the database is, who asks, and how patient we are.

    Attributes:
        attempts: how often to try to connect before that counts as failed.
        isolation: the name of a transaction isolation level; None for the database's own.
        properties: settings for the driver that a connector's configuration names.
    """

    url: str
    user: str | None = None
    password: Password | None = None
    attempts: int = 3
    backoff_seconds: float = 10.0
    isolation: str | None = None
    properties: dict[str, str] = field(default_factory=dict)

    @property
    def scheme(self) -> str:
        """What stands between `jdbc:` and the next colon."""
        return self.url.split(":")[1].lower() if self.url.count(":") > 1 else ""

    @property
    def database(self) -> str:
        """The database in the URL: what comes behind the host, without options."""
        rest = re.split(r"[?;]", self.url)[0].split(":", 2)[-1]
        return re.sub(r"^//[^/]*/?", "", rest)

    @property
    def place(self) -> str:
        """The URL without options and secrets, for people."""
        return self.hide(re.split(r"[?;]", self.url)[0])

    def hide(self, text: str) -> str:
        """The text without the password, wherever it may come from."""
        secret = "" if self.password is None else self.password.value
        # A short one is also a word of other things (a user, a table): it is hidden by its place
        # only. Where it stands for a word everybody expects there, the mask would give it away.
        if len(secret) >= LONG:
            text = without_value(text, secret)
        text = _SECRET_IN_URL.sub(rf"\g<1>{HIDDEN}", text)
        return _USER_INFO.sub(rf"\g<1>{HIDDEN}@", text)
