"""Config providers: replace ${provider:path:key} in configurations by a value stored elsewhere."""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final, Protocol

from penstock.kernel.config.prefix import under_prefix
from penstock.kernel.config.properties import load_properties
from penstock.kernel.config.values import Type, parse_value
from penstock.kernel.errors import ConfigError

log = logging.getLogger(__name__)

_PLACEHOLDER: Final = re.compile(r"\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}")
PROVIDERS_KEY: Final = "config.providers"
_JAVA_PACKAGE: Final = "org.apache.kafka.common.config.provider"
#: The usual names of the built-in providers: ${…} with one of these is taken as a reference.
_USUAL_NAMES: Final = {
    "env": "EnvVarConfigProvider",
    "file": "FileConfigProvider",
    "directory": "DirectoryConfigProvider",
}


#: Usual names of users' own providers for secrets: a reference to one of these must not be sent
#: to a server as a password.
_SECRET_NAMES: Final = frozenset({
    "aes256", "aws", "azure", "configmaps", "gcp", "keyvault", "secretmanager", "secrets",
    "secretsmanager", "securepass", "ssm", "vault",
})  # fmt: skip


class ConfigProvider(Protocol):
    """Returns the values of some keys under a path, without keys that it does not have."""

    def get(self, path: str, keys: Collection[str]) -> Mapping[str, str]: ...


class EnvironmentProvider:
    """Values of environment variables: ${env:NAME}. The path must be empty."""

    def __init__(self, environ: Mapping[str, str], allowlist: str | None = None) -> None:
        self._environ = environ
        self._allowed = re.compile(allowlist) if allowlist else None

    def get(self, path: str, keys: Collection[str]) -> Mapping[str, str]:
        if path:
            log.error("The env config provider takes no path, but got %s", path)
            return {}
        return {name: self._environ[name] for name in keys if self._has(name)}

    def _has(self, name: str) -> bool:
        allowed = self._allowed is None or self._allowed.fullmatch(name) is not None
        return allowed and name in self._environ


class FileProvider:
    """Values of a properties file: ${file:/path/to/file:key}."""

    def __init__(self, allowed: AllowedPaths) -> None:
        self._allowed = allowed

    def get(self, path: str, keys: Collection[str]) -> Mapping[str, str]:
        if not path or not self._allowed.permits(Path(path)):
            return {}
        try:
            values = load_properties(Path(path))
        except ConfigError as error:
            raise ConfigError(f"Could not read properties from file {path}") from error
        return {name: values[name] for name in keys if name in values}


class DirectoryProvider:
    """Contents of the files of a directory: ${directory:/path/to/directory:file}."""

    def __init__(self, allowed: AllowedPaths) -> None:
        self._allowed = allowed

    def get(self, path: str, keys: Collection[str]) -> Mapping[str, str]:
        folder = Path(path)
        if not path or not self._allowed.permits(folder):
            return {}
        if not folder.is_dir():
            log.error("The path of a directory config provider is not a directory: %s", path)
            return {}
        # Only plain names, so that a key can't leave the directory.
        files = [folder / name for name in keys if name and "/" not in name]
        return {file.name: _content(file) for file in files if file.is_file()}


class AllowedPaths:
    """The directories that a provider may read; all if none is set."""

    def __init__(self, text: str | None = None) -> None:
        names = parse_value("allowed.paths", text, Type.LIST) or []
        self._roots = [_existing(Path(name)) for name in names]

    def permits(self, path: Path) -> bool:
        if not self._roots:
            return True
        # Resolved, so that neither ".." nor a link leaves the permitted directories.
        real = path.resolve()
        permitted = any(real.is_relative_to(root) for root in self._roots)
        if not permitted:
            log.error("%s is outside allowed.paths and is not read", path)
        return permitted


class Resolver:
    """Replaces placeholders with the values of the providers it is given."""

    def __init__(self, providers: Mapping[str, ConfigProvider]) -> None:
        self._providers = dict(providers)

    def missing(self, props: Mapping[str, str | None]) -> dict[str, str]:
        """Errors, by key, for references whose provider the worker's properties lack."""
        return {
            key: f"Invalid value {match[0]} for configuration {key}: {self._lines(match[1])}"
            for key, text in props.items()
            for match in _PLACEHOLDER.finditer(text or "")
            if (match[1] in _USUAL_NAMES or match[1].lower() in _SECRET_NAMES)
            and match[1] not in self._providers
        }

    def _lines(self, name: str) -> str:
        usual = _USUAL_NAMES.get(name)
        its_class = f"{_JAVA_PACKAGE}.{usual}" if usual else "MODULE.CLASS, a provider in Python"
        return (
            f"the worker has no config provider {name}; its properties need the lines "
            f"{PROVIDERS_KEY}={','.join((*self._providers, name))} and "
            f"{PROVIDERS_KEY}.{name}.class={its_class}"
        )

    def resolve(self, props: Mapping[str, str]) -> dict[str, str]:
        """The properties with every placeholder replaced whose provider has a value for it.

        Raises:
            ConfigError: the provider of a reference is missing.
        """
        missing = self.missing(props)
        if missing:
            texts = {key: (text,) for key, text in missing.items()}
            raise ConfigError("\n".join(missing.values()), texts)
        wanted = self._wanted(props.values())
        found = {
            (name, path): self._providers[name].get(path, keys)
            for (name, path), keys in wanted.items()
        }
        return {key: _replaced(text, found) for key, text in props.items()}

    def _wanted(self, texts: Collection[str]) -> dict[tuple[str, str], set[str]]:
        wanted: dict[tuple[str, str], set[str]] = {}
        for text in texts:
            for match in _PLACEHOLDER.finditer(text or ""):
                if match[1] in self._providers:
                    wanted.setdefault((match[1], match[3] or ""), set()).add(match[4])
        return wanted


def _replaced(text: str, found: Mapping[tuple[str, str], Mapping[str, str]]) -> str:
    def value(match: re.Match[str]) -> str:
        return found.get((match[1], match[3] or ""), {}).get(match[4], match[0])

    return _PLACEHOLDER.sub(value, text) if text else text


def resolver(props: Mapping[str, str], environ: Mapping[str, str]) -> Resolver:
    """The resolver that a worker's `config.providers` keys describe.

    Raises:
        ConfigError: a provider has no class, or its class can't be loaded.
    """
    names = parse_value(PROVIDERS_KEY, props.get(PROVIDERS_KEY), Type.LIST) or []
    return Resolver({name: _provider(name, props, environ) for name in names})


def _provider(name: str, props: Mapping[str, str], environ: Mapping[str, str]) -> ConfigProvider:
    prefix = f"{PROVIDERS_KEY}.{name}."
    class_name = props.get(f"{prefix}class", "").strip()
    if not class_name:
        raise ConfigError(f"{prefix}class is missing; set it to the class of the provider {name}")
    params = under_prefix(props, f"{prefix}param.")
    build = BUILT_IN.get(class_name.rpartition(".")[2])
    return build(params, environ) if build else _loaded(class_name, params)


def _loaded(class_name: str, params: Mapping[str, str]) -> ConfigProvider:
    module, _, attribute = class_name.rpartition(".")
    try:
        made = getattr(importlib.import_module(module), attribute)(params)
    except (ImportError, AttributeError, ValueError) as error:
        known = ", ".join(BUILT_IN)
        text = f"Config provider class {class_name} can't be loaded; the built-in ones are {known}"
        raise ConfigError(text) from error
    provider: ConfigProvider = made
    return provider


def _content(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"Could not read file {file}") from error


def _existing(path: Path) -> Path:
    if not path.is_absolute():
        raise ConfigError(f"Path {path} is not absolute")
    if not path.exists():
        raise ConfigError(f"Path {path} does not exist")
    return path.resolve()


BUILT_IN: Final[dict[str, Callable[[Mapping[str, str], Mapping[str, str]], ConfigProvider]]] = {
    "EnvVarConfigProvider": lambda params, environ: EnvironmentProvider(
        environ, params.get("allowlist.pattern")
    ),
    "FileConfigProvider": lambda params, _: FileProvider(AllowedPaths(params.get("allowed.paths"))),
    "DirectoryConfigProvider": lambda params, _: DirectoryProvider(
        AllowedPaths(params.get("allowed.paths"))
    ),
}
