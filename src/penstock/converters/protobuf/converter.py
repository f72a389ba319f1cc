"""ProtobufConverter: Connect data as Protobuf, its .proto files in a Schema Registry."""

from __future__ import annotations

from dataclasses import fields

from penstock.codecs.protobuf.options import ProtobufOptions
from penstock.codecs.registry.config import RegistryConfig, refused
from penstock.converters.protobuf.format import ProtobufFormat
from penstock.converters.registry.converter import RegistryConverter
from penstock.kernel.config import Importance, Type, key


class ProtobufConverterConfig(RegistryConfig):
    """Keys of ProtobufConverter."""

    enhanced_protobuf_schema_support: bool = key(
        Type.BOOLEAN,
        default=False,
        doc="Call schemas by the full names of their messages and enums, with the package.",
    )
    scrub_invalid_names: bool = key(
        Type.BOOLEAN,
        default=False,
        doc="Replace characters that Protobuf does not allow in the names of schemas and fields.",
    )
    int_for_enums: bool = key(
        Type.BOOLEAN, default=False, doc="Read enums as their numbers, not as their symbols."
    )
    optional_for_nullables: bool = key(
        Type.BOOLEAN,
        default=False,
        doc="Write optional fields as `optional`, so that null is not the same as zero or an"
        " empty text. On reading, only such fields, messages and lists are optional.",
    )
    optional_for_proto2: bool = key(
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Read optional fields of proto2 files that are not set as null, not as their default.",
    )
    wrapper_for_nullables: bool = key(
        Type.BOOLEAN,
        default=False,
        doc="Write optional numbers, texts and bytes as Google's messages around them"
        " (google.protobuf.StringValue and so on), which can be absent, and read those as such.",
    )
    wrapper_for_raw_primitives: bool = key(
        Type.BOOLEAN,
        default=True,
        doc="Read a record that is one of these messages as the value inside of it.",
    )
    generate_struct_for_nulls: bool = key(
        Type.BOOLEAN,
        default=False,
        doc="Read a message inside of another that is not set as a struct of defaults, not as"
        " null.",
    )
    generate_index_for_unions: bool = key(
        Type.BOOLEAN,
        default=True,
        doc="Put the number of a oneof behind the name of the field that holds it.",
    )
    flatten_unions: bool = key(
        Type.BOOLEAN,
        default=False,
        doc="Read the fields of a oneof as fields of the struct, not as a struct of their own.",
    )
    connect_meta_data: bool = key(
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        valid=refused("what Connect knows of a Protobuf schema can't be left out", True),  # noqa: FBT003
        doc="Only true: sizes of numbers, scales of Decimals and numbers of fields are kept.",
    )


class ProtobufConverter(RegistryConverter):
    """Protobuf messages after the id of their schema, as Confluent's converter writes them."""

    Config = ProtobufConverterConfig
    java_name = "io.confluent.connect.protobuf.ProtobufConverter"

    def make_format(self) -> ProtobufFormat:
        names = [each.name for each in fields(ProtobufOptions)]
        options = ProtobufOptions(**{name: getattr(self.config, name) for name in names})
        return ProtobufFormat(options, max(1, self.config.schemas_cache_config))
