"""One method for each operation of the REST API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

from penstock.kernel.clock import Deadline
from penstock.kernel.config.values import HIDDEN
from penstock.kernel.errors import (
    BadRequestError,
    DeadlineExceededError,
    NotFoundError,
    PenstockError,
)
from penstock.kernel.wire.digests import secret_digest
from penstock.kernel.wire.models import (
    ConnectorInfo,
    ConnectorOffsets,
    ConnectorStatus,
    Created,
    Health,
    LoggerLevel,
    LogPage,
    OffsetEntry,
    ServerInfo,
    StateInfo,
    TaskInfo,
)
from penstock.tools.client import answers
from penstock.tools.client.answers import Expanded, Plugin, Validation
from penstock.tools.client.paths import at, flag
from penstock.tools.client.transport import DEFAULT_URL, Transport

T = TypeVar("T")

_TIMEOUT = 90.0
"""As long as a worker itself waits for a request to be carried out."""

_RETRY_SECONDS = 60.0


class Client:
    """A worker's REST API, in the order of its documentation. For use from any thread.

        >>> client = Client("http://localhost:8083")
        >>> client.create("lines", {"connector.class": "FileStreamSource", ...})
        >>> client.status("lines").connector.state
        'RUNNING'

    Errors are those of `penstock.client` (NotFoundError, ConflictError, BadRequestError, …). A
    request that the workers refuse because they rebalance is repeated for `retry_seconds`.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        timeout: float = _TIMEOUT,
        retry_seconds: float = _RETRY_SECONDS,
        auth: tuple[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        verify: bool | str = True,
        on_wait: Callable[[str], None] | None = None,
    ) -> None:
        """`auth` is a user and a password, `verify` the file of the authorities to trust.

        `on_wait` is called on another thread with what a worker that does not answer waits for.
        """
        self._transport = Transport(
            url,
            timeout=timeout,
            retry_seconds=retry_seconds,
            auth=auth,
            headers=headers,
            verify=verify,
            on_wait=on_wait,
        )

    @property
    def url(self) -> str:
        """The address of the worker."""
        return self._transport.url

    def close(self) -> None:
        """Give up the connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # ------------------------------------------------------------------------------ the worker

    def server(self) -> ServerInfo:
        """Version and Kafka cluster."""
        return self._get("/", answers.server_info)

    def health(self) -> Health:
        """Whether the worker is ready; Connect has this since 3.9."""
        return self._get("/health", answers.health)

    # ------------------------------------------------------------------------------ connectors

    def connectors(self) -> list[str]:
        """Their names, sorted."""
        return sorted(self._get("/connectors", answers.names))

    def infos(self) -> dict[str, ConnectorInfo]:
        """Config, tasks and type of all connectors, by name."""
        return self._expanded(lambda each: answers.connector_info(each["info"]), "info")

    def statuses(self) -> dict[str, ConnectorStatus]:
        """States of all connectors that have one, by name."""
        return self._expanded(lambda each: answers.connector_status(each["status"]), "status")

    def expanded(self) -> dict[str, Expanded]:
        """Both of all connectors, by name, in one request."""

        def read(each: dict[str, Any]) -> Expanded | None:
            info, status = each.get("info"), each.get("status")
            shown = answers.connector_status(status) if status else None
            return Expanded(answers.connector_info(info), shown) if info else None

        found = self._expanded(read, "info", "status")
        return {name: each for name, each in found.items() if each is not None}

    def create(
        self, name: str, config: Mapping[str, str], initial_state: str | None = None
    ) -> ConnectorInfo:
        """A new connector; `initial_state` is RUNNING, PAUSED or STOPPED (Connect since 3.7).

        Raises:
            ConflictError: there is one of this name.
            BadRequestError: the config is not valid.
        """
        body: dict[str, Any] = {"name": name, "config": dict(config)}
        body |= {} if initial_state is None else {"initial_state": initial_state}
        return self._transport.ask("POST", "/connectors", answers.connector_info, body)

    def copy(
        self,
        like: str,
        name: str,
        changes: Mapping[str, str | None] | None = None,
        initial_state: str | None = None,
    ) -> ConnectorInfo:
        """A new connector with the config of another one, secrets included.

        Penstock copies by itself, so that a hidden secret need not be known; from another server
        the config is read and sent back. None among the changes leaves a key out.

        Raises:
            NotFoundError: there is none to copy.
            ConflictError: there is one of this name.
            BadRequestError: the config is not valid, or has secrets for another place.
        """
        body: dict[str, Any] = {"name": name, "config": dict(changes or {})}
        body |= {} if initial_state is None else {"initial_state": initial_state}
        path = f"/penstock{at(like, 'copy')}"
        try:
            return self._transport.ask("POST", path, answers.connector_info, body)
        except NotFoundError:
            # Either the connector is not there, which reading it tells, or the path is not.
            config: dict[str, str | None] = {**self.config(like), "name": name, **body["config"]}
        hidden = sorted(key for key, text in config.items() if text == HIDDEN)
        if hidden:
            raise BadRequestError(f"the server hides {', '.join(hidden)}: give the values anew")
        given = {key: text for key, text in config.items() if text is not None}
        return self.create(name, given, initial_state)

    def connector(self, name: str) -> ConnectorInfo:
        """Config, tasks and type."""
        return self._get(at(name), answers.connector_info)

    def config(self, name: str) -> dict[str, str]:
        """Its config; passwords are hidden by Penstock, not by others."""
        return self._get(at(name, "config"), answers.mapping)

    def same_secrets(self, values: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, bool]]:
        """Of values that the server hides: by connector and key, whether the stored one is this.

        It gets digests of them. Keys that it hides nothing of, or of which it was asked for too
        many other values within an hour, are left out.

        Raises:
            NotFoundError: the server is not Penstock.
        """
        salt = self._get("/penstock/secrets/salt", lambda found: str(found["salt"]))
        digests = {
            name: {key: secret_digest(salt, name, key, value) for key, value in given.items()}
            for name, given in values.items()
        }
        body = {"salt": salt, "digests": digests}
        return self._transport.ask("POST", "/penstock/secrets/compare", answers.mapping, body)

    def put_config(self, name: str, config: Mapping[str, str]) -> Created:
        """Replace its config, or create it; `created` tells which."""
        path, read = at(name, "config"), answers.connector_info
        status, found = self._transport.exchange("PUT", path, read, dict(config))
        return Created(status == HTTPStatus.CREATED, found)

    def patch_config(self, name: str, patch: Mapping[str, str | None]) -> ConnectorInfo:
        """Change some keys; None removes one (Connect since 3.8)."""
        path = at(name, "config")
        return self._transport.ask("PATCH", path, answers.connector_info, dict(patch))

    def delete(self, name: str) -> None:
        """Delete it; its offsets stay."""
        self._transport.ask("DELETE", at(name), answers.nothing)

    def status(self, name: str) -> ConnectorStatus:
        """State of the connector and its tasks."""
        return self._get(at(name, "status"), answers.connector_status)

    def restart(
        self, name: str, *, include_tasks: bool = False, only_failed: bool = False
    ) -> ConnectorStatus | None:
        """Restart it, its tasks too, or only what failed; None if only the connector was."""
        query = {"includeTasks": flag(include_tasks), "onlyFailed": flag(only_failed)}

        def read(found: Any) -> ConnectorStatus | None:
            return None if found is None else answers.connector_status(found)

        return self._transport.ask("POST", at(name, "restart"), read, query=query)

    def pause(self, name: str) -> None:
        """Pause it; its tasks keep what they hold."""
        self._transport.ask("PUT", at(name, "pause"), answers.nothing)

    def resume(self, name: str) -> None:
        """Run it again after a pause or a stop."""
        self._transport.ask("PUT", at(name, "resume"), answers.nothing)

    def stop(self, name: str) -> None:
        """Stop it and give up its tasks (Connect since 3.5)."""
        self._transport.ask("PUT", at(name, "stop"), answers.nothing)

    def wait(self, name: str, state: str = "RUNNING", seconds: float = 60.0) -> None:
        """Wait until the connector with all its tasks is RUNNING, PAUSED or STOPPED.

        Raises:
            PenstockError: it has failed; the text has the reason.
            DeadlineExceededError: it is not there in time.
        """
        from penstock.tools.client.arrival import GOALS, arrivals

        goal = GOALS.get(state.upper())
        if goal is None:
            raise BadRequestError(f"{state} can't be waited for; there are {', '.join(GOALS)}")
        for _, found in arrivals(self, {name: goal}, seconds):
            if found.error:
                kind = DeadlineExceededError if found.late else PenstockError
                raise kind(f"{name}: {found.summary}")

    # ----------------------------------------------------------------------------------- tasks

    def tasks(self, name: str) -> list[TaskInfo]:
        """Its tasks with their configs."""
        return self._get(at(name, "tasks"), lambda found: list(map(answers.task_info, found)))

    def task_status(self, name: str, task: int) -> StateInfo:
        """State of one task."""
        return self._get(at(name, "tasks", str(task), "status"), answers.state_info)

    def restart_task(self, name: str, task: int) -> None:
        """Restart one task."""
        self._transport.ask("POST", at(name, "tasks", str(task), "restart"), answers.nothing)

    # ---------------------------------------------------------------------- topics and offsets

    def topics(self, name: str) -> list[str]:
        """The topics it has used, sorted."""
        return self._get(at(name, "topics"), lambda found: sorted(found[name]["topics"]))

    def reset_topics(self, name: str) -> None:
        """Forget the topics it has used."""
        self._transport.ask("PUT", at(name, "topics", "reset"), answers.nothing)

    def offsets(self, name: str) -> ConnectorOffsets:
        """How far it is (Connect since 3.5)."""
        return self._get(at(name, "offsets"), answers.offsets)

    def alter_offsets(self, name: str, entries: Sequence[OffsetEntry]) -> str:
        """Change offsets of a stopped connector; the server's message."""
        body = ConnectorOffsets(tuple(entries)).to_json()
        return self._transport.ask("PATCH", at(name, "offsets"), answers.message, body)

    def reset_offsets(self, name: str) -> str:
        """Forget all offsets of a stopped connector; the server's message."""
        return self._transport.ask("DELETE", at(name, "offsets"), answers.message)

    # --------------------------------------------------------------------------------- plugins

    def plugins(self, *, connectors_only: bool = True) -> list[Plugin]:
        """What can be run; else also converters, transformations, predicates and so on."""
        query = {"connectorsOnly": flag(connectors_only)}

        def read(found: Any) -> list[Plugin]:
            return [Plugin.of(each) for each in found]

        return self._transport.ask("GET", "/connector-plugins", read, query=query)

    def plugin_config(self, plugin: str) -> list[dict[str, Any]]:
        """The definitions of a plugin's keys."""
        return self._get(f"/connector-plugins/{quote(plugin, safe='')}/config", answers.mappings)

    def validate(self, plugin: str, config: Mapping[str, str]) -> Validation:
        """What is wrong with a config; nothing is created."""
        path = f"/connector-plugins/{quote(plugin, safe='')}/config/validate"
        return self._transport.ask("PUT", path, Validation.of, dict(config))

    def preview(
        self,
        plugin: str,
        config: Mapping[str, str],
        records: Sequence[Any] | None = None,
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """What a connector makes of records, step by step (Penstock only)."""
        body: dict[str, Any] = {"config": dict(config)}
        body |= {} if records is None else {"records": list(records)}
        body |= {} if limit is None else {"limit": limit}
        path = f"/connector-plugins/{quote(plugin, safe='')}/preview"
        return self._transport.ask("POST", path, lambda found: list(found["records"]), body)

    # ------------------------------------------------------------------------- logs and loggers

    def logs(
        self,
        name: str,
        *,
        limit: int | None = None,
        after: str | None = None,
        since_ms: int | None = None,
        level: str | None = None,
    ) -> LogPage:
        """The last lines that a connector logged on this worker (Penstock only).

        Args:
            name: the connector.
            limit: at most so many lines, else 100.
            after: the cursor of an earlier answer: the lines that came after it, oldest first.
            since_ms: only lines since then, in milliseconds since the epoch.
            level: only lines of this level and worse: ERROR, WARN, INFO, DEBUG.
        """
        given = {"limit": limit, "after": after, "since": since_ms, "level": level}
        query: dict[str, str | list[str]] = {
            key: str(value) for key, value in given.items() if value is not None
        }
        path = f"/penstock{at(name, 'logs')}"
        return self._transport.ask("GET", path, answers.log_page, query=query)

    def loggers(self) -> dict[str, LoggerLevel]:
        """All loggers whose level was set."""
        return self._get("/admin/loggers", answers.by_name(answers.logger_level))

    def logger(self, name: str) -> LoggerLevel:
        """The level of one logger."""
        return self._get(f"/admin/loggers/{quote(name, safe='')}", answers.logger_level)

    def set_logger(self, name: str, level: str, scope: str | None = None) -> list[str]:
        """Set a level on this worker, or with scope=cluster on all; the loggers it changed."""
        path = f"/admin/loggers/{quote(name, safe='')}"
        query = None if scope is None else {"scope": scope}
        return self._transport.ask(
            "PUT", path, lambda found: list(found or []), {"level": level}, query
        )

    def take_back_logger(self, name: str) -> list[str]:
        """Undo what was set for a logger and those below it (Penstock only); those it changed."""
        path = f"/admin/loggers/{quote(name, safe='')}"
        return self._transport.ask("DELETE", path, lambda found: list(found or []))

    # --------------------------------------------------------------------------------- inwards

    def until(self, deadline: Deadline) -> Client:
        """The same client, of which no request lasts longer than that."""
        limited = copy(self)
        limited._transport = self._transport.until(deadline)  # noqa: SLF001 - its own kind
        return limited

    def _get(self, path: str, read: Callable[[Any], T]) -> T:
        return self._transport.ask("GET", path, read)

    def _expanded(self, read: Callable[[Any], T], *parts: str) -> dict[str, T]:
        """What is read of each connector, by name."""
        query = {"expand": list(parts)}
        return self._transport.ask("GET", "/connectors", answers.by_name(read), query=query)
