"""`penstock export`: a running cluster as connector files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penstock.cli.output import connectors_are, err, out, say
from penstock.kernel.errors import ConfigError, NotFoundError
from penstock.tools.client import Client
from penstock.tools.manager import Export, Format, SecretForm
from penstock.tools.manager import export as read
from penstock.tools.manager.connector import unmatched
from penstock.tools.manager.exporting import write_directory, write_text

_WARNED = 20


def run_export(
    client: Client,
    patterns: Sequence[str],
    directory: Path | None,
    file: Path | None,
    *,
    form: str,
    secrets: str,
    force: bool,
) -> None:
    """Write the files, and list the secrets that are not in them."""
    found = read(client, patterns, SecretForm(secrets))
    missing = unmatched(patterns, found.documents)
    if missing:
        hint = "" if directory or file else "; --output-dir names the directory to write to"
        raise NotFoundError(
            f"no connector is named {' or '.join(missing)}; nothing was written{hint}"
        )
    if directory is not None:
        files = write_directory(found, directory, Format(form), replace=force)
        say(f"{connectors_are(len(files))} in {directory}.")
    elif file is not None:
        _write_file(file, write_text(found, Format(form)), force=force)
        say(f"{connectors_are(len(found.documents))} in {file}.")
    else:
        out.file.write(write_text(found, Format(form)))
    _warn(found, SecretForm(secrets))


def _write_file(file: Path, text: str, *, force: bool) -> None:
    if file.exists() and not force:
        raise ConfigError(f"{file} exists already; --force replaces it")
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{file}: can't be written: {error.strerror}") from error


def _warn(found: Export, secrets: SecretForm) -> None:
    if not found.secrets:
        return
    stands = {
        SecretForm.HIDDEN: "[hidden] stands for them: the cluster keeps the values it has",
        SecretForm.ENV: "variables stand for them: set these for the workers, or change the files",
        SecretForm.CLEAR: "the server does not show them: [hidden] keeps the values it has",
    }[secrets]
    err.print(f"Secrets are not in the files; {stands}.", style="yellow", markup=False)
    for connector, key in found.secrets[:_WARNED]:
        err.print(f"    {connector}: {key}", markup=False)
    if len(found.secrets) > _WARNED:
        err.print(f"    and {len(found.secrets) - _WARNED} more", markup=False)
