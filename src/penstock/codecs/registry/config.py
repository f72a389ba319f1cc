"""The keys that all converters with a Schema Registry have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from penstock.codecs.converter_key import ConverterConfig
from penstock.codecs.registry.address import address_of
from penstock.codecs.registry.subjects import STRATEGIES, TOPIC_NAME, strategy_named
from penstock.kernel.config import (
    Importance,
    Password,
    Type,
    Validator,
    at_least,
    invalid,
    key,
    non_empty_list,
    one_of,
    rule,
)
from penstock.machine.tls import TLS_KEYS

PREFIX: Final = "schema.registry."
_SUBJECT_DOC: Final = (
    "How the subject is named under which the schema of {part}s is kept: TopicNameStrategy"
    " (`<topic>-{part}`), RecordNameStrategy (the full name of the schema) or"
    " TopicRecordNameStrategy (`<topic>-<full name>`), with or without their package."
)


def refused(reason: str, *allowed: object) -> Validator:
    """A rule for a key that can't be honoured: only what changes nothing is taken."""

    def check(name: str, value: object) -> None:
        if value is not None and value not in allowed:
            raise invalid(name, value, reason)

    return rule(check, reason)


def _checked_by(check: Callable[[str], object], words: str) -> Validator:
    def run(name: str, value: object) -> None:
        if isinstance(value, str):
            try:
                check(value)
            except LookupError as error:
                raise invalid(name, value, str(error.args[0])) from error

    return rule(run, words)


def _check_addresses(name: str, value: object) -> None:
    non_empty_list(name, value)
    for each in value if isinstance(value, list) else ():
        address_of(each)


_STRATEGY: Final = _checked_by(strategy_named, f"one of {', '.join(STRATEGIES)}")


class RegistryConfig(ConverterConfig):
    """Where the registry is, how to get in, and what is done with schemas there."""

    schema_registry_url: list[str] = key(
        Type.LIST,
        valid=rule(_check_addresses, "addresses of http or https"),
        importance=Importance.HIGH,
        doc="Addresses of the schema registry, tried in order until one answers. A user and"
        " password may stand in them, `https://user:password@host:8081`, but are then shown with"
        " the address; basic.auth.user.info never is.",
    )
    auto_register_schemas: bool = key(
        Type.BOOLEAN,
        default=True,
        doc="Whether schemas of records that are written are registered. If not, they must be"
        " registered already.",
    )
    use_latest_version: bool = key(
        Type.BOOLEAN,
        default=False,
        importance=Importance.LOW,
        doc="Write with the latest schema of the subject instead of the record's own; for"
        " auto.register.schemas=false. The version is looked up when a task plans its first"
        " batch; restart the connector to take a newer one.",
    )
    latest_compatibility_strict: bool = key(
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Data that does not fit the latest schema is the fault of its record, whatever this"
        " says.",
    )
    use_schema_id: int = key(
        Type.INT,
        default=-1,
        importance=Importance.LOW,
        doc="The id of the schema to write with; for auto.register.schemas=false.",
    )
    id_compatibility_strict: bool = key(
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="As latest.compatibility.strict, for use.schema.id.",
    )
    normalize_schemas: bool = key(
        Type.BOOLEAN,
        default=False,
        doc="Whether the registry compares schemas without regard to order where it has no"
        " meaning.",
    )
    key_subject_name_strategy: str = key(
        Type.STRING, default=TOPIC_NAME, valid=_STRATEGY, doc=_SUBJECT_DOC.format(part="key")
    )
    value_subject_name_strategy: str = key(
        Type.STRING, default=TOPIC_NAME, valid=_STRATEGY, doc=_SUBJECT_DOC.format(part="value")
    )
    max_schemas_per_subject: int = key(
        Type.INT,
        default=1000,
        valid=at_least(1),
        importance=Importance.LOW,
        doc="How many schemas this converter remembers, so that it need not ask for them again.",
    )
    basic_auth_credentials_source: str = key(
        Type.STRING,
        default="URL",
        valid=one_of("URL", "USER_INFO"),
        doc="Where the user and password are: in the URL, or in USER_INFO"
        " (basic.auth.user.info). SASL_INHERIT is not supported: write them out.",
    )
    basic_auth_user_info: Password = key(
        Type.PASSWORD,
        default="",
        doc="`user:password` for the registry, with basic.auth.credentials.source=USER_INFO.",
    )
    schema_registry_basic_auth_user_info: Password = key(
        Type.PASSWORD,
        default="",
        doc="The older name of basic.auth.user.info.",
    )
    bearer_auth_credentials_source: str = key(
        Type.STRING,
        default="STATIC_TOKEN",
        valid=one_of("STATIC_TOKEN"),
        doc="Where the bearer token comes from: bearer.auth.token, the only source there is.",
    )
    bearer_auth_token: Password = key(
        Type.PASSWORD,
        default="",
        doc="A token that is sent with every request instead of a user and password.",
    )
    http_connect_timeout_ms: int = key(
        Type.INT,
        default=60_000,
        valid=at_least(1),
        importance=Importance.LOW,
        doc="How long to wait for a connection to the registry.",
    )
    http_read_timeout_ms: int = key(
        Type.INT,
        default=60_000,
        valid=at_least(1),
        importance=Importance.LOW,
        doc="How long to wait for an answer of the registry.",
    )
    generalized_sum_type_support: bool = key(
        Type.BOOLEAN,
        default=False,
        doc="Write enums and unions in the form that converters of all formats share.",
    )
    ignore_default_for_nullables: bool = key(
        Type.BOOLEAN,
        default=False,
        doc="Write null as null where a field has a default, not as the default.",
    )
    schemas_cache_config: int = key(
        Type.INT,
        default=1000,
        importance=Importance.LOW,
        doc="How many schemas are remembered in the form of Connect.",
    )
    proxy_host: str | None = key(
        Type.STRING,
        default=None,
        importance=Importance.LOW,
        doc="The HTTP proxy on the way to the registry.",
    )
    proxy_port: int = key(
        Type.INT, default=-1, importance=Importance.LOW, doc="The port of that proxy."
    )
    use_latest_with_metadata: str | None = key(
        Type.STRING,
        default=None,
        importance=Importance.LOW,
        valid=refused("choosing a version by its metadata is not supported", ""),
        doc="Not supported.",
    )
    latest_cache_ttl_sec: int = key(
        Type.INT,
        default=-1,
        importance=Importance.LOW,
        valid=refused("must be -1: the latest schema is looked up once", -1),
        doc="Only -1: what was the latest schema of a subject is used until the task restarts.",
    )
    rule_executors: list[str] = key(
        Type.LIST,
        default=[],
        importance=Importance.LOW,
        valid=refused("data contract rules are not supported", []),
        doc="Not supported: rules of data contracts are not applied.",
    )
    context_name_strategy: str | None = key(
        Type.STRING,
        default=None,
        importance=Importance.LOW,
        valid=refused(
            "contexts are not supported here; write the context into schema.registry.url",
            "io.confluent.kafka.serializers.context.NullContextNameStrategy",
        ),
        doc="Not supported, but a context may be part of schema.registry.url.",
    )
    key_schema_id_serializer: str | None = key(
        Type.STRING,
        default=None,
        importance=Importance.LOW,
        valid=refused(
            "the id can only stand in front of the data",
            "io.confluent.kafka.serializers.schema.id.PrefixSchemaIdSerializer",
        ),
        doc="Only PrefixSchemaIdSerializer: the id stands in front of the data.",
    )
    value_schema_id_serializer: str | None = key(
        Type.STRING,
        default=None,
        importance=Importance.LOW,
        valid=refused(
            "the id can only stand in front of the data",
            "io.confluent.kafka.serializers.schema.id.PrefixSchemaIdSerializer",
        ),
        doc="Only PrefixSchemaIdSerializer: the id stands in front of the data.",
    )
    schema_registry_ssl_truststore_location: str | None = key(
        Type.STRING, default=None, doc="File with the authorities to trust, PEM or PKCS12."
    )
    schema_registry_ssl_truststore_password: Password | None = key(
        Type.PASSWORD, default=None, doc="Password of that file."
    )
    schema_registry_ssl_truststore_type: str | None = key(
        Type.STRING, default=None, doc="PEM or PKCS12."
    )
    schema_registry_ssl_truststore_certificates: Password | None = key(
        Type.PASSWORD, default=None, doc="The authorities themselves, as PEM."
    )
    schema_registry_ssl_keystore_location: str | None = key(
        Type.STRING, default=None, doc="File with the client's own key and certificate."
    )
    schema_registry_ssl_keystore_password: Password | None = key(
        Type.PASSWORD, default=None, doc="Password of that file."
    )
    schema_registry_ssl_keystore_type: str | None = key(
        Type.STRING, default=None, doc="PEM or PKCS12."
    )
    schema_registry_ssl_keystore_key: Password | None = key(
        Type.PASSWORD, default=None, doc="The client's private key itself, as PEM."
    )
    schema_registry_ssl_keystore_certificate_chain: Password | None = key(
        Type.PASSWORD, default=None, doc="The client's certificates themselves, as PEM."
    )
    schema_registry_ssl_key_password: Password | None = key(
        Type.PASSWORD, default=None, doc="Password of the client's private key."
    )
    schema_registry_ssl_endpoint_identification_algorithm: str | None = key(
        Type.STRING,
        default=None,
        importance=Importance.LOW,
        doc="`https` (unless given) compares the registry's name with its certificate; empty"
        " does not.",
    )
    schema_registry_ssl_cipher_suites: str | None = key(
        Type.STRING, default=None, importance=Importance.LOW, doc="Ciphers to allow."
    )


def tls_properties(config: RegistryConfig) -> dict[str, str]:
    """The `ssl.*` properties among the keys, as tls_of() takes them."""
    found: dict[str, str] = {}
    for name in TLS_KEYS:
        value = getattr(config, f"{PREFIX}{name}".replace(".", "_"))
        if value is not None:
            found[name] = value.value if isinstance(value, Password) else value
    return found
