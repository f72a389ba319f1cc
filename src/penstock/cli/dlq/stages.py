"""The steps that can fail, by the names that Kafka Connect writes into dead letters."""

from __future__ import annotations

from enum import StrEnum

import typer


class Stage(StrEnum):
    """A step. Penstock writes letters of four: both converters, the transforms and the put."""

    KEY_CONVERTER = "KEY_CONVERTER"
    VALUE_CONVERTER = "VALUE_CONVERTER"
    HEADER_CONVERTER = "HEADER_CONVERTER"
    TRANSFORMATION = "TRANSFORMATION"
    TASK_PUT = "TASK_PUT"
    TASK_POLL = "TASK_POLL"
    KAFKA_CONSUME = "KAFKA_CONSUME"
    KAFKA_PRODUCE = "KAFKA_PRODUCE"


def stage_named(text: str) -> str:
    """The step of this name, in upper or lower case; empty for an empty text.

    Raises:
        typer.BadParameter: there is no such step.
    """
    name = text.strip().upper()
    if name and name not in Stage.__members__:
        raise typer.BadParameter(f"there is no step {text}; there are {', '.join(Stage)}")
    return name
