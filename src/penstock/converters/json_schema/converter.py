"""JsonSchemaConverter: Connect data as JSON, its JSON Schema in a Schema Registry."""

from __future__ import annotations

from typing import Final

from penstock.codecs.json_schema.options import JsonSchemaOptions
from penstock.codecs.registry.config import RegistryConfig, refused
from penstock.converters.json_schema.format import JsonSchemaFormat
from penstock.converters.registry.converter import RegistryConverter
from penstock.kernel.config import Importance, Type, key, one_of_ignoring_case

_FOR_JAVA: Final = " For objects of Java classes only, so it has no effect on Connect's data."
_DIALECTS: Final = {
    "draft_4": "http://json-schema.org/draft-04/schema#",
    "draft_6": "http://json-schema.org/draft-06/schema#",
    "draft_7": "http://json-schema.org/draft-07/schema#",
    "draft_2019_09": "https://json-schema.org/draft/2019-09/schema",
    "draft_2020_12": "https://json-schema.org/draft/2020-12/schema",
}


class JsonSchemaConverterConfig(RegistryConfig):
    """Keys of JsonSchemaConverter."""

    decimal_format: str = key(
        Type.STRING,
        default="BASE64",
        valid=one_of_ignoring_case("NUMERIC", "BASE64"),
        importance=Importance.LOW,
        doc="How Decimals are written: BASE64 (the bytes of the digits) or NUMERIC (a JSON"
        " number), in any case. Both are read.",
    )
    object_additional_properties: bool = key(
        Type.BOOLEAN,
        default=True,
        doc="Whether the schemas of structs allow properties that they do not name.",
    )
    use_optional_for_nonrequired: bool = key(
        Type.BOOLEAN,
        default=False,
        doc="Read properties that a schema does not require as optional fields.",
    )
    replace_null_with_default: bool = key(
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Whether a null becomes the default value of its field, if the field has one.",
    )
    json_fail_invalid_schema: bool = key(
        Type.BOOLEAN,
        default=False,
        importance=Importance.LOW,
        valid=refused("records are not validated against their JSON Schema", False),  # noqa: FBT003
        doc="Only false: data is not validated against its schema beyond its types.",
    )
    json_schema_spec_version: str = key(
        Type.STRING,
        default="",
        valid=one_of_ignoring_case("", *_DIALECTS),
        importance=Importance.LOW,
        doc="The version of JSON Schema that schemas name in `$schema`, if given:"
        f" {', '.join(_DIALECTS)}. Some registries (Apicurio) only take schemas of single"
        " values with it. Schemas of all these versions are read.",
    )
    ignore_modern_dialects: bool = key(
        Type.BOOLEAN,
        default=False,
        importance=Importance.LOW,
        doc="Whether schemas of draft 2019-09 and later are read as draft 7. All are read in one"
        " way here, so it has no effect.",
    )
    preserve_additional_properties: bool = key(
        Type.BOOLEAN,
        default=False,
        importance=Importance.LOW,
        valid=refused("properties that a schema does not name are not read", False),  # noqa: FBT003
        doc="Only false: properties that a schema does not name are not read.",
    )
    scrub_invalid_names: bool = key(
        Type.BOOLEAN,
        default=False,
        importance=Importance.LOW,
        valid=refused("names in JSON need no change", False),  # noqa: FBT003
        doc="Only false: every name is allowed in JSON.",
    )
    json_oneof_for_nullables: bool = key(
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc=f"Whether nullable fields are a oneOf with null.{_FOR_JAVA}",
    )
    json_default_property_inclusion: str | None = key(
        Type.STRING,
        default=None,
        importance=Importance.LOW,
        doc=f"Which properties are written.{_FOR_JAVA}",
    )
    json_write_dates_iso8601: bool = key(
        Type.BOOLEAN,
        default=False,
        name="json.write.dates.iso8601",
        importance=Importance.LOW,
        doc=f"Whether dates are written as text.{_FOR_JAVA}",
    )
    json_fail_unknown_properties: bool = key(
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Whether a property without a place in its class is an error."
        f"{_FOR_JAVA} Properties that a schema does not name are not read.",
    )
    schemas_cache_size: int = key(
        Type.INT,
        default=1000,
        importance=Importance.LOW,
        doc="How many schemas are remembered. max.schemas.per.subject has the same meaning here,"
        " and is what counts.",
    )


class JsonSchemaConverter(RegistryConverter):
    """JSON text after the id of its schema, as Confluent's converter writes it."""

    Config = JsonSchemaConverterConfig
    java_name = "io.confluent.connect.json.JsonSchemaConverter"

    def make_format(self) -> JsonSchemaFormat:
        config = self.config
        replaced = config.replace_null_with_default
        version = config.json_schema_spec_version
        return JsonSchemaFormat(
            JsonSchemaOptions(
                generalized_sum_type_support=config.generalized_sum_type_support,
                object_additional_properties=config.object_additional_properties,
                use_optional_for_nonrequired=config.use_optional_for_nonrequired,
                dialect=_DIALECTS[version.lower()] if version else None,
                decimal_numbers=config.decimal_format.upper() == "NUMERIC",
                default_for_null=replaced and not config.ignore_default_for_nullables,
                default_for_missing=replaced,
            )
        )
