"""The part of a registry converter that depends on the data format: schemas and bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.codecs.registry.client import RegistrySchema
    from penstock.columns.faults import Outcome
    from penstock.kernel.data.schema import Schema


class Format(ABC):
    """Avro, Protobuf or JSON Schema. The converter looks after ids, subjects and the registry.

    All methods are called on the driver. They may raise DataError: a schema that can't be
    expressed then is the fault of every row it is for.

    Class attributes:
        type: what the registry calls it.
    """

    type: ClassVar[str]

    @abstractmethod
    def registry_schema(self, schema: Schema) -> RegistrySchema:
        """The schema to register for data of a Connect schema."""

    @abstractmethod
    def record_name(self, written: RegistrySchema) -> str | None:
        """The full name of a schema, for subjects; None if it has none."""

    @abstractmethod
    def connect_schema(self, written: RegistrySchema) -> Schema:
        """The Connect schema of data written with this one."""

    def part_size(self, payload: bytes) -> int:  # noqa: ARG002 - most formats have no such bytes
        """How many bytes after the head say which part of a schema the data is.

        Raises:
            DataError: they can't be read.
        """
        return 0

    @abstractmethod
    def encode(
        self, schema: Schema, written: RegistrySchema, data: Column, head: Column
    ) -> Outcome:
        """Whole messages of data that is not null: the head, and the data in the form `written`.

        That need not be registry_schema(schema): with use.latest.version it is what the
        registry has. Rows where the data is null do not matter.
        """

    @abstractmethod
    def decode(self, schema: Schema, written: RegistrySchema, raw: Column) -> Outcome:
        """The data of whole messages, their first HEAD_SIZE bytes and `written.part` included.

        `schema` is connect_schema(written). Null bytes give null without a fault.
        """

    @abstractmethod
    def encode_one(self, schema: Schema, written: RegistrySchema, value: Any) -> bytes:
        """The bytes after the head, of one value that is not None."""

    @abstractmethod
    def decode_one(self, schema: Schema, written: RegistrySchema, payload: bytes) -> Any:
        """The value of the bytes after the head and `written.part`."""
