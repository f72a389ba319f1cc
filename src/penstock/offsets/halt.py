"""Taking a connector out of the way while its offsets change, and putting it back."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Final, Protocol

from penstock.client import Client, ServerError
from penstock.config.redaction import has_mask
from penstock.config.values import HIDDEN
from penstock.errors import (
    BadRequestError,
    ConflictError,
    DeadlineExceededError,
    NotFoundError,
    PenstockError,
)
from penstock.offsets.patience import holds
from penstock.offsets.state_files import is_kept, write_state

STOPPED: Final = "STOPPED"
PAUSED: Final = "PAUSED"
RUNNING: Final = "RUNNING"
FAILED: Final = "FAILED"
_START_SECONDS: Final = 20.0


class Halt(Protocol):
    """A connector that does not run between stop() and restore()."""

    def stop(self) -> None:
        """Returns once nobody writes offsets any more."""
        ...

    def restore(self) -> str:
        """Back to the state before; the state that is seen then."""
        ...

    def left_behind(self) -> str:
        """What holds if restore() failed, and what to do."""
        ...


class Nobody:
    """There is no such connector, so nobody is in the way."""

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
        """Raises NotSupportedError if the server can't."""
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

    A pause is not enough there. A paused task goes on from what it remembers, not from what is
    stored, and a paused sink stays a member of its group.
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
            ConflictError: the file is there, from a change that did not come to its end.
        """
        hidden = sorted(
            key for key, value in self._config.items() if value == HIDDEN or has_mask(value)
        )
        if hidden:
            raise BadRequestError(
                f"the server does not tell {', '.join(hidden)}, so the connector could not be"
                " created again"
            )
        if is_kept(self._file):
            raise ConflictError(
                f"{self._file} holds its config from a change that did not come to its end. If the"
                " connector is complete, remove that file; else give it that config back first"
            )
        # Should the machine fail now, this is all that is left of the connector.
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
        with suppress(OSError):  # The next one that needs the file tells of it.
            self._file.unlink(missing_ok=True)
        return state

    def left_behind(self) -> str:
        """It is gone, but for the file."""
        return (
            f"{self._name} is deleted; create it again from {self._file}, which may hold passwords"
        )


class NotSupportedError(BadRequestError):
    """The server is too old to stop connectors."""


def needs_recreate(name: str) -> BadRequestError:
    """What to tell those who did not ask for it."""
    return BadRequestError(
        f"the server can't stop {name} (Connect can since 3.5), and a pause is not enough: the"
        " connector must be deleted and created again with the same config around the change."
        " --recreate does that"
    )


def restored(client: Client, name: str, before: str, *, resume: bool = True) -> str:
    """Tell the connector to be as it was, and wait a moment for it; the state it has then."""
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
    """The connector's state; that it runs while nothing is known yet."""
    try:
        return client.status(name).connector.state
    except NotFoundError:
        return RUNNING


def settled(read: Callable[[], object], quiet_seconds: float, seconds: float) -> None:
    """Wait until what is read stays the same: tasks store their last offsets when they end."""
    seen: list[object] = [read()]

    def unchanged() -> bool:
        holds(lambda: False, quiet_seconds)
        seen.append(read())
        return seen[-1] == seen[-2]

    if not holds(unchanged, seconds):
        raise PenstockError("the offsets change all the time: does another worker run it?")
