"""ProtobufConverter's expressions: kernels over whole batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from penstock.columns.faults import Outcome
from penstock.columns.kernel import kernel_column
from penstock.columns.types import spark_type
from penstock.converters.protobuf.decode import DecodeKernel
from penstock.converters.protobuf.encode import EncodeKernel

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.codecs.protobuf.files import MessageType
    from penstock.codecs.protobuf.options import ProtobufOptions
    from penstock.kernel.data.schema import Schema


def encode(
    schema: Schema,
    message: MessageType,
    data: Column,
    head: Column,
    indexes: bytes,
    options: ProtobufOptions,
) -> Outcome:
    """The head, the message's indexes and the messages."""
    result = _result(spark_types.BinaryType())
    made = kernel_column(EncodeKernel(schema, message, options), result, data)
    raw = F.concat(head, F.lit(indexes), made.getField("data"))
    return Outcome(raw, made.getField("error"))


def decode(
    schema: Schema, message: MessageType, raw: Column, skip: int, options: ProtobufOptions
) -> Outcome:
    """The data of the messages behind so many bytes."""
    kernel = DecodeKernel(schema, message, options, skip)
    read = kernel_column(kernel, _result(spark_type(schema)), raw)
    return Outcome(read.getField("data"), read.getField("error"))


def _result(data: spark_types.DataType) -> spark_types.StructType:
    return spark_types.StructType(
        [
            spark_types.StructField("data", data),
            spark_types.StructField("error", spark_types.StringType()),
        ]
    )
