"""Writes the connectors of a cluster to files; a plan of these has no changes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from penstock.kernel.config.redaction import is_reference
from penstock.kernel.config.values import HIDDEN
from penstock.kernel.errors import ConfigError
from penstock.kernel.wire.states import Wanted
from penstock.tools.client import Client
from penstock.tools.manager.cluster import Running, read_connectors, read_secrets
from penstock.tools.manager.connector import NAME, matches
from penstock.tools.manager.secrets import SecretKeys, has_password, hides

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")
# Other line ends and invisible characters; PyYAML would lose some of them in other styles.
_NEEDS_ESCAPES: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\xa0\u2028\u2029\ufeff]")
_STATES: Final = {"PAUSED": Wanted.PAUSED, "STOPPED": Wanted.STOPPED}


class Format(StrEnum):
    """The formats of files."""

    YAML = "yaml"
    JSON = "json"


class SecretForm(StrEnum):
    """How a file has a secret: masked, as a reference to a variable, or in clear text."""

    HIDDEN = "hidden"
    ENV = "env"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class Export:
    """Documents by connector, and `(connector, key)` of the secrets that are not in them."""

    documents: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    secrets: Sequence[tuple[str, str]] = ()


def export(
    client: Client, patterns: Sequence[str] = (), secrets: SecretForm = SecretForm.HIDDEN
) -> Export:
    """The cluster's connectors as documents; those that match, or all."""
    found = [each for each in read_connectors(client).values() if matches(each.name, patterns)]
    keys = SecretKeys()
    if secrets is not SecretForm.CLEAR or any(map(hides, _values(found))):
        keys = read_secrets(client, {each.plugin for each in found})
    left_out: list[tuple[str, str]] = []
    documents = {each.name: _document(each, keys, secrets, left_out) for each in found}
    return Export(documents, left_out)


def _values(connectors: Iterable[Running]) -> Iterable[str]:
    return (text for each in connectors for text in each.config.values())


def _document(
    running: Running, keys: SecretKeys, form: SecretForm, left_out: list[tuple[str, str]]
) -> dict[str, Any]:
    config = running.own_config
    for key, text in config.items():
        if not text or is_reference(text):
            continue
        if not keys.is_secret(key, running.config) and not has_password(text):
            continue
        if form is SecretForm.ENV:
            config[key] = f"${{env:{_variable(running.name, key)}}}"
        elif form is SecretForm.HIDDEN or hides(text):
            config[key] = HIDDEN
        else:
            continue
        left_out.append((running.name, key))
    document: dict[str, Any] = {NAME: running.name}
    if running.state in _STATES:
        document["state"] = str(_STATES[running.state])
    return {**document, "config": dict(sorted(config.items(), key=_class_first))}


def _class_first(item: tuple[str, str]) -> tuple[bool, str]:
    return item[0] != "connector.class", item[0]


def _variable(connector: str, key: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", f"{connector}_{key}").upper()


# --------------------------------------------------------------------------------------- files


def write_text(found: Export, form: Format) -> str:
    """All connectors as one file."""
    if form is Format.JSON:
        return json.dumps([*found.documents.values()], indent=2, ensure_ascii=False) + "\n"
    return _yaml({"connectors": [*found.documents.values()]})


def write_directory(
    found: Export, directory: Path, form: Format, *, replace: bool = False
) -> list[Path]:
    """Write a file for each connector. Returns their paths.

    Raises:
        ConfigError: a file exists already and may not be replaced, or can't be written.
    """
    files = {directory / name: found.documents[each] for each, name in _file_names(found, form)}
    there = [str(file) for file in files if file.exists()]
    if there and not replace:
        exists = "exists already" if len(there) == 1 else f"and {len(there) - 1} more exist already"
        raise ConfigError(f"{there[0]} {exists}; --force replaces them")
    for file, document in files.items():
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            file.write_text(text if form is Format.JSON else _yaml(document), encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{file}: can't be written: {error.strerror}") from error
    return list(files)


def _file_names(found: Export, form: Format) -> list[tuple[str, str]]:
    """A file name for each connector: its own name, as far as file systems and `load` allow."""
    taken: set[str] = set()
    names = []
    for connector in found.documents:
        stem = _UNSAFE.sub("-", connector).lstrip("._") or "connector"
        name, number = stem, 2
        while name.lower() in taken:
            name, number = f"{stem}-{number}", number + 1
        taken.add(name.lower())
        names.append((connector, f"{name}.{form}"))
    return names


def _yaml(document: Any) -> str:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes texts of several lines as blocks, which is how people write SQL."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = '"' if _NEEDS_ESCAPES.search(value) else "|" if "\n" in value.strip("\n") else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return str(
        yaml.dump(document, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=1_000_000)
    )
