"""Converters: between Connect data and the bytes in Kafka."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.api.plugin import Plugin, PluginKind

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.kernel.config import Config
    from penstock.kernel.data.record import SchemaAndValue
    from penstock.kernel.data.schema import Schema


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of the bytes of one kind of record, as far as the driver must know it.

    Attributes:
        schema: the schema of the decoded data; None for schemaless data (a VARIANT column).
        tag: bytes by which the converter recognises this layout (JsonConverter: the bytes before
            the payload). Empty if the converter has only one layout.
        regular: False if decode() can't read such bytes, so that decode_one() must.
    """

    schema: Schema | None
    tag: bytes = b""
    regular: bool = True


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics that the rows of a batch go to.

    Attributes:
        column: the topic of each row.
        names: all topics among them, known on the driver.
    """

    column: Column
    names: frozenset[str]


class Converter(Plugin, ABC):
    """Bytes to data and back, for whole columns.

    The same object is used for all batches of a task; its methods only build expressions.
    Constructed with its parsed Config and whether it converts keys.
    """

    kind = PluginKind.CONVERTER

    def __init__(self, config: Config, *, is_key: bool) -> None:
        self.config: Any = config
        self.is_key = is_key

    @abstractmethod
    def encode(self, schema: Schema | None, data: Column) -> Column:
        """Bytes from data: an expression of type struct<data: binary, error: string>.

        `error` is null for a good row, else its error (and data is null). Null data becomes what
        the Java converter writes for null. The expression never throws for a row.
        """

    #: True if the bytes depend on their topic; then override encode_for().
    by_topic: bool = False

    def encode_for(self, topics: Topics, schema: Schema | None, data: Column) -> Column:  # noqa: ARG002
        """encode() for rows that go to these topics; the framework calls this.

        Only a converter that is `by_topic` overrides it.
        """
        return self.encode(schema, data)

    #: True if all bytes have the one layout that layout() returns for any input, so that a read
    #: can be planned without looking at the data.
    uniform: bool = False

    @abstractmethod
    def layout(self, raw: bytes | None) -> Layout:
        """The layout of one record's bytes; called on the driver, may cache.

        Returns Layout(None, regular=False) for invalid bytes: decode_one() will raise the reason.
        """

    @abstractmethod
    def decode(self, layout: Layout, raw: Column) -> Column:
        """Data from bytes: struct<data: type of layout.schema, error: string, other: boolean>.

        `error` as in encode(). `other` is true (data and error null) for bytes of another layout.
        Null bytes are null data in every layout.
        """

    @abstractmethod
    def decode_one(self, raw: bytes | None) -> SchemaAndValue:
        """One record's data, in plain Python: for rare irregular records, headers and tools.

        Raises:
            DataError: this converter can't read the bytes.
        """

    @abstractmethod
    def encode_one(self, schema: Schema | None, value: Any) -> bytes | None:
        """One value's bytes, in plain Python: for headers, record plugins and tools.

        Raises:
            DataError: the value does not fit the schema.
        """

    def encode_one_for(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:  # noqa: ARG002
        """encode_one() for a record of this topic; overridden together with encode_for()."""
        return self.encode_one(schema, value)


class HeaderConverter(Plugin, ABC):
    """Header values to bytes and back; only for plugins that read or write header values."""

    kind = PluginKind.HEADER_CONVERTER

    def __init__(self, config: Config) -> None:
        self.config: Any = config

    @abstractmethod
    def encode(self, schema: Schema | None, data: Column) -> Column:
        """The bytes of a column of header values, in the form of Converter.encode()."""

    @abstractmethod
    def decode_header(self, raw: bytes | None) -> SchemaAndValue:
        """The header's value with its schema."""

    @abstractmethod
    def encode_header(self, schema: Schema | None, value: Any) -> bytes | None:
        """The bytes of a header's value."""
