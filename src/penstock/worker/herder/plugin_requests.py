"""Requests about plugins: which there are, their keys, and configs checked and tried with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.kernel.clock import Deadline
from penstock.kernel.errors import BadRequestError, PluginError
from penstock.plugins import CONNECTORS, Plugins, rest_list
from penstock.worker.herder.interface import ConfigMap
from penstock.worker.herder.lanes import within
from penstock.worker.herder.secrets import Secrets
from penstock.worker.herder.validation import check_request
from penstock.worker.herder.writes import Validation, Writes
from penstock.worker.interface import Worker


class PluginRequests:
    """They need no herder's thread, as they change nothing; stored configs are handed in."""

    def __init__(
        self,
        plugins: Plugins,
        validation: Validation,
        writes: Writes,
        secrets: Secrets,
        worker: Worker,
    ) -> None:
        self._plugins = plugins
        self._validation = validation
        self._findings = writes.findings
        self._secrets = secrets
        self._worker = worker

    def listed(self, *, connectors_only: bool) -> Sequence[Mapping[str, str]]:
        self._plugins.look_again()
        return rest_list(self._plugins.infos(CONNECTORS if connectors_only else None))

    def broken(self) -> Sequence[Mapping[str, str]]:
        self._plugins.look_again()
        return [
            {"name": each.name, "path": each.path, "error": each.error}
            for each in self._plugins.broken
        ]

    def keys(self, name: str, version: str | None, deadline: Deadline) -> list[dict[str, Any]]:
        step = f"reading the keys of plugin {name}"
        return within(deadline, step, lambda: self._validation.definitions(name, version))

    def validate(
        self, plugin: str, config: ConfigMap, stored: Mapping[str, str] | None, deadline: Deadline
    ) -> dict[str, Any]:
        restored = self._secrets.restored(config, stored)
        check_request(plugin, restored)
        try:
            return self._findings(restored, deadline, stored).to_json()
        except BadRequestError as error:
            # Connect answers 500 here and 400 to the same mistake when a connector is created.
            raise PluginError(str(error)) from error

    def preview(
        self,
        plugin: str,
        config: ConfigMap,
        stored: Mapping[str, str] | None,
        records: Sequence[Any] | None,
        limit: int,
        deadline: Deadline,
    ) -> list[dict[str, Any]]:
        restored = self._secrets.restored({"name": "preview", **config}, stored)
        check_request(plugin, restored)
        self._secrets.require_class(restored)
        for problem in self._secrets.mask_problems(restored, stored).values():
            raise BadRequestError(problem)

        def look() -> list[dict[str, Any]]:
            self._validation.check(restored, outside=False)
            given = {name: text for name, text in restored.items() if text is not None}
            return self._worker.preview(given, records, limit, deadline)

        return within(deadline, "making a preview", look)
