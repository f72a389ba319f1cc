"""Requests that change what is to run: configs, target states, restarts."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import ConfigError, ConflictError, NotFoundError
from penstock.kernel.logs import Scope, logged_as
from penstock.kernel.wire.models import ConnectorInfo, ConnectorStatus, Created, named_config
from penstock.worker.herder.command_thread import CommandThread
from penstock.worker.herder.conductor import Conductor
from penstock.worker.herder.infos import ConfigInfos
from penstock.worker.herder.interface import ConfigMap
from penstock.worker.herder.lanes import within
from penstock.worker.herder.restarts import restart_plan
from penstock.worker.herder.secrets import Secrets
from penstock.worker.herder.status_writer import Records
from penstock.worker.herder.views import Views
from penstock.worker.interface import State, TargetState
from penstock.worker.storage.interfaces import (
    ConfigStore,
    ConnectorEntry,
    RestartRequest,
    StatusStore,
)

log = logging.getLogger(__name__)

_PATCH_ATTEMPTS: Final = 5


class Validation(Protocol):
    """Checks connector configs. May call plugins, so it may take long or hang."""

    def check(self, config: ConfigMap, *, outside: bool = True) -> None:
        """Raise ConfigError or BadRequestError, with the API's text, if the config is invalid."""
        ...

    def validate(self, config: ConfigMap, *, outside: bool = True) -> ConfigInfos:
        """The errors of a config, key by key; `outside`: also check its servers and tables."""
        ...

    def definitions(self, name: str, version: str | None = None) -> list[dict[str, Any]]:
        """The keys of a plugin."""
        ...

    def unknown_keys(self, config: ConfigMap) -> list[str]:
        """Warnings for keys that no plugin declares."""
        ...


class Writes:
    """Validates on threads of its own, decides and stores on the herder's."""

    def __init__(
        self,
        *,
        thread: CommandThread,
        conductor: Conductor,
        configs: ConfigStore,
        statuses: StatusStore,
        records: Records,
        views: Views,
        secrets: Secrets,
        validation: Validation,
    ) -> None:
        self._thread = thread
        self._conductor = conductor
        self._configs = configs
        self._statuses = statuses
        self._records = records
        self._views = views
        self._secrets = secrets
        self._validation = validation

    # -------------------------------------------------------------------------------- configs

    def create(
        self,
        name: str,
        config: ConfigMap,
        target: str | None,
        deadline: Deadline,
        *,
        clear: bool = False,
        like: str | None = None,
    ) -> ConnectorInfo:
        """Store a new connector; with `like`, with the config of that one, changed by `config`."""
        stored = None if like is None else self._views.entry(like).config or {}
        checked = self._checked(self._changed_from(stored, config), deadline, stored)

        def store() -> ConnectorInfo:
            if self._views.find(name) is not None:
                raise ConflictError(f"Connector {name} already exists")
            self._configs.put_connector(name, checked, deadline, target=target)
            return self._changed(name, clear=clear)

        return self._thread.call(_writing(name), store, deadline)

    def put(
        self, name: str, config: ConfigMap, deadline: Deadline, *, clear: bool = False
    ) -> Created:
        stored = self._views.stored_config(name)
        checked = self._checked(self._secrets.restored(config, stored), deadline, stored)

        def store() -> Created:
            created = self._views.find(name) is None
            self._replace(name, checked, deadline)
            return Created(created, self._changed(name, clear=clear))

        return self._thread.call(_writing(name), store, deadline)

    def patch(
        self, name: str, patch: ConfigMap, deadline: Deadline, *, clear: bool = False
    ) -> ConnectorInfo:
        for _ in range(_PATCH_ATTEMPTS):
            old = self._views.entry(name).config or {}
            new = self._changed_from(old, patch)
            if "name" in new:
                named_config(name, new)
            checked = self._checked(new, deadline, old)

            def store(
                old: Mapping[str, str] = old, checked: Mapping[str, str] = checked
            ) -> ConnectorInfo | None:
                if self._views.entry(name).config != old:
                    return None  # another request changed it meanwhile: patch the new config
                self._replace(name, checked, deadline)
                return self._changed(name, clear=clear)

            found = self._thread.call(_writing(name), store, deadline)
            if found is not None:
                return found
        raise ConflictError(
            "Cannot complete request momentarily due to stale configuration "
            "(typically caused by a concurrent config change)"
        )

    def delete(self, name: str, deadline: Deadline) -> None:
        def remove() -> None:
            self._views.entry(name)
            self._configs.remove_connector(name, deadline)
            self._conductor.reconcile_one(name)

        step = f"removing the config for connector {name} from the config topic"
        self._thread.call(step, remove, deadline)

    def _changed_from(
        self, stored: Mapping[str, str] | None, patch: ConfigMap
    ) -> dict[str, str | None]:
        """Patch the masked config, then restore its secrets by the rules of any sent config."""
        if stored is None:
            return dict(patch)
        return self._secrets.restored(patched(self._secrets.masked(stored), patch), stored)

    def _checked(
        self, config: ConfigMap, deadline: Deadline, stored: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        infos = self.findings(config, deadline, stored)
        message = infos.message()
        if message is not None:
            self._warn(config, infos.guesses())
            raise ConfigError(message, infos.errors_by_key())
        self._warn(config, self._validation.unknown_keys(config))
        return {key: value for key, value in config.items() if value is not None}

    def findings(
        self, config: ConfigMap, deadline: Deadline, stored: Mapping[str, str] | None = None
    ) -> ConfigInfos:
        """All errors of a config whose secrets are restored.

        Raises:
            BadRequestError: the config names no connector, or none that exists here.
            ConfigError: a client override has a value of the wrong type.
        """
        self._secrets.require_class(config)
        masks = self._secrets.mask_problems(config, stored)
        found = within(
            deadline,
            "validating the connector's config",
            # Do not try a mask as a password at a server.
            lambda: self._validation.validate(config, outside=not masks),
        )
        return found.with_errors({name: [text] for name, text in masks.items()})

    def _warn(self, config: ConfigMap, notes: Iterable[str]) -> None:
        name = config.get("name") or ""
        with logged_as(Scope(name)):
            for note in notes:
                log.warning("Connector %s: %s", name, note)

    def _replace(self, name: str, config: Mapping[str, str], deadline: Deadline) -> None:
        same = self._views.stored_config(name) == config
        self._configs.put_connector(name, config, deadline)
        status = self._statuses.connector(name)
        # Users send the same config again to restart a failed connector.
        if same and status is not None and status.state == State.FAILED:
            self._conductor.restart(name, connector=True)

    def _changed(self, name: str, *, clear: bool) -> ConnectorInfo:
        self._conductor.reconcile_one(name)
        return self._views.info(name, clear=clear)

    # -------------------------------------------------------------------------- target states

    def set_target(self, name: str, target: TargetState, deadline: Deadline) -> None:
        def store() -> None:
            if self._views.find(name) is None:
                raise NotFoundError(f"Unknown connector {name}")
            if target is TargetState.STOPPED:
                # In this order a crash between the two leaves a connector without tasks, which
                # creates them again; in the other order a stopped one would still have tasks.
                self._configs.put_tasks(name, [], deadline)
            self._configs.put_target(name, target.value, deadline)
            self._conductor.reconcile_one(name)

        step = f"writing the {target} target state for connector {name} to the config topic"
        self._thread.call(step, store, deadline)

    # ------------------------------------------------------------------------------- restarts

    def restart(self, name: str, deadline: Deadline) -> None:
        def do() -> None:
            self._known(name)
            self._conductor.restart(name, connector=True)

        self._thread.call(f"restarting connector {name}", do, deadline)

    def restart_all(self, request: RestartRequest, deadline: Deadline) -> ConnectorStatus:
        def do() -> ConnectorStatus:
            name = request.connector
            self._known(name)
            status = self._statuses.connector(name)
            if status is None:
                raise NotFoundError(f"Status for connector {name} not found")
            plan = restart_plan(request, status, self._statuses.tasks(name))
            self._configs.put_restart(request, deadline)
            if plan.restart_connector or plan.restart_tasks:
                self._records.restarting(name, plan.connector, plan.tasks)
                self._conductor.restart(
                    name, connector=plan.restart_connector, tasks=plan.restart_tasks
                )
            return self._views.shown_status(name, plan.connector, plan.tasks)

        step = f"handling restart request for connector {request.connector}"
        return self._thread.call(step, do, deadline)

    def restart_task(self, task: TaskId, deadline: Deadline) -> None:
        def do() -> None:
            if task.number not in range(len(self._known(task.connector).tasks)):
                raise NotFoundError(f"Unknown task: {task}")
            self._conductor.restart(task.connector, connector=False, tasks=[task])

        self._thread.call(f"restarting task {task}", do, deadline)

    def _known(self, name: str) -> ConnectorEntry:
        found = self._views.find(name)
        if found is None:
            raise NotFoundError(f"Unknown connector: {name}")
        return found


def patched(config: Mapping[str, str], patch: ConfigMap) -> dict[str, str | None]:
    """A config with some keys replaced, and without those that are None in the patch."""
    merged: dict[str, str | None] = {**config, **patch}
    return {name: value for name, value in merged.items() if value is not None}


def _writing(name: str) -> str:
    return f"writing a config for connector {name} to the config topic"
