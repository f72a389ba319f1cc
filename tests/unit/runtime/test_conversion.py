"""Whose header converter a connector gets."""

from __future__ import annotations

from penstock.runtime.conversion import with_header_converter

WORKER = {"header.converter": "Json", "header.converter.schemas.enable": "false", "group.id": "g"}


def test_a_connector_without_one_gets_the_workers_with_its_keys() -> None:
    found = with_header_converter({"name": "c", "header.converter.schemas.enable": "true"}, WORKER)
    assert found == {
        "name": "c",
        "header.converter": "Json",
        "header.converter.schemas.enable": "false",
    }


def test_a_connectors_own_inherits_no_keys() -> None:
    own = {"name": "c", "header.converter": "String"}
    assert with_header_converter(own, WORKER) == own
