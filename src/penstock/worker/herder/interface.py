"""The herder as the REST API sees it: one method for each of its operations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from penstock.kernel.clock import Deadline
from penstock.kernel.wire.models import (
    ActiveTopics,
    ConnectorInfo,
    ConnectorOffsets,
    ConnectorStatus,
    Created,
    Health,
    LoggerLevel,
    LogPage,
    ServerInfo,
    StateInfo,
    TaskInfo,
)

ConfigMap = Mapping[str, str | None]


class Herder(Protocol):
    """Decides what runs. Methods may be called on any thread at any time.

    Before the herder has started they wait for it, at most until the deadline. They raise the
    errors of kernel.errors, whose text a client reads. They return secrets in clear only if
    `clear` is set.
    """

    def server_info(self) -> ServerInfo: ...

    def health(self, deadline: Deadline) -> Health: ...

    def connectors(self, deadline: Deadline) -> list[str]: ...

    def expanded(
        self, expansions: Collection[str], deadline: Deadline, *, clear: bool = False
    ) -> bytes:
        """All connectors with their `status`, `info`, both or neither, as the API's JSON."""
        ...

    def connector_info(
        self, name: str, deadline: Deadline, *, clear: bool = False
    ) -> ConnectorInfo: ...

    def connector_config(
        self, name: str, deadline: Deadline, *, clear: bool = False
    ) -> Mapping[str, str]: ...

    def secrets_salt(self) -> str:
        """The salt for the digests of same_secrets; it never changes while the worker runs."""
        ...

    def same_secrets(
        self, salt: str, digests: Mapping[str, Mapping[str, str]], deadline: Deadline
    ) -> dict[str, dict[str, bool]]:
        """Whether each digest is that of the stored secret, by connector and key.

        Keys with too many different wrong digests in the last hour are left out.
        """
        ...

    def connector_status(self, name: str, deadline: Deadline) -> ConnectorStatus: ...

    def create_connector(
        self,
        name: str,
        config: ConfigMap,
        target: str | None,
        deadline: Deadline,
        *,
        clear: bool = False,
        like: str | None = None,
    ) -> ConnectorInfo:
        """Store a connector that does not exist yet; its tasks are created in the background.

        With `like`, it gets the config of that connector, secrets included, changed as by a patch.
        """
        ...

    def put_connector_config(
        self, name: str, config: ConfigMap, deadline: Deadline, *, clear: bool = False
    ) -> Created:
        """Create the connector, or replace its config."""
        ...

    def patch_connector_config(
        self, name: str, patch: ConfigMap, deadline: Deadline, *, clear: bool = False
    ) -> ConnectorInfo:
        """Change some keys; None removes one."""
        ...

    def delete_connector(self, name: str, deadline: Deadline) -> None: ...

    def pause_connector(self, name: str, deadline: Deadline) -> None: ...

    def resume_connector(self, name: str, deadline: Deadline) -> None: ...

    def stop_connector(self, name: str, deadline: Deadline) -> None: ...

    def restart_connector(self, name: str, deadline: Deadline) -> None:
        """Restart the connector alone, whatever its state."""
        ...

    def restart_connector_and_tasks(
        self, name: str, *, include_tasks: bool, only_failed: bool, deadline: Deadline
    ) -> ConnectorStatus:
        """Restart what the flags say; the status shows RESTARTING for each of those."""
        ...

    def restart_task(self, name: str, task: int, deadline: Deadline) -> None: ...

    def tasks(self, name: str, deadline: Deadline, *, clear: bool = False) -> list[TaskInfo]: ...

    def task_status(self, name: str, task: int, deadline: Deadline) -> StateInfo: ...

    def active_topics(self, name: str, deadline: Deadline) -> ActiveTopics: ...

    def reset_active_topics(self, name: str, deadline: Deadline) -> None: ...

    def offsets(self, name: str, deadline: Deadline) -> ConnectorOffsets: ...

    def alter_offsets(self, name: str, offsets: ConnectorOffsets, deadline: Deadline) -> str: ...

    def reset_offsets(self, name: str, deadline: Deadline) -> str: ...

    def plugins(self, *, connectors_only: bool) -> Sequence[Mapping[str, str]]: ...

    def broken_plugins(self) -> Sequence[Mapping[str, str]]:
        """Plugins that can't be loaded, each with name, path and error."""
        ...

    def plugin_config(
        self, name: str, version: str | None, deadline: Deadline
    ) -> list[dict[str, Any]]:
        """The definitions of a plugin's keys."""
        ...

    def validate(self, plugin: str, config: ConfigMap, deadline: Deadline) -> dict[str, Any]:
        """Check a connector's config; return its errors instead of raising them."""
        ...

    def preview(
        self,
        plugin: str,
        config: ConfigMap,
        records: Sequence[Any] | None,
        limit: int,
        deadline: Deadline,
    ) -> list[dict[str, Any]]:
        """What a connector would turn records into, step by step; nothing is written."""
        ...

    def logs(
        self,
        name: str,
        *,
        limit: int,
        after: str | None,
        since_ms: int,
        level: str,
        deadline: Deadline,
    ) -> LogPage:
        """What a connector and its tasks have logged on this worker."""
        ...

    def loggers(self) -> Mapping[str, LoggerLevel]: ...

    def logger(self, name: str) -> LoggerLevel: ...

    def set_logger(self, name: str, level: str) -> list[str]:
        """Set the level on this worker; return the names of all loggers that changed."""
        ...

    def take_back_logger(self, name: str) -> list[str]:
        """Undo set_logger for a logger and all below it; return those that changed."""
        ...

    def set_cluster_logger(self, name: str, level: str, deadline: Deadline) -> None:
        """Set the level on every worker of the cluster."""
        ...
