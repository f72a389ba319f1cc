"""Secrets of custom plugins: what they declare counts, and else how a key sounds."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.api import ColumnTransformation
from penstock.api.plugin import PluginKind
from penstock.kernel import config
from penstock.kernel.config import Type, key
from penstock.kernel.wire.digests import secret_digest
from penstock.plugins import BUILT_IN, PluginInfo, Plugins
from penstock.testing.fakes import ManualClock
from penstock.worker.herder.secrets import Secrets


class Stamp(ColumnTransformation):
    """Declares a key that sounds secret and is none, and one that is and does not sound so."""

    java_name = "com.example.Stamp"

    class Config(config.Config):
        token: str = key(Type.STRING, doc="The word to write.")
        pin: str = key(Type.PASSWORD, doc="Opens the box.")

    def columns(self, envelope: Any) -> Any:
        return envelope


SECRETS = Secrets(
    Plugins([PluginInfo("com.example.Stamp", PluginKind.TRANSFORMATION, "1", __name__)])
)
GIVEN = {
    "transforms.x.type": "com.example.Stamp",
    "transforms.x.token": "word",
    "transforms.x.pin": "1234",
    "transforms.x.api.secret": "s",
    "transforms.x.colour": "red",
}


def hidden(*names: str) -> dict[str, str]:
    return GIVEN | {f"transforms.x.{name}": "[hidden]" for name in names}


def test_declared_keys_and_undeclared_ones() -> None:
    shown = SECRETS.masked(GIVEN)
    assert shown == hidden("pin", "api.secret")
    assert SECRETS.restored(shown, GIVEN) == GIVEN


def test_a_connector_that_is_not_installed_does_not_matter_to_its_transforms() -> None:
    config = {"connector.class": "gone.Sink", **GIVEN}
    assert SECRETS.masked(config) == {"connector.class": "gone.Sink"} | hidden("pin", "api.secret")


def test_a_transform_that_is_not_installed_has_secrets_by_their_sound() -> None:
    config = {**GIVEN, "transforms.x.type": "gone.Stamp"}
    shown = hidden("token", "api.secret") | {"transforms.x.type": "gone.Stamp"}
    assert SECRETS.masked(config) == shown


def test_references_are_shown_whatever_their_key() -> None:
    config = {**GIVEN, "transforms.x.api.secret": "${file:/etc/keys:s}"}
    assert SECRETS.masked(config)["transforms.x.api.secret"] == "${file:/etc/keys:s}"


@pytest.mark.parametrize(
    "value",
    [
        "$${env:X}",
        "${env:A}-${env:B}",
        "connect:${file:/etc/keys:registry}",
        'org.x.PlainLoginModule required username="u" password="${env:P}";',
    ],
)
def test_references_are_shown_with_what_is_no_secret_around_them(value: str) -> None:
    config = {**GIVEN, "transforms.x.api.secret": value}
    assert SECRETS.masked(config)["transforms.x.api.secret"] == value


@pytest.mark.parametrize(
    "value",
    [
        "hunter2${env:X}",
        "Bearer abc.${env:X}",
        'org.x.PlainLoginModule required username="${env:U}" password="hunter2";',
        'org.x.PlainLoginModule required password="hunter${env:N}";',
    ],
)
def test_what_stands_beside_a_reference_may_be_a_secret(value: str) -> None:
    config = {**GIVEN, "transforms.x.api.secret": value}
    assert SECRETS.masked(config)["transforms.x.api.secret"] == "[hidden]"


# ------------------------------------------------------------------------- where secrets go

JDBC = {
    "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
    "connection.url": "jdbc:mysql://me:hunter2@db/shop",
    "connection.user": "me",
    "connection.password": "hunter2",
    "connection.attempts": "3",
    "query": "SELECT 1",
    "topic.prefix": "t",
    "value.converter": "io.confluent.connect.avro.AvroConverter",
    "value.converter.schema.registry.url": "http://registry",
    "value.converter.basic.auth.user.info": "me:hunter2",
    "producer.override.sasl.jaas.config": "module required password=hunter2;",
    "producer.override.linger.ms": "5",
}
BUILT_IN_SECRETS = Secrets(Plugins(BUILT_IN))
OF_CONNECTION = ("connection.password", "connection.url")
OF_REGISTRY = ("value.converter.basic.auth.user.info",)
OF_BROKER = ("producer.override.sasl.jaas.config",)


@pytest.mark.parametrize(
    ("changed", "lost"),
    [
        ({"query": "SELECT 2", "topic.prefix": "u", "tasks.max": "2"}, ()),
        ({"connection.attempts": "9", "producer.override.linger.ms": "9"}, ()),
        ({"transforms": "a", "transforms.a.type": "org.x.A", "key.converter": "org.x.B"}, ()),
        ({"connection.password": "new"}, ()),
        ({"connection.url": "jdbc:mysql://mine/shop"}, ("connection.password",)),
        ({"connection.url": None}, ("connection.password",)),
        ({"connection.user": "root"}, OF_CONNECTION),
        ({"connection.socketFactory": "x"}, OF_CONNECTION),
        ({"driver": "org.x.Driver"}, OF_CONNECTION),
        ({"vault.hosts": "mine"}, OF_CONNECTION),
        ({"elsewhere": "mine:443"}, OF_CONNECTION),
        ({"elsewhere": "ldap://mine"}, OF_CONNECTION),
        ({"value.converter.schema.registry.url": "http://mine"}, OF_REGISTRY),
        ({"value.converter": "org.x.Converter"}, OF_REGISTRY),
        ({"value.converter.proxy.host": "mine"}, OF_REGISTRY),
        ({"producer.override.bootstrap.servers": "mine:9092"}, OF_BROKER),
        ({"producer.override.security.protocol": "SASL_PLAINTEXT"}, OF_BROKER),
        ({"connector.class": "org.x.Other"}, (*OF_CONNECTION, *OF_REGISTRY, *OF_BROKER)),
    ],
)
def test_a_secret_stays_where_it_was_meant_for(
    changed: dict[str, str | None], lost: tuple[str, ...]
) -> None:
    """By a config that was read, changed and sent back."""
    shown = BUILT_IN_SECRETS.masked(JDBC)
    found = BUILT_IN_SECRETS.restored({**shown, **changed}, JDBC)
    assert found == {**JDBC, **changed, **{name: shown[name] for name in lost}}
    problems = BUILT_IN_SECRETS.mask_problems(found, JDBC)
    assert sorted(problems) == sorted(lost)
    assert all(f"because {next(iter(changed))} has changed" in text for text in problems.values())


def test_a_mask_of_a_key_that_is_no_secret_any_more_is_refused() -> None:
    """Another class declares other passwords; the mask must not become the value."""
    changed = {**SECRETS.masked(GIVEN), "transforms.x.type": "gone.Stamp"}
    found = SECRETS.restored(changed, GIVEN)
    assert found["transforms.x.pin"] == "[hidden]"
    problems = SECRETS.mask_problems(found, GIVEN)
    assert "transforms.x.type has changed" in problems["transforms.x.pin"]


def test_wrong_digests_are_forgotten_after_an_hour() -> None:
    clock = ManualClock()
    secrets = Secrets(Plugins(BUILT_IN), clock)

    def ask(value: str) -> bool | None:
        digest = secret_digest("salt", "c", "connection.password", value)
        found = secrets.same("c", "salt", {"connection.password": digest}, JDBC)
        return found.get("connection.password")

    assert [ask(str(number)) for number in range(6)] == [*[False] * 5, None]
    clock.advance(3601)
    assert ask("hunter2") is True
    assert [ask(str(number)) for number in range(6)] == [*[False] * 5, None]
