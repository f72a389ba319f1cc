"""The offsets that a new connector is to start from: what a worker tells of another one."""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.waiting import SECONDS
from penstock.errors import ConfigError, PenstockError
from penstock.wire.json import MalformedRequestError
from penstock.wire.models import ConnectorOffsets, OffsetEntry

if TYPE_CHECKING:
    from penstock.cli.connectors.given import Given
    from penstock.client import Client


def first_offsets(
    file: Path | None, names: Collection[str], *, replace: bool
) -> tuple[OffsetEntry, ...]:
    """The entries of a file in the form of `GET /connectors/NAME/offsets`; none without a file.

    Raises:
        ConfigError: it is no such file, or not for one new connector.
    """
    if file is None:
        return ()
    if replace or len(names) != 1:
        raise ConfigError("--offsets is for one new connector: give one, without --replace")
    try:
        found = ConnectorOffsets.of(json.loads(file.read_text(encoding="utf-8"))).offsets
    except (OSError, ValueError, MalformedRequestError) as error:
        raise ConfigError(f"{file}: {error}") from error
    if not found:
        raise ConfigError(f"{file}: there are no offsets in it")
    return found


def create_at(client: Client, given: Given, offsets: tuple[OffsetEntry, ...]) -> None:
    """Make a connector that is stopped and has these offsets; if that fails, there is none.

    Raises:
        PenstockError: what the server says.
    """
    client.create(given.name, given.config, "STOPPED")
    try:
        client.wait(given.name, "STOPPED", SECONDS)
        client.alter_offsets(given.name, offsets)
    except BaseException:
        # It would start at another place than was asked for, also if somebody resumes it after
        # Ctrl-C. The first error is the one to tell.
        with suppress(PenstockError):
            client.delete(given.name)
        raise
