"""Secrets of custom plugins: what they declare counts, and else how a key sounds."""

from __future__ import annotations

from typing import Any

from penstock import config
from penstock.api import ColumnTransformation
from penstock.api.plugin import PluginKind
from penstock.config import Type, key
from penstock.herder.secrets import Secrets
from penstock.plugins import PluginInfo, Plugins


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
