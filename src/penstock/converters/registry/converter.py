"""Shared by converters with a Schema Registry: subjects, ids, and the head of each message."""

from __future__ import annotations

import logging
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from penstock.api.converter import Converter, Layout, Topics
from penstock.codecs.registry.client import (
    HEAD_SIZE,
    Registered,
    RegistryClient,
    RegistrySchema,
)
from penstock.codecs.registry.subjects import strategy_named
from penstock.codecs.registry.unknown_ids import UnknownIds
from penstock.kernel.data.record import SchemaAndValue
from penstock.kernel.errors import DataError, PluginError

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.codecs.registry.config import RegistryConfig
    from penstock.converters.registry.format import Format
    from penstock.kernel.data.schema import Schema

NO_SCHEMA: Final = "Data without a schema can't be written with a schema registry"
NULL_FOR_REQUIRED: Final = "Found null value for non-optional schema"


@dataclass(frozen=True, slots=True)
class _Known:
    """A schema that messages were written with, and what they are read as."""

    written: RegistrySchema
    schema: Schema


log = logging.getLogger(__name__)


class RegistryConverter(Converter):
    """Messages begin with the id of their schema; the Format knows what follows.

    A subclass names its Config, a RegistryConfig, and makes its format.
    """

    by_topic = True

    def __init__(self, config: RegistryConfig, *, is_key: bool = False) -> None:
        super().__init__(config, is_key=is_key)
        self._part = "key" if is_key else "value"
        if not (config.latest_compatibility_strict and config.id_compatibility_strict):
            log.warning(
                "latest.compatibility.strict=false and id.compatibility.strict=false change"
                " nothing: data that does not fit the schema is the fault of its record"
            )
        keys, values = config.key_subject_name_strategy, config.value_subject_name_strategy
        self._subject = strategy_named(keys if is_key else values)
        self._format = self.make_format()
        self._client = RegistryClient(config)
        self._unusable = UnknownIds()
        remember = lru_cache(maxsize=config.max_schemas_per_subject)
        self._target = remember(self._find_target)
        self._known = remember(self._find_known)

    @abstractmethod
    def make_format(self) -> Format:
        """The format, made once, of self.config."""

    def encode(self, schema: Schema | None, data: Column) -> Column:  # noqa: ARG002 - refused
        raise PluginError(f"{self.class_name()} must know the topic: call encode_for()")

    def encode_one(self, schema: Schema | None, value: Any) -> bytes | None:  # noqa: ARG002
        raise PluginError(f"{self.class_name()} must know the topic: call encode_one_for()")

    def encode_for(self, topics: Topics, schema: Schema | None, data: Column) -> Column:
        from penstock.converters.registry import expressions

        if schema is None:
            return expressions.encode_schemaless(data)
        targets = {topic: self._target_or_reason(topic, schema) for topic in sorted(topics.names)}
        return expressions.encode(self._format, schema, data, targets, topics.column)

    def encode_one_for(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        if value is None and (schema is None or schema.optional):
            return None
        if schema is None:
            raise DataError(NO_SCHEMA)
        if value is None:
            raise DataError(NULL_FOR_REQUIRED)
        target = self._target(topic, schema)
        return target.tag + self._format.encode_one(schema, target.schema, value)

    def layout(self, raw: bytes | None) -> Layout:
        if raw is None:
            return Layout(None)
        try:
            tag = self._tag(raw)
            return Layout(self._known(tag).schema, tag)
        except DataError:
            return Layout(None, regular=False)

    def decode(self, layout: Layout, raw: Column) -> Column:
        from penstock.converters.registry import expressions

        if not layout.tag:
            return expressions.decode_nulls(raw)
        known = self._known(layout.tag)
        return expressions.decode(self._format, known.schema, known.written, layout.tag, raw)

    def decode_one(self, raw: bytes | None) -> SchemaAndValue:
        if raw is None:
            return SchemaAndValue(None, None)
        tag = self._tag(raw)
        known = self._known(tag)
        value = self._format.decode_one(known.schema, known.written, raw[len(tag) :])
        return SchemaAndValue(known.schema, value)

    def _tag(self, raw: bytes) -> bytes:
        """The head of a message, and what else says of which kind its data is."""
        _id_in(raw)
        return raw[: HEAD_SIZE + self._format.part_size(raw[HEAD_SIZE:])]

    def _target_or_reason(self, topic: str, schema: Schema) -> Registered | str:
        try:
            return self._target(topic, schema)
        except DataError as error:
            return str(error)

    def _find_target(self, topic: str, schema: Schema) -> Registered:
        """The writer for data of this schema in this topic."""
        own = self._format.registry_schema(schema)
        if not self.config.auto_register_schemas and self.config.use_schema_id >= 0:
            number = self.config.use_schema_id
            return Registered(number, self._of_this_format(self._client.by_id(number)))
        subject = self._subject(topic, self._part, self._format.record_name(own))
        if self.config.auto_register_schemas:
            return Registered(self._client.register(subject, own), own)
        if self.config.use_latest_version:
            latest = self._client.latest(subject)
            return Registered(latest.id, self._of_this_format(latest.schema))
        return Registered(self._client.lookup(subject, own), own)

    def _find_known(self, tag: bytes) -> _Known:
        number = _id_in(tag)
        if reason := self._unusable.reason(tag):
            raise DataError(reason)
        try:
            found = self._of_this_format(self._client.by_id(number))
            written = replace(found, part=tag[HEAD_SIZE:])
            return _Known(written, _in_columns(self._format.connect_schema(written)))
        except DataError as error:
            reason = str(error) if str(number) in str(error) else f"Schema id {number}: {error}"
            self._unusable.add(tag, reason)
            raise DataError(reason) from error

    def _of_this_format(self, written: RegistrySchema) -> RegistrySchema:
        if written.type == self._format.type:
            return written
        raise DataError(
            f"The schema is of type {written.type}, which is not for {self.class_name()}"
        )


def _id_in(raw: bytes) -> int:
    if len(raw) < HEAD_SIZE or raw[0] != 0:
        raise DataError("Unknown magic byte! The message has no schema id in front of its data")
    return int.from_bytes(raw[1:HEAD_SIZE], "big")


def _in_columns(schema: Schema) -> Schema:
    """The schema, if columns can hold its data; DataError if not."""
    from penstock.columns.types import spark_type

    spark_type(schema)
    return schema
