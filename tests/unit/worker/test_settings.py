from __future__ import annotations

import pytest

from penstock.kafka.client_keys import WORKER_KEYS
from penstock.kernel.errors import ConfigError
from penstock.worker.settings import (
    DistributedSettings,
    Mode,
    StandaloneSettings,
    WorkerSettings,
    environment_properties,
    header_rules,
    override_policy,
    plugin_paths,
    worker_settings,
)

JSON = "org.apache.kafka.connect.json.JsonConverter"
CONVERTERS = {"key.converter": JSON, "value.converter": JSON}
STANDALONE = {**CONVERTERS, "offset.storage.file.filename": "/tmp/offsets"}
DISTRIBUTED = {
    **CONVERTERS,
    "group.id": "g",
    "offset.storage.topic": "o",
    "config.storage.topic": "c",
    "status.storage.topic": "s",
}

#: Every key that the two kinds of worker of Kafka Connect 4.1 define.
CONNECT_KEYS = [
    "access.control.allow.methods",
    "access.control.allow.origin",
    "admin.listeners",
    "bootstrap.servers",
    "client.dns.lookup",
    "client.id",
    "config.providers",
    "config.storage.replication.factor",
    "config.storage.topic",
    "connect.protocol",
    "connections.max.idle.ms",
    "connector.client.config.override.policy",
    "exactly.once.source.support",
    "group.id",
    "header.converter",
    "header.converter.plugin.version",
    "heartbeat.interval.ms",
    "inter.worker.key.generation.algorithm",
    "inter.worker.key.size",
    "inter.worker.key.ttl.ms",
    "inter.worker.signature.algorithm",
    "inter.worker.verification.algorithms",
    "key.converter",
    "key.converter.plugin.version",
    "listeners",
    "metadata.max.age.ms",
    "metadata.recovery.rebootstrap.trigger.ms",
    "metadata.recovery.strategy",
    "metric.reporters",
    "metrics.num.samples",
    "metrics.recording.level",
    "metrics.sample.window.ms",
    "offset.flush.interval.ms",
    "offset.flush.timeout.ms",
    "offset.storage.file.filename",
    "offset.storage.partitions",
    "offset.storage.replication.factor",
    "offset.storage.topic",
    "plugin.discovery",
    "plugin.path",
    "rebalance.timeout.ms",
    "receive.buffer.bytes",
    "reconnect.backoff.max.ms",
    "reconnect.backoff.ms",
    "request.timeout.ms",
    "response.http.headers.config",
    "rest.advertised.host.name",
    "rest.advertised.listener",
    "rest.advertised.port",
    "rest.extension.classes",
    "retry.backoff.max.ms",
    "retry.backoff.ms",
    "sasl.client.callback.handler.class",
    "sasl.jaas.config",
    "sasl.kerberos.kinit.cmd",
    "sasl.kerberos.min.time.before.relogin",
    "sasl.kerberos.service.name",
    "sasl.kerberos.ticket.renew.jitter",
    "sasl.kerberos.ticket.renew.window.factor",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.login.connect.timeout.ms",
    "sasl.login.read.timeout.ms",
    "sasl.login.refresh.buffer.seconds",
    "sasl.login.refresh.min.period.seconds",
    "sasl.login.refresh.window.factor",
    "sasl.login.refresh.window.jitter",
    "sasl.login.retry.backoff.max.ms",
    "sasl.login.retry.backoff.ms",
    "sasl.mechanism",
    "sasl.oauthbearer.assertion.algorithm",
    "sasl.oauthbearer.assertion.claim.aud",
    "sasl.oauthbearer.assertion.claim.exp.seconds",
    "sasl.oauthbearer.assertion.claim.iss",
    "sasl.oauthbearer.assertion.claim.jti.include",
    "sasl.oauthbearer.assertion.claim.nbf.seconds",
    "sasl.oauthbearer.assertion.claim.sub",
    "sasl.oauthbearer.assertion.file",
    "sasl.oauthbearer.assertion.private.key.file",
    "sasl.oauthbearer.assertion.private.key.passphrase",
    "sasl.oauthbearer.assertion.template.file",
    "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.oauthbearer.clock.skew.seconds",
    "sasl.oauthbearer.expected.audience",
    "sasl.oauthbearer.expected.issuer",
    "sasl.oauthbearer.header.urlencode",
    "sasl.oauthbearer.jwks.endpoint.refresh.ms",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
    "sasl.oauthbearer.jwks.endpoint.url",
    "sasl.oauthbearer.jwt.retriever.class",
    "sasl.oauthbearer.jwt.validator.class",
    "sasl.oauthbearer.scope",
    "sasl.oauthbearer.scope.claim.name",
    "sasl.oauthbearer.sub.claim.name",
    "sasl.oauthbearer.token.endpoint.url",
    "scheduled.rebalance.max.delay.ms",
    "security.protocol",
    "send.buffer.bytes",
    "session.timeout.ms",
    "socket.connection.setup.timeout.max.ms",
    "socket.connection.setup.timeout.ms",
    "ssl.cipher.suites",
    "ssl.client.auth",
    "ssl.enabled.protocols",
    "ssl.endpoint.identification.algorithm",
    "ssl.engine.factory.class",
    "ssl.key.password",
    "ssl.keymanager.algorithm",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.keystore.type",
    "ssl.protocol",
    "ssl.provider",
    "ssl.secure.random.implementation",
    "ssl.trustmanager.algorithm",
    "ssl.truststore.certificates",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.type",
    "status.storage.partitions",
    "status.storage.replication.factor",
    "status.storage.topic",
    "task.shutdown.graceful.timeout.ms",
    "topic.creation.enable",
    "topic.tracking.allow.reset",
    "topic.tracking.enable",
    "value.converter",
    "value.converter.plugin.version",
    "worker.sync.timeout.ms",
    "worker.unsync.backoff.ms",
]


def standalone(**more: str) -> WorkerSettings:
    return worker_settings({**STANDALONE, **dotted(more)}, Mode.STANDALONE)


def distributed(**more: str) -> DistributedSettings:
    settings = worker_settings({**DISTRIBUTED, **dotted(more)}, Mode.DISTRIBUTED)
    assert isinstance(settings, DistributedSettings)
    return settings


def dotted(names: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "."): value for name, value in names.items()}


@pytest.mark.parametrize("package", ["", "secured."])
def test_the_login_by_a_token_has_its_class_in_many_files(package: str) -> None:
    place = f"org.apache.kafka.common.security.oauthbearer.{package}"
    handler = {"sasl.login.callback.handler.class": f"{place}OAuthBearerLoginCallbackHandler"}
    assert (
        worker_settings({**DISTRIBUTED, **handler}, Mode.DISTRIBUTED).props.items()
        >= handler.items()
    )


def test_every_key_of_connect_is_known() -> None:
    known = {*StandaloneSettings.definition().keys, *DistributedSettings.definition().keys}
    others = {key for key in known if not key.startswith("penstock.")}
    assert set(CONNECT_KEYS) == others | WORKER_KEYS.keys.keys()


def test_every_key_is_documented() -> None:
    for definition in (StandaloneSettings.definition(), DistributedSettings.definition()):
        assert [key.name for key in (*definition, *WORKER_KEYS) if not key.documentation] == []


def test_values_are_typed_and_defaults_are_connects() -> None:
    settings = distributed(offset_flush_interval_ms="10000", plugin_path="/a, /b")
    assert settings.offset_flush_interval_ms == 10_000
    assert settings.plugin_path == ["/a", "/b"]
    assert settings.listeners == ["http://:8083"]
    assert settings.bootstrap_servers == ["localhost:9092"]
    assert settings.offset_storage_partitions == 25
    assert settings.admin_listeners is None
    assert settings.warnings == ()
    assert isinstance(standalone(), StandaloneSettings)


def test_what_is_required_depends_on_the_mode() -> None:
    with pytest.raises(ConfigError) as caught:
        worker_settings(STANDALONE, Mode.DISTRIBUTED)
    assert list(caught.value.errors) == [
        "group.id",
        "offset.storage.topic",
        "config.storage.topic",
        "status.storage.topic",
    ]
    with pytest.raises(ConfigError, match=r"offset\.storage\.file\.filename"):
        worker_settings(DISTRIBUTED, Mode.STANDALONE)


REFUSED = [
    ("offset.flush.interval.ms", "soon", "Not a number of type LONG"),
    ("topic.creation.enable", "yes", "Expected value to be either true or false"),
    ("listeners", "ftp://x", "must be a URL that begins with http or https"),
    ("listeners", "", "at least one listener is needed"),
    ("listeners", "http://:x", "has no valid port"),
    ("admin.listeners", "nowhere", "must be a URL that begins with http or https"),
    ("rest.advertised.listener", "ftp", "must be http or https"),
    ("rest.advertised.port", "http", "Not a number of type INT"),
    ("connector.client.config.override.policy", "Some", "must be one of All, None, Principal"),
    ("response.http.headers.config", "put X-A:b", "with the action set, add, "),
    ("plugin.discovery", "guess", "String must be one of (case insensitive): ONLY_SCAN, "),
    ("offset.storage.replication.factor", "0", "Replication factor must be positive and not "),
    ("status.storage.partitions", "-2", "Number of partitions must be positive, or -1 to "),
    ("exactly.once.source.support", "enabled", "only disabled is supported"),
    ("exactly.once.source.support", "maybe", "String must be one of (case insensitive)"),
    ("rest.extension.classes", "a.B", "REST extensions are Java classes"),
    ("metric.reporters", "a.B", "metrics reporters are Java classes"),
    ("heartbeat.interval.ms", "10000", "must be less than session.timeout.ms, which is 10000"),
    ("inter.worker.verification.algorithms", "HmacSHA1", "must contain inter.worker.signature"),
    ("security.protocol", "TLS", "String must be one of (case insensitive): SASL_SSL, "),
    ("sasl.login.class", "a.B", "it names Java code"),
    ("spark.sql.session.timeZone", "Asia/Tokyo", "only UTC treats records as Kafka Connect does"),
    ("spark.driver.memory", "383m", "Spark needs a heap of at least 384m"),
    ("spark.driver.memory", "much", "it must be a size such as 512m or 1g"),
    ("spark.sql.mapKeyDedupPolicy", "EXCEPTION", "only LAST_WIN treats records as"),
    ("ssl.client.auth", "maybe", "String must be one of: required, requested, none"),
    ("penstock.secrets.shown", "maybe", "String must be one of: never, with-token, always"),
    ("penstock.secrets.shown", "with-token", "it needs penstock.secrets.token with at least 16"),
]


def test_the_smallest_heap_is_taken() -> None:
    heap = {"spark.driver.memory": "384m"}
    assert worker_settings({**DISTRIBUTED, **heap}, Mode.DISTRIBUTED).spark == heap


@pytest.mark.parametrize(("name", "value", "rule"), REFUSED)
def test_a_wrong_value_is_refused_with_key_value_and_rule(name: str, value: str, rule: str) -> None:
    with pytest.raises(ConfigError) as caught:
        worker_settings({**DISTRIBUTED, name: value}, Mode.DISTRIBUTED)
    assert list(caught.value.errors) == [name]
    assert f" for configuration {name}: " in str(caught.value)
    assert rule in str(caught.value)


def test_all_wrong_values_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        standalone(offset_flush_timeout_ms="x", request_timeout_ms="y")
    assert set(caught.value.errors) == {"offset.flush.timeout.ms", "request.timeout.ms"}


WARNED = [
    ("offset.flush.intervall.ms", "1", "did you mean offset.flush.interval.ms?"),
    ("replication.factor", "1", "replication.factor is not a known worker setting"),
    ("internal.key.converter", JSON, "is ignored: Kafka removed it in 3.0"),
    ("internal.value.converter.schemas.enable", "false", "is ignored: Kafka removed it in 3.0"),
    ("rest.port", "8083", "use listeners"),
    ("offset.storage.file.filename", "f", "it is for standalone workers"),
    ("plugin.discovery", "only_scan", "plugin.discovery has no effect"),
]


@pytest.mark.parametrize(("name", "value", "text"), WARNED)
def test_a_key_without_effect_is_warned_about(name: str, value: str, text: str) -> None:
    (warning,) = worker_settings({**DISTRIBUTED, name: value}, Mode.DISTRIBUTED).warnings
    assert warning.startswith(name)
    assert text in warning


def test_keys_under_known_prefixes_are_left_alone() -> None:
    more = {
        "producer.linger.ms": "5",
        "consumer.max.poll.records": "5",
        "admin.retries": "1",
        "key.converter.schemas.enable": "false",
        "config.providers.env.class": "x",
        "listeners.https.ssl.keystore.location": "x",
        "spark.master": "local[2]",
        "config.storage.min.insync.replicas": "2",
        "metrics.context.a": "b",
    }
    settings = worker_settings({**DISTRIBUTED, **more}, Mode.DISTRIBUTED)
    assert settings.warnings == ()
    assert settings.spark == {"spark.master": "local[2]"}


def test_security_goes_to_every_client_and_a_role_may_override_it() -> None:
    more = {
        "bootstrap.servers": "a:1 , b:2",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "client.id": "w",
        "producer.sasl.mechanism": "SCRAM-SHA-512",
        "admin.listeners": "http://:1",
    }
    settings = worker_settings({**STANDALONE, **more}, Mode.STANDALONE)
    common = {
        "bootstrap.servers": "a:1,b:2",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "client.id": "w",
    }
    assert settings.client_properties() == common
    assert settings.client_properties("admin") == common
    assert settings.client_properties("producer") == {
        **common,
        "sasl.mechanism": "SCRAM-SHA-512",
    }


def test_secrets_do_not_show() -> None:
    assert "hunter2" not in repr(standalone(ssl_keystore_password="hunter2"))


def test_a_short_token_is_refused_without_showing_it() -> None:
    given = {"penstock.secrets.shown": "with-token", "penstock.secrets.token": "hunter2"}
    with pytest.raises(ConfigError, match="at least 16 characters") as caught:
        worker_settings({**DISTRIBUTED, **given}, Mode.DISTRIBUTED)
    assert "hunter2" not in str(caught.value)
    given["penstock.secrets.token"] = "hunter2" * 3
    assert worker_settings({**DISTRIBUTED, **given}, Mode.DISTRIBUTED).warnings == ()


def test_an_empty_admin_listener_switches_it_off() -> None:
    assert standalone(admin_listeners="").admin_listeners == []


def test_converter_names_are_resolved_where_plugins_are_known() -> None:
    def resolve(name: str) -> str:
        if name != "Json":
            raise LookupError(name)
        return JSON

    good = {**STANDALONE, "key.converter": "Json", "value.converter": "Json"}
    good |= {"header.converter": "Json"}
    assert worker_settings(good, Mode.STANDALONE, resolve).value_converter == JSON
    with pytest.raises(ConfigError, match=r"key\.converter: Class Jsonn could not be found"):
        worker_settings({**good, "key.converter": "Jsonn"}, Mode.STANDALONE, resolve)


def test_environment_variables_of_the_docker_images() -> None:
    environ = {
        "CONNECT_BOOTSTRAP_SERVERS": "k:9092",
        "CONNECT_value_CONVERTER_SCHEMAS_ENABLE": "true",
        # As dub.py of the images has it; a page of Confluent's says it the other way round.
        "CONNECT_CONFIG_PROVIDERS_MY___P__X_CLASS": "c",
        "CONNECT_SPARK_DRIVER_MEMORY": "1g",
        "CONNECT_LOG4J_ROOT_LOGLEVEL": "INFO",
        "CONNECT_URL": "http://c:8083",
        "HOME": "/",
    }
    assert environment_properties(environ) == {
        "bootstrap.servers": "k:9092",
        "value.converter.schemas.enable": "true",
        "config.providers.my-p_x.class": "c",
        "spark.driver.memory": "1g",
    }


def test_small_readers() -> None:
    assert header_rules('add X-A: b, "set C: d,e"') == ["add X-A: b", "set C: d,e"]
    policy = "org.apache.kafka.connect.connector.policy.NoneConnectorClientConfigOverridePolicy"
    assert override_policy(policy) == "None"
    assert override_policy("Any") is None
    assert plugin_paths({"plugin.path": "/a,,/b"}) == ["/a", "/b"]
    assert plugin_paths({}) == []
