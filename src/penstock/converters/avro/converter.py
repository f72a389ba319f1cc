"""AvroConverter: Connect data as Avro, its schemas in a Schema Registry."""

from __future__ import annotations

from penstock.codecs.avro.options import AvroOptions
from penstock.codecs.registry.config import RegistryConfig, refused
from penstock.converters.avro.format import AvroFormat
from penstock.converters.registry.converter import RegistryConverter
from penstock.kernel.config import Importance, Type, key


class AvroConverterConfig(RegistryConfig):
    """Keys of AvroConverter."""

    enhanced_avro_schema_support: bool = key(
        Type.BOOLEAN,
        default=False,
        doc="Write strings that were read from an enum as that enum again, and name the fields"
        " of a union with the namespaces of its types.",
    )
    scrub_invalid_names: bool = key(
        Type.BOOLEAN,
        default=False,
        doc="Replace characters that Avro does not allow in the names of schemas and fields.",
    )
    connect_meta_data: bool = key(
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Keep what Connect knows of a schema, such as its version and parameters, in the"
        " Avro schema, and read it from there.",
    )
    discard_type_doc_default: bool = key(
        Type.BOOLEAN,
        default=False,
        importance=Importance.LOW,
        doc="Keep documentation and defaults of fields only, not those of types.",
    )
    allow_optional_map_keys: bool = key(
        Type.BOOLEAN,
        default=False,
        importance=Importance.LOW,
        doc="Write maps with optional strings as keys as maps of Avro, not as arrays of entries.",
    )
    flatten_singleton_unions: bool = key(
        Type.BOOLEAN,
        default=False,
        importance=Importance.LOW,
        doc="Read a union of one type as that type, not as a struct with one field.",
    )
    flatten_unions: bool = key(
        Type.BOOLEAN,
        default=False,
        importance=Importance.LOW,
        valid=refused("unions of Avro have no such form", False),  # noqa: FBT003 - what is allowed
        doc="Not for Avro.",
    )
    schemas_cache_size: int | None = key(
        Type.INT,
        default=None,
        importance=Importance.LOW,
        doc="Another name for schemas.cache.config.",
    )


class AvroConverter(RegistryConverter):
    """Avro's binary form after the id of its schema, as Confluent's converter writes it."""

    Config = AvroConverterConfig
    java_name = "io.confluent.connect.avro.AvroConverter"

    def make_format(self) -> AvroFormat:
        config = self.config
        options = AvroOptions(
            meta_data=config.connect_meta_data,
            enhanced=config.enhanced_avro_schema_support,
            scrub_names=config.scrub_invalid_names,
            discard_type_doc=config.discard_type_doc_default,
            optional_map_keys=config.allow_optional_map_keys,
            flatten_singletons=config.flatten_singleton_unions,
            generalized=config.generalized_sum_type_support,
            ignore_defaults=config.ignore_default_for_nullables,
        )
        size = config.schemas_cache_size or config.schemas_cache_config
        return AvroFormat(options, max(1, size))
