"""Options and helpers of the commands for topics, records and groups."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import Options
from penstock.cli.target import CommandConfig, ContextName, Servers, Target

if TYPE_CHECKING:
    from penstock.tools.broker import Broker
    from penstock.tools.broker.encodings import Decoder
    from penstock.tools.broker.registry_encodings import RegistryForms


class FormName(StrEnum):
    """The names of `tools.broker.encodings`, which imports too much for a command's options."""

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


Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@dataclass(frozen=True, slots=True)
class KafkaCluster(Options):
    """The Kafka cluster that a command is for."""

    context: ContextName = None
    servers: Servers = None
    command_config: CommandConfig = None
    timeout: Annotated[float, typer.Option(min=1, help="Seconds for each question to Kafka.")] = 30

    @property
    def target(self) -> Target:
        return Target.of(
            context=self.context, servers=self.servers, command_config=self.command_config
        )

    def broker(self) -> Broker:
        """The cluster; to be closed."""
        from penstock.tools.broker import Broker

        # The client logs each attempt that it repeats; we raise the final error.
        logging.getLogger("penstock.kafka.librdkafka").setLevel(logging.CRITICAL)
        return Broker({"client.id": "penstock-cli", **self.target.kafka()}, seconds=self.timeout)


@dataclass(frozen=True, slots=True)
class Forms(Options):
    """The formats of keys and values."""

    key_form: Annotated[FormName, typer.Option("--key-format", help="Format of keys.")] = (
        FormName.AUTO
    )
    value_form: Annotated[FormName, typer.Option("--value-format", help="Format of values.")] = (
        FormName.AUTO
    )
    schema_registry: Annotated[
        str | None, typer.Option("--schema-registry", metavar="URL", help="The schema registry.")
    ] = None

    def decoders(self, target: Target) -> tuple[Decoder, Decoder]:
        """The functions that make text of keys and of values."""
        from penstock.tools.broker.encodings import Decoder, Form

        registry = self.registry(target)
        return Decoder(Form(self.key_form), registry), Decoder(Form(self.value_form), registry)

    def registry(self, target: Target) -> RegistryForms | None:
        """The schema registry; None if there is none and neither of the forms needs one."""
        from penstock.tools.broker.encodings import REGISTRY_TYPES, Form
        from penstock.tools.broker.registry_encodings import RegistryForms

        settings = target.registry()
        if self.schema_registry is not None:
            settings["schema.registry.url"] = self.schema_registry
        needed = any(Form(form) in REGISTRY_TYPES for form in (self.key_form, self.value_form))
        return RegistryForms(settings) if needed or settings else None
