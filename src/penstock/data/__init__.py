"""Connect's data model in plain Python."""

from penstock.data.record import (
    Header,
    SchemaAndValue,
    SinkRecord,
    SourceRecord,
    TaskId,
    TopicPartition,
)
from penstock.data.schema import Field, Schema, SchemaType, Struct

__all__ = [
    "Field",
    "Header",
    "Schema",
    "SchemaAndValue",
    "SchemaType",
    "SinkRecord",
    "SourceRecord",
    "Struct",
    "TaskId",
    "TopicPartition",
]
