"""PluginInfo, and the table of the built-in plugins, which can be listed without imports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from penstock.api.plugin import CONNECT_VERSION, Plugin, PluginKind

CONNECTORS: Final = frozenset({PluginKind.SINK, PluginKind.SOURCE})
_SUFFIXES: Final = {
    PluginKind.SINK: "Connector",
    PluginKind.SOURCE: "Connector",
    PluginKind.TRANSFORMATION: "Transformation",
    PluginKind.PREDICATE: "Predicate",
    PluginKind.CONVERTER: "Converter",
    PluginKind.HEADER_CONVERTER: "HeaderConverter",
}


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """One plugin in the list: its name in configurations, its kind, version and module."""

    name: str
    kind: PluginKind
    version: str | None
    module: str

    @property
    def simple_name(self) -> str:
        """Java's simple name: the part after the last dot or dollar sign."""
        return self.name.replace("$", ".").rpartition(".")[2]

    @property
    def short_names(self) -> set[str]:
        """Its short names, valid if no other plugin has them too."""
        simple, suffix = self.simple_name, _SUFFIXES[self.kind]
        at = simple.rfind(suffix)
        return {simple, simple[:at] if at > 0 else simple}


def info_of(plugin: type[Plugin]) -> PluginInfo:
    return PluginInfo(plugin.class_name(), plugin.kind, plugin.version, plugin.__module__)


def _built_in() -> Iterator[PluginInfo]:
    for kind, package, modules in (
        (PluginKind.SINK, "io.aiven.connect.jdbc", _JDBC_SINK),
        (PluginKind.SINK, "io.confluent.connect.jdbc", _JDBC_SINK),
        (PluginKind.SINK, "org.apache.kafka.connect.file", _FILE_SINK),
        (PluginKind.SOURCE, "io.aiven.connect.jdbc", _JDBC_SOURCE),
        (PluginKind.SOURCE, "io.confluent.connect.jdbc", _JDBC_SOURCE),
        (PluginKind.SOURCE, "org.apache.kafka.connect.file", _FILE_SOURCE),
        (PluginKind.TRANSFORMATION, "org.apache.kafka.connect.transforms", _TRANSFORMS),
        (PluginKind.TRANSFORMATION, "penstock.transforms", _OWN_TRANSFORMS),
        (PluginKind.PREDICATE, "org.apache.kafka.connect.transforms.predicates", _PREDICATES),
        (PluginKind.CONVERTER, "io.confluent.connect", _REGISTRY_CONVERTERS),
        (PluginKind.CONVERTER, "org.apache.kafka.connect", _CONVERTERS),
        (PluginKind.HEADER_CONVERTER, "org.apache.kafka.connect", _CONVERTERS),
        (PluginKind.HEADER_CONVERTER, "org.apache.kafka.connect", _HEADER_CONVERTERS),
    ):
        for name, module in modules.items():
            yield PluginInfo(f"{package}.{name}", kind, CONNECT_VERSION, f"penstock.{module}")


_FILE_SINK: Final = {"FileStreamSinkConnector": "connectors.file.sink"}
_JDBC_SINK: Final = {"JdbcSinkConnector": "connectors.jdbc.sink.connector"}
_FILE_SOURCE: Final = {"FileStreamSourceConnector": "connectors.file.source"}
_JDBC_SOURCE: Final = {"JdbcSourceConnector": "connectors.jdbc.source.connector"}
_TRANSFORMS: Final = {
    "Cast$Key": "transforms.cast",
    "Cast$Value": "transforms.cast",
    "DropHeaders": "transforms.drop_headers",
    "ExtractField$Key": "transforms.extract_field",
    "ExtractField$Value": "transforms.extract_field",
    "Filter": "transforms.filter",
    "Flatten$Key": "transforms.flatten",
    "Flatten$Value": "transforms.flatten",
    "HeaderFrom$Key": "transforms.header_from",
    "HeaderFrom$Value": "transforms.header_from",
    "HoistField$Key": "transforms.hoist_field",
    "HoistField$Value": "transforms.hoist_field",
    "InsertField$Key": "transforms.insert_field",
    "InsertField$Value": "transforms.insert_field",
    "InsertHeader": "transforms.insert_header",
    "MaskField$Key": "transforms.mask_field",
    "MaskField$Value": "transforms.mask_field",
    "RegexRouter": "transforms.regex_router",
    "ReplaceField$Key": "transforms.replace_field",
    "ReplaceField$Value": "transforms.replace_field",
    "SetSchemaMetadata$Key": "transforms.set_schema_metadata",
    "SetSchemaMetadata$Value": "transforms.set_schema_metadata",
    "TimestampConverter$Key": "transforms.timestamp_converter",
    "TimestampConverter$Value": "transforms.timestamp_converter",
    "TimestampRouter": "transforms.timestamp_router",
    "ValueToKey": "transforms.value_to_key",
}
_OWN_TRANSFORMS: Final = {"Sql": "transforms.sql.transformation"}
_PREDICATES: Final = {
    "HasHeaderKey": "transforms.predicates",
    "RecordIsTombstone": "transforms.predicates",
    "TopicNameMatches": "transforms.predicates",
}
_CONVERTERS: Final = {
    "converters.BooleanConverter": "converters.numbers",
    "converters.ByteArrayConverter": "converters.raw",
    "converters.DoubleConverter": "converters.numbers",
    "converters.FloatConverter": "converters.numbers",
    "converters.IntegerConverter": "converters.numbers",
    "converters.LongConverter": "converters.numbers",
    "converters.ShortConverter": "converters.numbers",
    "json.JsonConverter": "converters.json.converter",
    "storage.StringConverter": "converters.text",
}
_REGISTRY_CONVERTERS: Final = {
    "avro.AvroConverter": "converters.avro.converter",
    "json.JsonSchemaConverter": "converters.json_schema.converter",
    "protobuf.ProtobufConverter": "converters.protobuf.converter",
}
_HEADER_CONVERTERS: Final = {"storage.SimpleHeaderConverter": "converters.simple_header"}

BUILT_IN: Final[tuple[PluginInfo, ...]] = tuple(_built_in())
