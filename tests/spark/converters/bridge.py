"""The real Java converters, run inside Spark's JVM over many values in one call."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from penstock.kernel.data.record import SchemaAndValue
from penstock.kernel.data.schema import DATE, Schema, SchemaType, Struct
from penstock.kernel.java.to_string import MILLIS_OF_DAY
from penstock.machine.jars import classpath

BRIDGE = Path(__file__).with_name("Bridge.java")


def java_object(session: SparkSession, *sources: Path) -> Any:
    """An object of the class in the last file, compiled beside the jars of Kafka Connect.

    Each file has one class of the same name, and may use those of the files before it.
    """
    jvm: Any = session.sparkContext._jvm
    gateway: Any = session.sparkContext._gateway
    paths = classpath("connect")
    urls = gateway.new_array(jvm.java.net.URL, len(paths))
    for number, path in enumerate(paths):
        urls[number] = jvm.java.io.File(str(path)).toURI().toURL()
    loader = jvm.java.net.URLClassLoader(urls, jvm.java.lang.ClassLoader.getPlatformClassLoader())
    for source in sources:
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(loader)
        compiler.cook(source.read_text())
        loader = compiler.getClassLoader()
    return loader.loadClass(sources[-1].stem).newInstance()


class JavaConverters:
    """Calls the converters of the jars; they live in a class loader of their own."""

    def __init__(self, session: SparkSession) -> None:
        self._bridge = java_object(session, BRIDGE)

    def encode(
        self, name: str, config: Mapping[str, str], schema: Schema | None, values: Sequence[Any]
    ) -> list[dict[str, Any]]:
        """What becomes of each value: {"data": hex or None} or {"error": messages}."""
        return self.encode_told(name, config, schema, [told_value(schema, each) for each in values])

    def encode_told(
        self, name: str, config: Mapping[str, str], schema: Schema | None, told: Sequence[Any]
    ) -> list[dict[str, Any]]:
        """The same for values in the form of told_value(), whatever their schema says."""
        given = json.dumps(told_schema(schema)), json.dumps(told)
        text = self._bridge.encode(name, json.dumps(config), *given)
        results: list[dict[str, Any]] = json.loads(text)
        return results

    def decode(
        self, name: str, config: Mapping[str, str], raws: Sequence[bytes | None]
    ) -> list[dict[str, Any]]:
        """What becomes of each row: {"schema": ..., "value": ...} or {"error": messages}."""
        given = json.dumps([None if raw is None else raw.hex() for raw in raws])
        results: list[dict[str, Any]] = json.loads(
            self._bridge.decode(name, json.dumps(config), given)
        )
        return [in_order(result) for result in results]


def told(data: SchemaAndValue) -> dict[str, Any]:
    """Our data in the form of JavaConverters.decode()."""
    value = told_value(data.schema, data.value)
    told_both: dict[str, Any] = in_order({"schema": told_schema(data.schema), "value": value})
    return told_both


def told_schema(schema: Schema | None) -> dict[str, Any] | None:
    if schema is None:
        return None
    return {
        "type": schema.type.name,
        "optional": schema.optional,
        "name": schema.name,
        "version": schema.version,
        "doc": schema.doc,
        "parameters": [list(pair) for pair in schema.parameters],
        "default": told_value(schema, schema.default),
        "fields": [[each.name, told_schema(each.schema)] for each in schema.fields],
        "keys": told_schema(schema.key_schema),
        "values": told_schema(schema.value_schema),
    }


def told_value(schema: Schema | None, value: Any) -> Any:
    """A value with the name of its Java type, as Bridge.java writes and reads it."""
    if value is None:
        return None
    if isinstance(value, Struct):
        members = [
            [each.name, told_value(each.schema, value.values.get(each.name))]
            for each in value.schema.fields
        ]
        return ["STRUCT", members]
    if isinstance(value, Decimal):
        sign, digits, exponent = value.as_tuple()
        number = int("".join(map(str, digits)))
        return ["DECIMAL", str(-number if sign else number), -int(exponent)]
    items = schema.value_schema if schema is not None else None
    if isinstance(value, list | tuple):
        return ["ARRAY", [told_value(items, each) for each in value]]
    if isinstance(value, Mapping):
        keys = schema.key_schema if schema is not None else None
        return ["MAP", [[told_value(keys, k), told_value(items, v)] for k, v in value.items()]]
    return _told_scalar(schema, value)


def _told_scalar(schema: Schema | None, value: Any) -> list[str]:
    match value:
        case bool():
            return ["BOOLEAN", "true" if value else "false"]
        case str():
            # Half a surrogate pair is a question mark on its way through UTF-8.
            return ["STRING", value.encode("utf-8", "replace").decode()]
        case bytes():
            return ["BYTES", value.hex()]
        case float():
            return _told_float(schema, value)
    if schema is not None and schema.is_moment:
        return ["DATE", str(value * MILLIS_OF_DAY if schema.name == DATE else value)]
    return [schema.type.name if schema is not None else "INT64", str(value)]


def _told_float(schema: Schema | None, value: float) -> list[str]:
    if schema is not None and schema.type is SchemaType.FLOAT32:
        bits = 0x7FC00000 if value != value else struct.unpack(">i", struct.pack(">f", value))[0]
        return ["FLOAT32", str(bits)]
    wide = 0x7FF8 << 48 if value != value else struct.unpack(">q", struct.pack(">d", value))[0]
    return ["FLOAT64", str(wide)]


def in_order(node: Any) -> Any:
    """The entries of maps in a fixed order: Java's hash maps have none."""
    if isinstance(node, dict):
        return {name: in_order(each) for name, each in node.items()}
    if not isinstance(node, list):
        return node
    if len(node) == 2 and node[0] == "MAP":
        return ["MAP", sorted((in_order(each) for each in node[1]), key=json.dumps)]
    return [in_order(each) for each in node]
