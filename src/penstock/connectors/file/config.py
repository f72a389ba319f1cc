"""The keys of the file connectors."""

from __future__ import annotations

from penstock.kernel.config import Config, Importance, Type, at_least, key, non_empty


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
    chunk_bytes: int = key(
        Type.LONG,
        name="chunk.bytes",
        default=128 << 20,
        valid=at_least(1),
        importance=Importance.LOW,
        doc="The most bytes of a file that are read in one go, but for a line that is longer. An"
        " offset is stored after that many, or about 100,000 lines if these are fewer; a worker"
        " that is killed reads again what came after the last offset. (Only in Penstock.)",
    )


class FileStreamSinkConfig(Config):
    """Keys of FileStreamSink."""

    file: str | None = key(
        Type.STRING,
        default=None,
        importance=Importance.HIGH,
        doc="The file that lines are added to; standard output if it is not set.",
    )
