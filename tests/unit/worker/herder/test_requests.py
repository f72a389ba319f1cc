"""Validation, passwords, offsets and what happens when plugins take their time."""

from __future__ import annotations

import json
import logging
import threading

import pytest

from penstock.kernel.clock import Deadline
from penstock.kernel.errors import (
    BadRequestError,
    ConfigError,
    DeadlineExceededError,
    NotFoundError,
    PluginError,
)
from penstock.kernel.wire.models import ConnectorOffsets, OffsetEntry
from penstock.testing.waiting import eventually, soon
from tests.unit.worker.herder.harness import SOURCE, VAULT, running

SECRETS = {
    "name": "c",
    "connector.class": VAULT.name,
    "url": "http://vault",
    "connection.password": "hunter2",
    "producer.override.sasl.jaas.config": "module required password=x;",
    "producer.override.linger.ms": "5",
}


def test_a_config_with_errors_is_not_stored() -> None:
    with running() as bench:
        bench.validation.errors = ("Invalid value x for configuration y",)
        with pytest.raises(ConfigError, match="contains the following 1 error"):
            bench.create()
        assert bench.configs.log == []


def test_a_validation_that_hangs_holds_up_nobody() -> None:
    with running() as bench:
        bench.validation.hold = threading.Event()
        with pytest.raises(DeadlineExceededError, match="validating"):
            bench.herder.create_connector("c", {**SOURCE, "name": "c"}, None, Deadline.after(0.05))
        assert bench.herder.health(soon()).status == "healthy"
        bench.validation.hold.set()
        assert bench.configs.log == []


def test_passwords_never_come_back_and_survive_the_round_trip() -> None:
    with running() as bench:
        info = bench.herder.create_connector("c", SECRETS, None, soon())
        hidden = {
            **SECRETS,
            "connection.password": "[hidden]",
            "producer.override.sasl.jaas.config": "[hidden]",
        }
        assert info.config == hidden
        eventually(lambda: bench.herder.tasks("c", soon()))
        assert bench.herder.connector_config("c", soon()) == hidden
        assert bench.herder.tasks("c", soon())[0].config["connection.password"] == "[hidden]"

        bench.herder.put_connector_config("c", {**hidden, "topic": "t"}, soon())
        bench.herder.patch_connector_config("c", {"connection.password": "[hidden]"}, soon())
        stored = bench.configs.connectors["c"].config
        assert stored == {**SECRETS, "topic": "t"}
        assert bench.validation.seen[-1]["connection.password"] == "hunter2"

        bench.herder.patch_connector_config("c", {"connection.password": "new"}, soon())
        stored = bench.configs.connectors["c"].config
        assert stored is not None
        assert stored["connection.password"] == "new"


def test_a_stored_password_is_not_sent_to_another_place() -> None:
    """Who may write configs, but not see passwords, must not get one by moving its connector."""
    moved = {"url": "http://mine"}
    with running() as bench:
        hidden = bench.herder.create_connector("c", SECRETS, None, soon()).config
        for attempt in (
            lambda: bench.herder.put_connector_config("c", {**hidden, **moved}, soon()),
            lambda: bench.herder.patch_connector_config("c", moved, soon()),
            lambda: bench.herder.preview(VAULT.name, {**hidden, **moved}, [], 1, soon()),
        ):
            with pytest.raises((BadRequestError, ConfigError)) as caught:
                attempt()
            assert (
                "Invalid value [hidden] for configuration connection.password: it hides a stored "
                "value, which can't be reused because url has changed; send the value itself"
            ) in str(caught.value)
        bench.herder.validate(VAULT.name, {**hidden, **moved}, soon())
        assert bench.validation.seen[-1]["connection.password"] == "[hidden]"
        assert bench.configs.connectors["c"].config == SECRETS

        bench.herder.patch_connector_config("c", {**moved, "connection.password": "new"}, soon())
        stored = bench.configs.connectors["c"].config
        assert stored == {**SECRETS, **moved, "connection.password": "new"}


def test_passwords_in_addresses_never_come_back_and_survive_the_round_trip() -> None:
    url = "jdbc:x://me:hunter2@db/shop?a=b&password=hunter2"
    shown = "jdbc:x://me:[hidden]@db/shop?a=b&password=[hidden]"
    with running() as bench:
        hidden = bench.herder.create_connector("c", {**SECRETS, "url": url}, None, soon()).config
        eventually(lambda: bench.herder.tasks("c", soon()))
        for config in (
            hidden,
            bench.herder.connector_config("c", soon()),
            bench.herder.tasks("c", soon())[0].config,
            json.loads(bench.herder.expanded(["info"], soon()))["c"]["info"]["config"],
        ):
            assert config["url"] == shown
        bench.herder.put_connector_config("c", {**hidden, "topic": "t"}, soon())
        assert bench.configs.connectors["c"].config == {**SECRETS, "url": url, "topic": "t"}
        for moved in (shown.replace("db", "mine"), shown.replace("a=b", "a=c")):
            with pytest.raises(ConfigError, match=r"for configuration url: .*url has changed"):
                bench.herder.patch_connector_config(
                    "c", {"url": moved, "connection.password": "x"}, soon()
                )
        with pytest.raises(ConfigError, match=r"configuration url: .*none is stored; send"):
            bench.herder.create_connector("d", {**SECRETS, "url": shown}, None, soon())


def test_a_mask_that_hides_nothing_is_refused() -> None:
    config = {**SECRETS, "connection.password": "[hidden]"}
    with running() as bench:
        with pytest.raises(
            ConfigError, match=r"1 error\(s\):\n.*none is stored; send the value .*--like OLD"
        ):
            bench.herder.create_connector("c", config, None, soon())
        assert bench.configs.log == []


def test_references_to_a_provider_are_shown() -> None:
    with running() as bench:
        config = {**SECRETS, "connection.password": "${file:/etc/secret:password}"}
        info = bench.herder.create_connector("c", config, None, soon())
        assert info.config["connection.password"] == "${file:/etc/secret:password}"


def test_passwords_of_a_connector_that_is_not_installed_are_hidden_by_their_names() -> None:
    with running() as bench:
        config = {"name": "c", "connector.class": "gone.Sink", "db.password": "x", "topics": "t"}
        bench.configs.put_connector("c", config, soon())
        shown = bench.herder.connector_config("c", soon())
        assert shown == {**config, "db.password": "[hidden]"}
        assert bench.herder.connector_info("c", soon()).type == "unknown"


UNDECLARED = {
    "name": "c",
    "connector.class": VAULT.name,
    "url": "http://vault",
    "vault.access.key": "a",
    "transforms": "tokens",
    "transforms.tokens.type": "org.apache.kafka.connect.transforms.InsertField$Value",
    "transforms.tokens.static.field": "secret",
    "transforms.tokens.api.secret": "b",
    "transforms.tokens.secret.file": "/etc/secret",
    "transforms.tokens.other": "d",
    "producer.override.my.secret": "e",
    "producer.override.my.words": "f",
}


def test_keys_that_nobody_declares_are_hidden_if_they_sound_secret() -> None:
    secrets = ("vault.access.key", "transforms.tokens.api.secret", "producer.override.my.secret")
    hidden = UNDECLARED | dict.fromkeys(secrets, "[hidden]")
    with running() as bench:
        assert bench.herder.create_connector("c", UNDECLARED, None, soon()).config == hidden
        assert bench.herder.connector_config("c", soon()) == hidden
        bench.herder.put_connector_config("c", {**hidden, "topic": "t"}, soon())
        assert bench.configs.connectors["c"].config == {**UNDECLARED, "topic": "t"}

        changed = {**hidden, "transforms.tokens.api.secret": "new"}
        bench.herder.put_connector_config("c", changed, soon())
        stored = bench.configs.connectors["c"].config
        assert stored == {**UNDECLARED, "transforms.tokens.api.secret": "new"}
        with pytest.raises(ConfigError, match=r"override.my.secret: it hides"):
            bench.herder.create_connector("d", {**hidden, "name": "d"}, None, soon())


def test_a_config_without_a_class_is_refused_without_its_passwords() -> None:
    with running() as bench:
        with pytest.raises(BadRequestError) as caught:
            bench.herder.create_connector("c", {"name": "c", "my.password": "x"}, None, soon())
        assert str(caught.value) == (
            "Connector config {name=c, my.password=[hidden]} contains no connector type"
        )


def test_a_patch_can_not_rename() -> None:
    with running() as bench:
        bench.create()
        with pytest.raises(BadRequestError, match="doesn't match connector name in the URL"):
            bench.herder.patch_connector_config("c", {"name": "other"}, soon())


def entry(position: int) -> ConnectorOffsets:
    return ConnectorOffsets((OffsetEntry({"filename": "f"}, {"position": position}),))


def test_offsets_change_only_while_stopped() -> None:
    with running() as bench:
        bench.create()
        bench.runs()
        with pytest.raises(BadRequestError, match="must be in the STOPPED state"):
            bench.herder.alter_offsets("c", entry(5), soon())
        bench.herder.stop_connector("c", soon())
        text = bench.herder.alter_offsets("c", entry(5), soon())
        assert text == "The offsets for this connector have been altered successfully"
        assert bench.herder.offsets("c", soon()) == entry(5)
        with pytest.raises(PluginError, match="non-negative"):
            bench.herder.alter_offsets("c", entry(-1), soon())
        bench.herder.reset_offsets("c", soon())
        assert bench.herder.offsets("c", soon()).offsets == ()
        assert ("stop", "c-0") in bench.worker.calls[: bench.worker.calls.index(("offsets", "c"))]


def test_offsets_that_make_no_sense() -> None:
    with running() as bench:
        with pytest.raises(BadRequestError, match="need to be provided"):
            bench.herder.alter_offsets("c", ConnectorOffsets(), soon())
        with pytest.raises(NotFoundError, match="Connector c not found"):
            bench.herder.alter_offsets("c", entry(1), soon())


def test_a_broker_that_hangs_in_an_offsets_call_blocks_one_connector_only() -> None:
    with running() as bench:
        bench.create(target="STOPPED")
        eventually(lambda: bench.statuses.connector("c"))
        bench.worker.hanging["c"] = threading.Event()
        with pytest.raises(DeadlineExceededError, match="modifying offsets for connector c"):
            bench.herder.reset_offsets("c", Deadline.after(0.05))
        bench.create("free")
        bench.runs("free")


def test_a_cluster_wide_level_is_stored_and_applied() -> None:
    with running() as bench:
        bench.herder.set_cluster_logger("penstock.test.cluster", "debug", soon())
        assert bench.configs.log == [("logger-cluster-penstock.test.cluster", "DEBUG")]
        assert bench.herder.logger("penstock.test.cluster").level == "DEBUG"
        with pytest.raises(NotFoundError, match="invalid log level 'loud'"):
            bench.herder.set_cluster_logger("x", "loud", soon())


def test_levels_end_with_the_worker() -> None:
    logger = logging.getLogger("penstock.test.ending")
    with running() as bench:
        bench.herder.set_logger("penstock.test.ending", "DEBUG")
        assert logger.isEnabledFor(logging.DEBUG)
    assert logger.level == logging.NOTSET
