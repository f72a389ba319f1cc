"""The keys of the file connectors."""

from __future__ import annotations

from penstock.config import Config, Importance, Type, key, non_empty


class FileStreamSourceConfig(Config):
    """Keys of FileStreamSource."""

    file: str | None = key(
        Type.STRING,
        default=None,
        importance=Importance.HIGH,
        doc="The file to read lines from; standard input if it is not set.",
    )
    topic: str = key(
        Type.STRING,
        valid=non_empty,
        importance=Importance.HIGH,
        doc="The topic that gets the lines.",
    )
    batch_size: int = key(
        Type.INT,
        name="batch.size",
        default=2000,
        importance=Importance.LOW,
        doc="The most lines that travel together in one Arrow batch. It bounds neither how much"
        " is read at a time nor how long a line waits: new lines are sent on as they appear.",
    )


class FileStreamSinkConfig(Config):
    """Keys of FileStreamSink."""

    file: str | None = key(
        Type.STRING,
        default=None,
        importance=Importance.HIGH,
        doc="The file that lines are added to; standard output if it is not set.",
    )
