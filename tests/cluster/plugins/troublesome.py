"""Plugins that misbehave on demand; a worker finds them on its plugin.path."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path

from penstock.api import (
    ConnectorContext,
    FrameSinkTask,
    Layout,
    SinkBatch,
    SinkConnector,
    SinkContext,
    SourceConnector,
)
from penstock.connectors.file.source import FileStreamSourceTask
from penstock.converters.text import StringConverter, StringConverterConfig
from penstock.kernel.config import Config, Password, Type, key
from penstock.kernel.errors import RetriableError

_LONG_SECONDS = 900.0


class HangingConnector(SourceConnector):
    """Its start() does not come back."""

    task_class = FileStreamSourceTask

    def start(self, config: Mapping[str, str], context: ConnectorContext) -> None:
        threading.Event().wait(_LONG_SECONDS)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return []


class MoodySinkConfig(Config):
    """Where it writes, and what makes it refuse."""

    file: str = key(Type.STRING, doc="Lines of JSON: what every write brought.")
    config_file: str | None = key(
        Type.STRING, name="config.file", default=None, doc="Gets the task's configuration."
    )
    passes: str | None = key(
        Type.STRING, default=None, doc="While there is no such file, writes are to be repeated."
    )
    breaks: bool = key(Type.BOOLEAN, default=False, doc="Whether every write fails for good.")
    secret: Password | None = key(Type.PASSWORD, default=None, doc="Something to keep.")


class MoodySinkTask(FrameSinkTask):
    """Writes the offsets and values of each batch as a line."""

    def start(self, config: Mapping[str, str], context: SinkContext) -> None:
        self._config = MoodySinkConfig.parse(config)
        if self._config.config_file:
            Path(self._config.config_file).write_text(json.dumps(dict(config)))

    def write(self, batch: SinkBatch) -> None:
        if self._config.breaks:
            raise ValueError("the target is broken")
        if self._config.passes and not Path(self._config.passes).exists():
            raise RetriableError("the target is in a bad mood")
        rows = batch.frame.selectExpr("offset", "cast(value as string) as value").collect()
        entry = {
            "offsets": [row.offset for row in rows],
            "values": [row.value for row in rows],
        }
        with Path(self._config.file).open("a") as stream:
            stream.write(json.dumps(entry) + "\n")


class MoodySinkConnector(SinkConnector):
    """As many tasks as allowed, all alike."""

    Config = MoodySinkConfig
    task_class = MoodySinkTask

    def start(self, config: Mapping[str, str], context: ConnectorContext) -> None:
        self._props = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self._props) for _ in range(max_tasks)]


class PatientConverterConfig(StringConverterConfig):
    """What it waits for."""

    passes: str = key(Type.STRING, doc="While there is no such file, it asks for another attempt.")


class PatientConverter(StringConverter):
    """Text, of which the word `later` can be read only once a file is there."""

    Config = PatientConverterConfig
    java_name = "troublesome.PatientConverter"
    uniform = False

    def layout(self, raw: bytes | None) -> Layout:
        if raw == b"later" and not Path(self.config.passes).exists():
            raise RetriableError("the registry is away")
        return super().layout(raw)
