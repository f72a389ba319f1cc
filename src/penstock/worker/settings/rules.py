"""Rules for single worker settings that the kernel's validators do not cover."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from penstock.kernel.config import Validator, invalid, rule
from penstock.kernel.config.values import trim

_ACTIONS: Final = frozenset({"set", "add", "setDate", "addDate"})
SECRETS_HEADER: Final = "Penstock-Secrets-Token"
#: The values of penstock.secrets.shown, with what a worker logs for each.
SECRETS_SHOWN: Final = {
    "never": "Secrets of stored configs are hidden in all answers",
    "with-token": "Secrets of stored configs are shown in clear to requests with the token in the "
    f"header {SECRETS_HEADER}, and hidden from all others",
    "always": "Secrets of stored configs are shown in clear in all answers",
}
POLICIES: Final = ("All", "None", "Principal")


def _positive_or_broker_default(name: str, value: object) -> None:
    if isinstance(value, int) and value != -1 and value < 1:
        words = (
            "Replication factor must be positive and not larger than the number of brokers in the "
            "Kafka cluster, or -1 to use the broker's default"
            if name.endswith("factor")
            else "Number of partitions must be positive, or -1 to use the broker's default"
        )
        raise invalid(name, value, words)


def _urls(name: str, value: object) -> None:
    items = value if isinstance(value, list) else []
    for item in items:
        if not item or urlsplit(item).scheme not in ("http", "https"):
            raise invalid(name, value, f"{item!r} must be a URL that begins with http or https")
        _port(name, value, item)


def _port(name: str, value: object, item: str) -> None:
    try:
        urlsplit(item).port  # noqa: B018 - reading it is the check
    except ValueError as error:
        raise invalid(name, value, f"{item!r} has no valid port") from error


def _listeners(name: str, value: object) -> None:
    if not value:
        raise invalid(name, value, "at least one listener is needed, such as http://:8083")
    _urls(name, value)


def _admin_listeners(name: str, value: object) -> None:
    # An empty list is a choice of its own here: no admin endpoints at all.
    if value not in ([], [""]):
        _urls(name, value)


def _listener_name(name: str, value: object) -> None:
    if value is not None and str(value).lower() not in ("http", "https"):
        raise invalid(name, value, "must be http or https")


def _header_rules(name: str, value: object) -> None:
    for text in header_rules(str(value or "")):
        action, _, header = text.partition(" ")
        field, colon, _ = header.partition(":")
        if action not in _ACTIONS or not field.strip() or not colon or " " in field.strip():
            words = "expected '[action] [header name]:[header value]' with the action set, add, "
            raise invalid(name, value, f"{words}setDate or addDate, not {text!r}")


def header_rules(text: str) -> list[str]:
    """Split at commas outside of double quotes, and drop the quotes."""
    rules: list[str] = []
    current, quoted = "", False
    for char in text:
        if char == '"':
            quoted = not quoted
        elif char == "," and not quoted:
            rules.append(current)
            current = ""
        else:
            current += char
    return [trim(found) for found in (*rules, current) if trim(found)]


def override_policy(value: str) -> str | None:
    """All, None or Principal for a policy's class name or alias; None if unknown."""
    simple = value.rpartition(".")[2].removesuffix("ConnectorClientConfigOverridePolicy")
    return simple if simple in POLICIES else None


def _policy(name: str, value: object) -> None:
    if override_policy(str(value)) is None:
        raise invalid(name, value, f"must be one of {', '.join(POLICIES)}")


topic_size: Final[Validator] = rule(
    _positive_or_broker_default, "a positive number, or -1 for the broker's default"
)
listener_urls: Final[Validator] = rule(_listeners, "URLs that begin with http or https")
admin_listener_urls: Final[Validator] = rule(
    _admin_listeners, "URLs that begin with http or https, or empty"
)
listener_name: Final[Validator] = rule(_listener_name, "http or https")
http_header_rules: Final[Validator] = rule(
    _header_rules, "rules of the form [action] [header name]:[header value], split by commas"
)
known_policy: Final[Validator] = rule(_policy, "[All, None, Principal]")
