from __future__ import annotations

import pytest

from penstock.kafka.client_keys import Role
from penstock.kafka.options import (
    kafka_python_settings,
    librdkafka_settings,
    spark_settings,
)
from penstock.kernel.errors import ConfigError

SCRAM = (
    "org.apache.kafka.common.security.scram.ScramLoginModule required "
    'username="alice" password="p\\"q";'
)


@pytest.mark.parametrize(
    ("java", "library"),
    [
        ({"fetch.max.wait.ms": "100"}, {"fetch.wait.max.ms": 100}),
        ({"auto.offset.reset": "none"}, {"auto.offset.reset": "error"}),
        ({"isolation.level": "read_committed"}, {"isolation.level": "read_committed"}),
        ({"receive.buffer.bytes": "-1"}, {"socket.receive.buffer.bytes": 0}),
        ({"request.timeout.ms": "7000"}, {"socket.timeout.ms": 7000}),
        ({"queued.max.messages.kbytes": "1024"}, {"queued.max.messages.kbytes": 1024}),
        (
            {"fetch.max.bytes": "200000000"},
            {"fetch.max.bytes": 200_000_000, "receive.message.max.bytes": 200_001_024},
        ),
        (
            {
                "partition.assignment.strategy": (
                    "org.apache.kafka.clients.consumer.RangeAssignor, "
                    "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
                )
            },
            {"partition.assignment.strategy": "range"},
        ),
        (
            {
                "partition.assignment.strategy": (
                    "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
                )
            },
            {"partition.assignment.strategy": "cooperative-sticky"},
        ),
    ],
)
def test_consumer_properties_for_librdkafka(
    java: dict[str, str], library: dict[str, object]
) -> None:
    values = librdkafka_settings(java, Role.CONSUMER).values
    assert {name: values[name] for name in library} == library


@pytest.mark.parametrize(
    ("java", "library"),
    [
        ({"acks": "-1"}, {"acks": "all"}),
        ({"max.request.size": "5000000"}, {"message.max.bytes": 5_000_000}),
        ({"buffer.memory": "33554432"}, {"queue.buffering.max.kbytes": 32_768}),
        ({}, {"partitioner": "murmur2_random"}),
        ({"enable.idempotence": "TRUE"}, {"enable.idempotence": True}),
    ],
)
def test_producer_properties_for_librdkafka(
    java: dict[str, str], library: dict[str, object]
) -> None:
    values = librdkafka_settings(java, Role.PRODUCER).values
    assert {name: values[name] for name in library} == library


def test_java_s_defaults_win_over_librdkafka_s() -> None:
    assert librdkafka_settings({}, Role.CONSUMER).values["isolation.level"] == "read_uncommitted"


def test_what_has_no_counterpart_is_named() -> None:
    properties = {"interceptor.classes": "x.Y", "ssl.protocol": "TLSv1.3", "max.poll.records": "5"}
    for settings in (
        librdkafka_settings(properties, Role.CONSUMER),
        kafka_python_settings(properties),
    ):
        assert settings.unsupported == ("interceptor.classes", "ssl.protocol")


def test_scram_login_for_both_libraries_and_secrets_stay_hidden() -> None:
    properties = {
        "bootstrap.servers": "a:1,b:2",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": SCRAM,
        "ssl.endpoint.identification.algorithm": "",
    }
    rd = librdkafka_settings(properties, Role.CONSUMER)
    py = kafka_python_settings(properties)
    assert rd.values["sasl.username"] == "alice"
    assert rd.values["sasl.password"] == 'p"q'
    assert rd.values["security.protocol"] == "sasl_ssl"
    assert py.values["sasl_plain_password"] == 'p"q'
    assert py.values["bootstrap_servers"] == ["a:1", "b:2"]
    assert rd.tls is not None
    assert not rd.tls.check_hostname
    assert rd.unsupported == py.unsupported == ()
    assert 'p"q' not in repr(rd) + repr(py)


def test_oauth_login() -> None:
    properties = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": "https://id.example/token",
        "sasl.jaas.config": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
            'clientId=\'me\' clientSecret="s3cret" scope=kafka extension_logicalCluster="lkc";'
        ),
    }
    rd = librdkafka_settings(properties, Role.PRODUCER).values
    oauth = kafka_python_settings(properties).oauth
    assert rd["sasl.oauthbearer.method"] == "oidc"
    assert rd["sasl.oauthbearer.client.secret"] == "s3cret"
    assert rd["sasl.oauthbearer.extensions"] == "logicalCluster=lkc"
    assert oauth is not None
    assert (oauth.client_id, oauth.scope) == ("me", "kafka")
    assert "s3cret" not in repr(oauth)


@pytest.mark.parametrize(
    ("properties", "key"),
    [
        ({"max.partition.fetch.bytes": "many"}, "max.partition.fetch.bytes"),
        ({"security.protocol": "TLS"}, "security.protocol"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}, "sasl.jaas.config"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "MAGIC"}, "sasl.mechanism"),
        ({"partition.assignment.strategy": "org.x.StickyAssignor"}, "partition.assignment"),
        ({"security.protocol": "SSL", "ssl.truststore.location": "t", "ssl.truststore.type": "BKS"},
         "ssl.truststore.type"),
    ],
)  # fmt: skip
def test_wrong_values_name_their_key(properties: dict[str, str], key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        librdkafka_settings(properties, Role.CONSUMER)


def test_spark_gets_java_s_properties_as_they_are() -> None:
    settings = spark_settings({"sasl.jaas.config": SCRAM, "interceptor.classes": "x"})
    assert settings.values == {"kafka.sasl.jaas.config": SCRAM}
    assert settings.unsupported == ("interceptor.classes",)
