"""Stops a connector while its offsets change, and restores it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Final, Protocol

from penstock.kernel.config.redaction import has_mask
from penstock.kernel.config.values import HIDDEN
from penstock.kernel.errors import (
    BadRequestError,
    ConflictError,
    DeadlineExceededError,
    NotFoundError,
    PenstockError,
)
from penstock.tools.client import Client, ServerError
from penstock.tools.offsets.settling import holds
from penstock.tools.offsets.state_files import is_kept, write_state

STOPPED: Final = "STOPPED"
PAUSED: Final = "PAUSED"
RUNNING: Final = "RUNNING"
FAILED: Final = "FAILED"
_START_SECONDS: Final = 20.0


class Halt(Protocol):
    """A connector that does not run between stop() and restore()."""

    def stop(self) -> None:
        """Returns once no task writes offsets any more."""
        ...

    def restore(self) -> str:
        """Bring it back to the state before. Returns the state it has then."""
        ...

    def left_behind(self) -> str:
        """The situation after restore() failed, and what to do."""
        ...


class NothingToStop:
    """For a connector that does not exist."""

    def stop(self) -> None:
        """Nothing to do."""

    def restore(self) -> str:
        """Nothing to do."""
        return ""

    def left_behind(self) -> str:
        """Nothing."""
        return ""


class Stopped:
    """PUT /connectors/{c}/stop (Connect since 3.5)."""

    def __init__(self, client: Client, name: str, seconds: float) -> None:
        self._client = client
        self._name = name
        self._seconds = seconds
        self._before = state_of(client, name)

    def stop(self) -> None:
        """Raises NotSupportedError if the server can't stop connectors."""
        if self._before == STOPPED:
            return
        try:
            self._client.stop(self._name)
        except (NotFoundError, ServerError) as error:
            status = error.status if isinstance(error, ServerError) else HTTPStatus.NOT_FOUND
            if status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
                raise NotSupportedError(f"the server of {self._name} can't stop it") from error
            raise
        if not holds(self._is_stopped, self._seconds):
            raise DeadlineExceededError(f"it did not stop in {self._seconds:.0f} s")

    def restore(self) -> str:
        """Resume it, or pause it."""
        return restored(self._client, self._name, self._before)

    def left_behind(self) -> str:
        """It is stopped."""
        return f"{self._name} is still stopped: `penstock resume {self._name}` starts it"

    def _is_stopped(self) -> bool:
        found = self._client.status(self._name)
        return found.connector.state == STOPPED and not found.tasks


class Recreated:
    """DELETE, and the same connector again: for servers that can't stop one.

    A pause is not enough. A paused task continues from its memory, not from the stored offset,
    and a paused sink stays a member of its group.
    """

    def __init__(self, client: Client, name: str, keep: Path, seconds: float) -> None:
        self._client = client
        self._name = name
        self._seconds = seconds
        self._file = keep
        self._deleted = False
        self._before = state_of(client, name)
        self._config = client.config(name)

    def stop(self) -> None:
        """Keep its config in a file, and delete it.

        Raises:
            BadRequestError: it could not be created again.
            ConflictError: the file exists, from an unfinished change.
        """
        hidden = sorted(
            key for key, value in self._config.items() if value == HIDDEN or has_mask(value)
        )
        if hidden:
            raise BadRequestError(
                f"the server hides {', '.join(hidden)}, so the connector could not be created again"
            )
        if is_kept(self._file):
            raise ConflictError(
                f"{self._file} has its config from an unfinished change. If the connector is"
                " complete, remove that file; otherwise restore that config first"
            )
        # If the machine fails now, only this file is left of the connector.
        document = {"name": self._name, "config": self._config}
        write_state(self._file, json.dumps(document, indent=2).encode())
        self._deleted = True  # Even if the answer is lost.
        self._client.delete(self._name)
        if not holds(lambda: self._name not in self._client.connectors(), self._seconds):
            raise DeadlineExceededError("it was deleted, but the server still has it")

    def restore(self) -> str:
        """Create it again, if it was deleted here."""
        if not self._deleted:
            return self._before
        self._client.put_config(self._name, self._config)
        state = restored(self._client, self._name, self._before, resume=False)
        with suppress(OSError):  # The next change reports the leftover file.
            self._file.unlink(missing_ok=True)
        return state

    def left_behind(self) -> str:
        """It is deleted; only the file is left."""
        return (
            f"{self._name} is deleted; create it again from {self._file}, which may hold passwords"
        )


class NotSupportedError(BadRequestError):
    """The server is too old to stop connectors."""


def needs_recreate(name: str) -> BadRequestError:
    """The error if --recreate is needed, but was not given."""
    return BadRequestError(
        f"the server can't stop {name} (Connect can since 3.5), and a pause is not enough: the"
        " connector must be deleted and created again with the same config around the change."
        " --recreate does that"
    )


def restored(client: Client, name: str, before: str, *, resume: bool = True) -> str:
    """Bring the connector to its old state and wait a moment. Returns the state it has then."""
    if before == STOPPED:
        return STOPPED
    wanted = PAUSED if before == PAUSED else RUNNING
    if before == PAUSED:
        client.pause(name)
    elif resume:
        client.resume(name)
    holds(lambda: state_of(client, name) in (wanted, FAILED), _START_SECONDS)
    return state_of(client, name)


def state_of(client: Client, name: str) -> str:
    """The connector's state; RUNNING while it is unknown."""
    try:
        return client.status(name).connector.state
    except NotFoundError:
        return RUNNING


def settled(read: Callable[[], object], quiet_seconds: float, seconds: float) -> None:
    """Wait until the offsets stay the same: tasks store their last ones when they end."""
    seen: list[object] = [read()]

    def unchanged() -> bool:
        holds(lambda: False, quiet_seconds)
        seen.append(read())
        return seen[-1] == seen[-2]

    if not holds(unchanged, seconds):
        raise PenstockError("the offsets keep changing: another worker may run the connector")
