"""JsonConverter."""

from penstock.converters.json.converter import JsonConverter, JsonConverterConfig

__all__ = ["JsonConverter", "JsonConverterConfig"]
