"""JsonConverter.

May import the public API, the codecs and columns.
"""

from penstock.converters.json.converter import JsonConverter, JsonConverterConfig

__all__ = ["JsonConverter", "JsonConverterConfig"]
