"""Everything that the author of a plugin needs. Nothing here imports Spark.

Imports the kernel only. Plugins of users import this, and `columns` if they need more of Spark.
"""

from penstock.api.connector import (
    Connector,
    ConnectorContext,
    PartitionKey,
    SinkConnector,
    SourceConnector,
)
from penstock.api.converter import Converter, HeaderConverter, Layout, Topics
from penstock.api.envelope import Envelope, Part, fail
from penstock.api.plugin import Plugin, PluginKind, Side
from penstock.api.record import Header, Headers, Record
from penstock.api.sink import (
    FrameSinkTask,
    OffsetRange,
    SinkBatch,
    SinkContext,
    SinkTask,
    SinkTraits,
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
from penstock.kernel.config import Config, Importance, Password, Type, Validator, key
from penstock.kernel.data import Field, Schema, SchemaAndValue, SchemaType, Struct, TopicPartition
from penstock.kernel.errors import (
    ConfigError,
    DataError,
    PenstockError,
    RefusedError,
    RetriableError,
    ServiceAwayError,
    UnfitError,
)

__all__ = [
    "ColumnPredicate",
    "ColumnTransformation",
    "Config",
    "ConfigError",
    "Connector",
    "ConnectorContext",
    "Converter",
    "DataError",
    "Envelope",
    "Field",
    "FrameSinkTask",
    "FrameSourceTask",
    "Header",
    "HeaderConverter",
    "Headers",
    "Importance",
    "Layout",
    "OffsetRange",
    "Part",
    "PartitionKey",
    "Password",
    "PenstockError",
    "Plugin",
    "PluginKind",
    "Record",
    "RecordPredicate",
    "RecordTransformation",
    "RefusedError",
    "RetriableError",
    "Schema",
    "SchemaAndValue",
    "SchemaType",
    "ServiceAwayError",
    "Side",
    "SinkBatch",
    "SinkConnector",
    "SinkContext",
    "SinkTask",
    "SinkTraits",
    "SourceBatch",
    "SourceConnector",
    "SourceContext",
    "SourceTask",
    "Struct",
    "TopicPartition",
    "Topics",
    "Type",
    "UnfitError",
    "Validator",
    "fail",
    "key",
]
