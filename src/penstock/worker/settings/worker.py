"""The worker's settings, declared with the same Config and key() as any plugin's."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, Final, Self

from penstock.kafka.client_keys import WORKER_KEYS
from penstock.kernel.config import (
    ClassResolver,
    Config,
    Importance,
    Password,
    Type,
    at_least,
    between,
    key,
    non_empty,
    one_of,
    one_of_ignoring_case,
)
from penstock.kernel.config.prefix import under_prefix
from penstock.worker.settings.rules import (
    SECRETS_HEADER,
    SECRETS_SHOWN,
    admin_listener_urls,
    http_header_rules,
    known_policy,
    listener_name,
    listener_urls,
    topic_size,
)

_HIGH, _MEDIUM, _LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
_INT_MAX: Final = 2_147_483_647


class Mode(StrEnum):
    """Where a worker stores its state: in a file, or in topics shared with its group."""

    STANDALONE = "standalone"
    DISTRIBUTED = "distributed"


class WorkerSettings(Config):
    """Settings of both modes. `props`: the text as given; `warnings`: messages for the user.

    Keys with a prefix (`producer.`, `spark.`, a converter's own keys …) have no field;
    client_properties() is what a Kafka client is to be made with.
    """

    mode: ClassVar[Mode]
    props: Mapping[str, str]
    warnings: tuple[str, ...]

    bootstrap_servers: list[str] = key(
        Type.LIST,
        default=["localhost:9092"],
        importance=_HIGH,
        doc="Brokers to connect to first, as host:port; they list all others.",
    )
    key_converter: str = key(
        Type.CLASS,
        importance=_HIGH,
        doc="Converter of record keys, for connectors that name none. Its own keys follow the "
        "prefix `key.converter.`.",
    )
    key_converter_plugin_version: str | None = key(
        Type.STRING, default=None, importance=_LOW, doc="Version of the key converter to use."
    )
    value_converter: str = key(
        Type.CLASS,
        importance=_HIGH,
        doc="Converter of record values, for connectors that name none. Its own keys follow the "
        "prefix `value.converter.`.",
    )
    value_converter_plugin_version: str | None = key(
        Type.STRING, default=None, importance=_LOW, doc="Version of the value converter to use."
    )
    header_converter: str = key(
        Type.CLASS,
        default="org.apache.kafka.connect.storage.SimpleHeaderConverter",
        importance=_LOW,
        doc="Converter of header values, for connectors that name none. Its own keys follow the "
        "prefix `header.converter.`.",
    )
    header_converter_plugin_version: str | None = key(
        Type.STRING, default=None, importance=_LOW, doc="Version of the header converter to use."
    )
    task_shutdown_graceful_timeout_ms: int = key(
        Type.LONG,
        default=5000,
        importance=_LOW,
        doc="Time that all tasks together have to finish when the worker stops.",
    )
    offset_flush_interval_ms: int = key(
        Type.LONG,
        default=60_000,
        importance=_LOW,
        doc="How often offsets are committed.",
    )
    offset_flush_timeout_ms: int = key(
        Type.LONG,
        default=5000,
        importance=_LOW,
        doc="How long committing offsets may take before the worker gives up until the next time.",
    )
    plugin_path: list[str] | None = key(
        Type.LIST,
        default=None,
        importance=_LOW,
        doc="Where plugins are besides the installed packages: directories with Python modules, "
        "packages and wheels, or with folders of them; single .py files; single wheels, which need "
        "not be installed. New and changed ones are found while the worker runs. Jars with JDBC "
        "drivers are found here too, at the start.",
    )
    plugin_discovery: str = key(
        Type.STRING,
        default="hybrid_warn",
        importance=_LOW,
        valid=one_of_ignoring_case("ONLY_SCAN", "SERVICE_LOAD", "HYBRID_WARN", "HYBRID_FAIL"),
        doc="How Java workers look for plugins. Penstock finds the same plugins with every value.",
    )
    metrics_sample_window_ms: int = key(
        Type.LONG,
        default=30_000,
        importance=_LOW,
        valid=at_least(0),
        doc="Time over which rates are computed.",
    )
    metrics_num_samples: int = key(
        Type.INT,
        default=2,
        importance=_LOW,
        valid=at_least(1),
        doc="Number of samples that rates are computed from.",
    )
    metrics_recording_level: str = key(
        Type.STRING,
        default="INFO",
        importance=_LOW,
        valid=one_of("INFO", "DEBUG"),
        doc="How detailed metrics are.",
    )
    metric_reporters: list[str] = key(
        Type.LIST,
        default=["org.apache.kafka.common.metrics.JmxReporter"],
        importance=_LOW,
        doc="Java classes that report metrics. Only the default is accepted.",
    )
    config_providers: list[str] = key(
        Type.LIST,
        default=[],
        importance=_LOW,
        doc="Names of config providers. Each has a class in `config.providers.<name>.class` and "
        "its parameters under `config.providers.<name>.param.`.",
    )
    connector_client_config_override_policy: str = key(
        Type.STRING,
        default="All",
        importance=_MEDIUM,
        valid=known_policy,
        doc="Which client settings a connector may override with `producer.override.`, "
        "`consumer.override.` and `admin.override.`: All, None, or only those of its Principal.",
    )
    topic_creation_enable: bool = key(
        Type.BOOLEAN,
        default=True,
        importance=_LOW,
        doc="Whether topics are created by the `topic.creation.` rules of source connectors.",
    )
    topic_tracking_enable: bool = key(
        Type.BOOLEAN,
        default=True,
        importance=_LOW,
        doc="Whether the topics that each connector uses are remembered.",
    )
    topic_tracking_allow_reset: bool = key(
        Type.BOOLEAN,
        default=True,
        importance=_LOW,
        doc="Whether users may reset the topics of a connector.",
    )
    client_id: str = key(
        Type.STRING,
        default="",
        importance=_LOW,
        doc="Name by which brokers know this worker in their logs and metrics.",
    )
    listeners: list[str] = key(
        Type.LIST,
        default=["http://:8083"],
        importance=_LOW,
        valid=listener_urls,
        doc="URLs the REST API listens on. Without a host: all addresses. TLS settings for https "
        "follow the prefix `listeners.https.`.",
    )
    admin_listeners: list[str] | None = key(
        Type.LIST,
        default=None,
        importance=_LOW,
        valid=admin_listener_urls,
        doc="URLs for the admin endpoints alone; empty switches them off; not set: they are on "
        "`listeners`.",
    )
    rest_advertised_host_name: str | None = key(
        Type.STRING,
        default=None,
        importance=_LOW,
        doc="Host name under which other workers reach this one.",
    )
    rest_advertised_port: int | None = key(
        Type.INT,
        default=None,
        importance=_LOW,
        doc="Port under which other workers reach this one.",
    )
    rest_advertised_listener: str | None = key(
        Type.STRING,
        default=None,
        importance=_LOW,
        valid=listener_name,
        doc="http or https: which listener other workers use.",
    )
    access_control_allow_origin: str = key(
        Type.STRING,
        default="",
        importance=_LOW,
        doc="Origin from which browsers may call the REST API; empty: only its own.",
    )
    access_control_allow_methods: str = key(
        Type.STRING,
        default="",
        importance=_LOW,
        doc="Methods that other origins may use; empty: GET, POST and HEAD.",
    )
    response_http_headers_config: str = key(
        Type.STRING,
        default="",
        importance=_LOW,
        valid=http_header_rules,
        doc="Headers to put on every answer: `[action] [name]:[value]` with the action set, add, "
        "setDate or addDate; several are split by commas.",
    )
    penstock_connector_log_lines: int = key(
        Type.INT,
        default=1000,
        importance=_LOW,
        valid=between(0, 100_000),
        doc="How many of the last log lines of each connector the worker keeps for `penstock "
        "logs`; 0 keeps none. Kafka Connect does not have this.",
    )
    penstock_connector_log_bytes: int = key(
        Type.INT,
        default=1_048_576,
        importance=_LOW,
        valid=between(1024, _INT_MAX),
        doc="The most bytes of these lines for one connector. All connectors together have at most "
        "64 MiB; beyond that, the connector that was silent longest loses its lines.",
    )
    penstock_secrets_shown: str = key(
        Type.STRING,
        default="never",
        importance=_LOW,
        valid=one_of(*SECRETS_SHOWN),
        doc="Which requests get the secrets of stored configs in clear: none, those with the "
        "token, or all, as in Kafka Connect. Secrets are values of password type, those of "
        "undeclared keys that sound like a secret, and passwords in addresses. Clients that write "
        "a config and compare it with what they read, such as Terraform's provider, need them.",
    )
    penstock_secrets_token: Password | None = key(
        Type.PASSWORD,
        default=None,
        importance=_LOW,
        doc="For `penstock.secrets.shown=with-token`: the token that such requests send in the "
        f"header `{SECRETS_HEADER}`, at least 16 characters.",
    )
    penstock_class_archive: bool = key(
        Type.BOOLEAN,
        default=True,
        importance=_LOW,
        doc="Whether Java reads classes from an archive in Penstock's cache, which halves the CPU "
        "time of a start. The worker makes a missing one in the background, some time after its "
        "start; `penstock prepare` makes it at once.",
    )
    penstock_rest_max_body_bytes: int = key(
        Type.INT,
        default=10_485_760,
        importance=_LOW,
        valid=between(1024, _INT_MAX),
        doc="The most bytes in the body of a REST request; a longer one gets the answer 413. Kafka "
        "Connect has no limit.",
    )
    penstock_rest_max_connections: int = key(
        Type.INT,
        default=500,
        importance=_LOW,
        valid=at_least(1),
        doc="The most connections to the REST API at once, for http and for https each; further "
        "ones get the answer 503. Kafka Connect has no limit.",
    )
    penstock_rest_idle_timeout_ms: int = key(
        Type.INT,
        default=30_000,
        importance=_LOW,
        valid=at_least(1),
        doc="How long a connection to the REST API stays open without a request, or while its "
        "client does not read the answer.",
    )
    penstock_rest_header_timeout_ms: int = key(
        Type.INT,
        default=10_000,
        importance=_LOW,
        valid=at_least(1),
        doc="How long the header of a request may take from its first byte. After that the worker "
        "answers 408 and closes the connection.",
    )
    penstock_rest_body_timeout_ms: int = key(
        Type.INT,
        default=30_000,
        importance=_LOW,
        valid=at_least(1),
        doc="How long the whole body of a request may take after its header. After that the worker "
        "answers 408 and closes the connection.",
    )
    rest_extension_classes: list[str] = key(
        Type.LIST,
        default=[],
        importance=_LOW,
        doc="Java classes that extend the REST API. Not supported.",
    )
    ssl_client_auth: str = key(
        Type.STRING,
        default="none",
        importance=_LOW,
        valid=one_of("required", "requested", "none"),
        doc="Whether https listeners ask clients for a certificate.",
    )

    @classmethod
    def read(
        cls,
        props: Mapping[str, str],
        warnings: tuple[str, ...] = (),
        classes: ClassResolver | None = None,
    ) -> Self:
        settings = cls.parse(props, classes)
        settings.__dict__.update(props=dict(props), warnings=warnings)
        return settings

    def client_properties(self, role: str | None = None) -> dict[str, str]:
        """The keys for Kafka clients, overridden by the keys under `<role>.`.

        The role is producer, consumer or admin; None is for the worker's own connections.
        """
        common = {name: text for name, text in self.props.items() if name in WORKER_KEYS}
        if self.client_id:
            common["client.id"] = self.client_id
        common["bootstrap.servers"] = ",".join(self.bootstrap_servers)
        return common | (self._role_properties(role) if role else {})

    def _role_properties(self, role: str) -> dict[str, str]:
        # admin.listeners and its TLS settings are the REST API's, not an admin client's.
        own = under_prefix(self.props, f"{role}.")
        return {name: text for name, text in own.items() if not name.startswith("listeners")}

    @property
    def spark(self) -> dict[str, str]:
        """The `spark.*` keys, with their prefix."""
        return {name: text for name, text in self.props.items() if name.startswith("spark.")}


class StandaloneSettings(WorkerSettings):
    """A worker without a group; its offsets are in a file."""

    mode = Mode.STANDALONE

    offset_storage_file_filename: str = key(
        Type.STRING, importance=_HIGH, doc="File for source offsets."
    )


class DistributedSettings(WorkerSettings):
    """A worker of a group; its configurations, offsets and statuses are in topics."""

    mode = Mode.DISTRIBUTED

    group_id: str = key(
        Type.STRING,
        importance=_HIGH,
        valid=non_empty,
        doc="Name of the group of workers this one belongs to.",
    )
    session_timeout_ms: int = key(
        Type.INT,
        default=10_000,
        importance=_HIGH,
        doc="After so long without a heartbeat the group considers a worker dead.",
    )
    rebalance_timeout_ms: int = key(
        Type.INT,
        default=60_000,
        importance=_HIGH,
        doc="Time that each worker has to join the group once a rebalance has begun.",
    )
    heartbeat_interval_ms: int = key(
        Type.INT,
        default=3000,
        importance=_HIGH,
        doc="How often a worker sends a heartbeat; less than the session timeout.",
    )
    exactly_once_source_support: str = key(
        Type.STRING,
        default="disabled",
        importance=_HIGH,
        valid=one_of_ignoring_case("DISABLED", "ENABLED", "PREPARING"),
        doc="Whether source records and offsets are written in one transaction. Only `disabled` "
        "is supported.",
    )
    worker_sync_timeout_ms: int = key(
        Type.INT,
        default=3000,
        importance=_MEDIUM,
        doc="How long a worker tries to catch up with the others' configurations.",
    )
    worker_unsync_backoff_ms: int = key(
        Type.INT,
        default=300_000,
        importance=_MEDIUM,
        doc="How long a worker that did not catch up stays out of the group.",
    )
    offset_storage_topic: str = key(Type.STRING, importance=_HIGH, doc="Topic for source offsets.")
    offset_storage_partitions: int = key(
        Type.INT,
        default=25,
        importance=_LOW,
        valid=topic_size,
        doc="Partitions of the offsets topic when it is created.",
    )
    offset_storage_replication_factor: int = key(
        Type.SHORT,
        default=3,
        importance=_LOW,
        valid=topic_size,
        doc="Replicas of the offsets topic when it is created. Other topic settings follow the "
        "prefix `offset.storage.`.",
    )
    config_storage_topic: str = key(
        Type.STRING, importance=_HIGH, doc="Topic for connector configurations."
    )
    config_storage_replication_factor: int = key(
        Type.SHORT,
        default=3,
        importance=_LOW,
        valid=topic_size,
        doc="Replicas of the configuration topic when it is created. Other topic settings follow "
        "the prefix `config.storage.`.",
    )
    status_storage_topic: str = key(Type.STRING, importance=_HIGH, doc="Topic for statuses.")
    status_storage_partitions: int = key(
        Type.INT,
        default=5,
        importance=_LOW,
        valid=topic_size,
        doc="Partitions of the status topic when it is created.",
    )
    status_storage_replication_factor: int = key(
        Type.SHORT,
        default=3,
        importance=_LOW,
        valid=topic_size,
        doc="Replicas of the status topic when it is created. Other topic settings follow the "
        "prefix `status.storage.`.",
    )
    connect_protocol: str = key(
        Type.STRING,
        default="sessioned",
        importance=_LOW,
        valid=one_of("eager", "compatible", "sessioned"),
        doc="How the workers of the group share the work.",
    )
    scheduled_rebalance_max_delay_ms: int = key(
        Type.INT,
        default=300_000,
        importance=_LOW,
        valid=between(0, _INT_MAX),
        doc="How long the group waits for a lost worker before others take over its work.",
    )
    inter_worker_key_ttl_ms: int = key(
        Type.INT,
        default=3_600_000,
        importance=_LOW,
        valid=between(0, _INT_MAX),
        doc="How long a key that signs requests between workers is used.",
    )
    inter_worker_key_generation_algorithm: str = key(
        Type.STRING,
        default="HmacSHA256",
        importance=_LOW,
        doc="Algorithm that makes those keys.",
    )
    inter_worker_key_size: int | None = key(
        Type.INT, default=None, importance=_LOW, doc="Size of those keys in bits."
    )
    inter_worker_signature_algorithm: str = key(
        Type.STRING,
        default="HmacSHA256",
        importance=_LOW,
        doc="Algorithm that signs requests between workers.",
    )
    inter_worker_verification_algorithms: list[str] = key(
        Type.LIST,
        default=["HmacSHA256"],
        importance=_LOW,
        doc="Algorithms that signatures of other workers may use.",
    )
