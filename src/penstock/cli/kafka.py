"""What the commands for topics, records and groups share."""

from __future__ import annotations

import logging
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.target import Target

if TYPE_CHECKING:
    from penstock.broker import Broker
    from penstock.broker.registry_forms import RegistryForms

Timeout = Annotated[float, typer.Option(min=1, help="Seconds for each question to Kafka.")]


class FormName(StrEnum):
    """The forms of `penstock.broker.forms`, which imports too much for a command's options."""

    AUTO = "auto"
    STRING = "string"
    JSON = "json"
    AVRO = "avro"
    PROTOBUF = "protobuf"
    JSON_SCHEMA = "json-schema"
    BYTES = "bytes"
    SHORT = "short"
    INTEGER = "integer"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"


KeyForm = Annotated[FormName, typer.Option("--key-format", help="What keys are.")]
ValueForm = Annotated[FormName, typer.Option("--value-format", help="What values are.")]
Registry = Annotated[
    str | None, typer.Option("--schema-registry", metavar="URL", help="Where schemas are.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def opened(
    context: str | None,
    servers: str | None,
    command_config: Path | None,
    timeout: float,
) -> Broker:
    """The cluster that a command is for; to be closed."""
    from penstock.broker import Broker

    # It tells of each attempt that it repeats; what is final comes as an error of ours.
    logging.getLogger("penstock.kafka.librdkafka").setLevel(logging.CRITICAL)
    target = Target.of(context=context, servers=servers, command_config=command_config)
    return Broker({"client.id": "penstock-cli", **target.kafka()}, seconds=timeout)


def registry_forms(target: Target, url: str | None, *forms: FormName) -> RegistryForms | None:
    """The schema registry of a command; None if it has none and none of the forms needs one."""
    from penstock.broker.forms import REGISTRY_TYPES, Form
    from penstock.broker.registry_forms import RegistryForms

    settings = target.registry()
    if url is not None:
        settings["schema.registry.url"] = url
    needed = any(Form(form) in REGISTRY_TYPES for form in forms)
    return RegistryForms(settings) if needed or settings else None
