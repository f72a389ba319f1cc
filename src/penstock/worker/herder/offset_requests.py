"""Requests about offsets. They call brokers and plugins, so they run in the connector's lane:
neither the herder nor other connectors wait for them, and the connector starts only after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from penstock.api.plugin import PluginKind
from penstock.kernel.clock import Deadline
from penstock.kernel.errors import BadRequestError, ConfigError, PluginError
from penstock.kernel.wire.models import ConnectorOffsets, OffsetEntry
from penstock.worker.herder.command_thread import CommandThread
from penstock.worker.herder.lanes import Lanes, result_of, within
from penstock.worker.herder.views import Views
from penstock.worker.interface import PartitionOffset, TargetState, Worker


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
            deadline,
            f"reading the offsets of connector {name}",
            lambda: self._worker.offsets(name, config, kind, deadline),
        )
        return ConnectorOffsets(tuple(OffsetEntry(item.partition, item.offset) for item in found))

    def alter(self, name: str, offsets: ConnectorOffsets, deadline: Deadline) -> str:
        if not offsets.offsets:
            raise BadRequestError(
                "Partitions / offsets need to be provided for an alter offsets request"
            )
        # The worker refuses null partitions: the messages differ for sources and sinks.
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
                name, lambda: self._alter(name, config, kind, offsets, deadline)
            )

        changed = self._thread.call(step, submit, deadline)
        return cast("str", result_of(changed, deadline, step))

    def _alter(
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
            # In Connect, an objection of the connector is a 500, one of the framework a 400.
            raise PluginError(str(error)) from error

    def _connector(self, name: str) -> tuple[Mapping[str, str], PluginKind]:
        config = self._views.entry(name).config or {}
        plugin = self._views.plugin(config)
        if plugin is None:
            wanted = config.get("connector.class")
            raise PluginError(f"Connector {name}: its class {wanted} is not installed")
        return config, plugin.kind

    def _must_be_stopped(self, name: str) -> None:
        entry = self._views.entry(name)
        if entry.target != TargetState.STOPPED or entry.tasks:
            raise BadRequestError(
                "Connectors must be in the STOPPED state before their offsets can be modified. "
                "This can be done for the specified connector by issuing a 'PUT' request to the "
                f"'/connectors/{name}/stop' endpoint"
            )
