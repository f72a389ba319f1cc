"""The key that all converters have; apart from what they share in Spark."""

from __future__ import annotations

from penstock.kernel.config import Config, Importance, Type, key, one_of


class ConverterConfig(Config):
    """The worker fills in `converter.type`; users do not write it."""

    converter_type: str = key(
        Type.STRING,
        valid=one_of("key", "value", "header"),
        importance=Importance.LOW,
        doc="Which part of a record this converter is for. The worker sets it.",
    )
