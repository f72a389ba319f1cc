"""Everything a plugin author needs. Nothing here imports Spark."""

from penstock.api.connector import (
    Connector,
    ConnectorContext,
    PartitionKey,
    SinkConnector,
    SourceConnector,
)
from penstock.api.converter import Converter, HeaderConverter, Layout, Topics
from penstock.api.envelope import Envelope, Part
from penstock.api.plugin import Plugin, PluginKind, Side
from penstock.api.record import Header, Headers, Record
from penstock.api.sink import (
    FrameSinkTask,
    OffsetRange,
    SinkBatch,
    SinkContext,
    SinkTask,
)
from penstock.api.source import (
    FrameSourceTask,
    SourceBatch,
    SourceContext,
    SourceTask,
)
from penstock.api.transform import (
    ColumnPredicate,
    ColumnTransformation,
    RecordPredicate,
    RecordTransformation,
)
from penstock.errors import ConfigError, DataError, RetriableError

__all__ = [
    "ColumnPredicate",
    "ColumnTransformation",
    "ConfigError",
    "Connector",
    "ConnectorContext",
    "Converter",
    "DataError",
    "Envelope",
    "FrameSinkTask",
    "FrameSourceTask",
    "Header",
    "HeaderConverter",
    "Headers",
    "Layout",
    "OffsetRange",
    "Part",
    "PartitionKey",
    "Plugin",
    "PluginKind",
    "Record",
    "RecordPredicate",
    "RecordTransformation",
    "RetriableError",
    "Side",
    "SinkBatch",
    "SinkConnector",
    "SinkContext",
    "SinkTask",
    "SourceBatch",
    "SourceConnector",
    "SourceContext",
    "SourceTask",
    "Topics",
]
