"""Connect's data model in plain Python.

Imports nothing else of Penstock.
"""

from penstock.kernel.data.record import SchemaAndValue, TaskId, TopicPartition
from penstock.kernel.data.schema import Field, Schema, SchemaType, Struct

__all__ = [
    "Field",
    "Schema",
    "SchemaAndValue",
    "SchemaType",
    "Struct",
    "TaskId",
    "TopicPartition",
]
