"""Requests about offsets. They talk to brokers and plugins, so they run in the connector's lane:
neither the herder nor other connectors wait for them, and the connector starts no sooner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from penstock.api.plugin import PluginKind
from penstock.clock import Deadline
from penstock.errors import BadRequestError, ConfigError, PluginError
from penstock.herder.commands import CommandThread
from penstock.herder.lanes import Lanes, wait_for, within
from penstock.herder.views import Views
from penstock.wire.models import ConnectorOffsets, OffsetEntry
from penstock.worker_port import PartitionOffset, TargetState, Worker


class OffsetRequests:
    """GET, PATCH and DELETE of a connector's offsets."""

    def __init__(
        self, *, thread: CommandThread, lanes: Lanes, views: Views, worker: Worker
    ) -> None:
        self._thread = thread
        self._lanes = lanes
        self._views = views
        self._worker = worker

    def get(self, name: str, deadline: Deadline) -> ConnectorOffsets:
        config, kind = self._connector(name)
        found = within(
            f"reading the offsets of connector {name}",
            lambda: self._worker.offsets(name, config, kind, deadline),
            deadline,
        )
        return ConnectorOffsets(tuple(OffsetEntry(item.partition, item.offset) for item in found))

    def alter(self, name: str, offsets: ConnectorOffsets, deadline: Deadline) -> str:
        if not offsets.offsets:
            raise BadRequestError(
                "Partitions / offsets need to be provided for an alter offsets request"
            )
        # A null partition is for the worker to refuse: sources and sinks do so in other words.
        wanted = [
            PartitionOffset(cast("Mapping[str, Any]", entry.partition), entry.offset)
            for entry in offsets.offsets
        ]
        return self._modify(name, wanted, deadline)

    def reset(self, name: str, deadline: Deadline) -> str:
        return self._modify(name, None, deadline)

    def _modify(
        self, name: str, offsets: Sequence[PartitionOffset] | None, deadline: Deadline
    ) -> str:
        step = f"modifying offsets for connector {name}"

        def submit() -> Any:
            config, kind = self._connector(name)
            self._must_be_stopped(name)
            return self._lanes.submit(
                name, lambda: self._tell_worker(name, config, kind, offsets, deadline)
            )

        changed = self._thread.call(step, submit, deadline)
        return cast("str", wait_for(step, changed, deadline))

    def _tell_worker(
        self,
        name: str,
        config: Mapping[str, str],
        kind: PluginKind,
        offsets: Sequence[PartitionOffset] | None,
        deadline: Deadline,
    ) -> str:
        try:
            return self._worker.alter_offsets(name, config, kind, offsets, deadline)
        except ConfigError as error:
            # What a connector itself objects to is a 500 in Connect, what the framework does a 400.
            raise PluginError(str(error)) from error

    def _connector(self, name: str) -> tuple[Mapping[str, str], PluginKind]:
        config = self._views.entry(name).config or {}
        plugin = self._views.plugin(config)
        if plugin is None:
            wanted = config.get("connector.class")
            raise PluginError(f"Connector {name}: its class {wanted} is not installed here")
        return config, plugin.kind

    def _must_be_stopped(self, name: str) -> None:
        entry = self._views.entry(name)
        if entry.target != TargetState.STOPPED or entry.tasks:
            raise BadRequestError(
                "Connectors must be in the STOPPED state before their offsets can be modified. "
                "This can be done for the specified connector by issuing a 'PUT' request to the "
                f"'/connectors/{name}/stop' endpoint"
            )
