"""Where a command works: the options that all commands share, and the contexts of a file.

A context names a Connect cluster and its Kafka, so that commands need no addresses:

    current = "local"

    [contexts.local]
    connect = "http://localhost:8083"
    bootstrap-servers = "localhost:9092"

    [contexts.production]
    connect = "https://connect.example.com"
    user = "ops"
    password = "${env:CONNECT_PASSWORD}"
    bootstrap-servers = "kafka-1:9092,kafka-2:9092"
    kafka = {"security.protocol" = "SSL"}
    registry = {"schema.registry.url" = "http://registry:8081"}
    offset-topic = "connect-offsets"
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

import typer

from penstock.cli.completion import context_names
from penstock.cli.options import Options
from penstock.cli.output import warn
from penstock.kernel.config.properties import load_properties
from penstock.kernel.errors import ConfigError
from penstock.worker.settings.rules import SECRETS_HEADER

if TYPE_CHECKING:
    from penstock.tools.client import Client

DEFAULT_CONNECT: Final = "http://localhost:8083"
DEFAULT_SERVERS: Final = "localhost:9092"
DEFAULT_OFFSET_TOPIC: Final = "connect-offsets"

Connect = Annotated[
    str | None, typer.Option("--connect", "--url", help="A worker's address, as http://HOST:8083.")
]
ContextName = Annotated[
    str | None,
    typer.Option(
        "--context", help="A context of the configuration file.", autocompletion=context_names
    ),
]
Servers = Annotated[
    str | None,
    typer.Option("--bootstrap-server", "-b", help="Kafka, as HOST:PORT; several with commas."),
]
CommandConfig = Annotated[
    Path | None,
    typer.Option("--command-config", help="Client properties for Kafka: security.protocol, …"),
]

_TEXTS: Final = (
    "connect", "user", "password", "ca-file", "secrets-token", "bootstrap-servers", "offset-topic",
)  # fmt: skip
_TABLES: Final = ("kafka", "registry")


@dataclass(frozen=True, slots=True)
class Context:
    """One Connect cluster and its Kafka, as the file names them; `texts` has the plain keys."""

    name: str
    texts: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, found: Any, file: Path) -> Self:
        """Raises ConfigError for unknown keys and wrong values."""
        where = f"{file}: context {name}"
        if not isinstance(found, dict):
            raise ConfigError(f"{where}: expected a table [contexts.{name}]")
        unknown = sorted(found.keys() - {*_TEXTS, *_TABLES})
        if unknown:
            known = ", ".join((*_TEXTS, *_TABLES))
            raise ConfigError(f"{where}: unknown key {unknown[0]}; there are {known}")
        texts = {key: _resolved(found[key], f"{where}: {key}") for key in _TEXTS if key in found}
        tables = {key: _table(found[key], f"{where}: {key}") for key in _TABLES if key in found}
        return cls(name, texts, tables)


@dataclass(frozen=True, slots=True)
class Contexts:
    """The file of contexts; one that does not exist has none."""

    file: Path
    current: str | None = None
    known: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, file: Path | None = None) -> Contexts:
        """Read the file. Raises ConfigError if it is not valid."""
        path = file or config_file()
        if not path.exists():
            return cls(path)
        try:
            document = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigError(f"{path}: {error}") from error
        unknown = sorted(document.keys() - {"current", "contexts"})
        if unknown:
            raise ConfigError(f"{path}: unknown key {unknown[0]}; there are current and contexts")
        current, known = document.get("current"), document.get("contexts", {})
        if not isinstance(current, str | None) or not isinstance(known, dict):
            raise ConfigError(f'{path}: expected current = "NAME" and tables [contexts.NAME]')
        return cls(path, current, known)

    @property
    def chosen(self) -> str | None:
        """The default context: PENSTOCK_CONTEXT or the current one."""
        return os.environ.get("PENSTOCK_CONTEXT") or self.current

    def context(self, name: str | None = None) -> Context:
        """The one of this name, else the current one, else an empty one."""
        wanted = name or self.chosen
        if wanted is None:
            return Context("default")
        if wanted not in self.known:
            known = ", ".join(sorted(self.known)) or "none"
            raise ConfigError(f"there is no context {wanted} in {self.file}; there are: {known}")
        return Context.of(wanted, self.known[wanted], self.file)


@dataclass(frozen=True, slots=True)
class Target:
    """The clusters of a command: options override the context, the context the defaults.

    Passwords of the current context go to its own addresses only: an address given as an option
    gets them only if the context is named too.
    """

    context: Context
    connect: str
    servers: str
    login: Mapping[str, str]
    properties: Mapping[str, str]

    @classmethod
    def of(
        cls,
        connect: str | None = None,
        context: str | None = None,
        servers: str | None = None,
        command_config: Path | None = None,
    ) -> Target:
        """Raises ConfigError if a named file or context is not valid."""
        found = Contexts.load().context(context)
        given = load_properties(command_config) if command_config else {}
        asked = servers or given.get("bootstrap.servers")

        def is_own(address: str | None, key: str) -> bool:
            return address is None or context is not None or address == found.texts.get(key)

        own = found.tables.get("kafka", {}) if is_own(asked, "bootstrap-servers") else {}
        return cls(
            found,
            connect or found.texts.get("connect", DEFAULT_CONNECT),
            asked
            or found.texts.get("bootstrap-servers")
            or os.environ.get("PENSTOCK_BOOTSTRAP_SERVERS")
            or DEFAULT_SERVERS,
            found.texts if is_own(connect, "connect") else {},
            {**own, **given},
        )

    @property
    def name(self) -> str:
        """The cluster, for people."""
        return self.connect

    @property
    def offset_topic(self) -> str:
        return self.context.texts.get("offset-topic", DEFAULT_OFFSET_TOPIC)

    def client(self, timeout: float | None = None, retry_seconds: float | None = None) -> Client:
        """A client of its REST API."""
        from penstock.tools.client import Client

        auth = (
            (self.login["user"], self.login.get("password", "")) if "user" in self.login else None
        )
        verify = self.login.get("ca-file", True)
        options: dict[str, Any] = {} if timeout is None else {"timeout": timeout}
        options |= {} if retry_seconds is None else {"retry_seconds": retry_seconds}
        token = self.login.get("secrets-token")
        options |= {} if token is None else {"headers": {SECRETS_HEADER: token}}
        return Client(self.connect, auth=auth, verify=verify, on_wait=warn, **options)

    def kafka(self) -> dict[str, str]:
        """Properties for clients of its Kafka."""
        return {**self.properties, "bootstrap.servers": self.servers}

    def registry(self) -> dict[str, str]:
        """Settings of its Schema Registry, without the prefix of a converter."""
        return dict(self.context.tables.get("registry", {}))


@dataclass(frozen=True, slots=True)
class ConnectCluster(Options):
    """The Connect cluster that a command is for."""

    connect: Connect = None
    context: ContextName = None

    def client(self, timeout: float | None = None) -> Client:
        """A client of its REST API."""
        return Target.of(self.connect, self.context).client(timeout)


def config_file() -> Path:
    """The file of contexts: PENSTOCK_CONFIG, or its place in the user's configuration."""
    named = os.environ.get("PENSTOCK_CONFIG")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "penstock" / "config.toml"


def _table(found: Any, where: str) -> dict[str, str]:
    if not isinstance(found, dict):
        raise ConfigError(f"{where} must be a table of settings")
    return {key: _resolved(value, f"{where}.{key}") for key, value in found.items()}


def _resolved(value: Any, where: str) -> str:
    """The text of a setting; `${env:NAME}` is that variable."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        raise ConfigError(f"{where} must be a text")
    text = str(value)
    if not (text.startswith("${env:") and text.endswith("}")):
        return text
    variable = text[len("${env:") : -1]
    if variable not in os.environ:
        raise ConfigError(f"{where} is {text}, but the variable {variable} is not set")
    return os.environ[variable]
