"""The offsets that a new connector starts from, in the form that workers return them."""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.wait_options import SECONDS
from penstock.kernel.errors import ConfigError, MalformedRequestError, PenstockError
from penstock.kernel.wire.models import ConnectorOffsets, OffsetEntry

if TYPE_CHECKING:
    from penstock.cli.connectors.given import Given
    from penstock.tools.client import Client


def first_offsets(
    file: Path | None, names: Collection[str], *, replace: bool
) -> tuple[OffsetEntry, ...]:
    """The entries of a file in the form of `GET /connectors/NAME/offsets`; none without a file.

    Raises:
        ConfigError: the file has another form, or there is not exactly one new connector.
    """
    if file is None:
        return ()
    if replace or len(names) != 1:
        raise ConfigError("--offsets needs exactly one new connector, without --replace")
    try:
        found = ConnectorOffsets.of(json.loads(file.read_text(encoding="utf-8"))).offsets
    except (OSError, ValueError, MalformedRequestError) as error:
        raise ConfigError(f"{file}: {error}") from error
    if not found:
        raise ConfigError(f"{file}: has no offsets")
    return found


def create_at(client: Client, given: Given, offsets: tuple[OffsetEntry, ...]) -> None:
    """Create a stopped connector with these offsets; if that fails, it is deleted.

    Raises:
        PenstockError: the server refuses it.
    """
    client.create(given.name, given.config, "STOPPED")
    try:
        client.wait(given.name, "STOPPED", SECONDS)
        client.alter_offsets(given.name, offsets)
    except BaseException:
        # It would start at the wrong place, also if somebody resumes it after Ctrl-C. The first
        # error is the one to report.
        with suppress(PenstockError):
            client.delete(given.name)
        raise
