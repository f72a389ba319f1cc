"""ProtobufConverter and JsonSchemaConverter through a worker, with Confluent's clients outside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import message_factory

from penstock.codecs.protobuf.files import ProtoSchema
from penstock.testing.registry import SchemaRegistry
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics

LINES = ["one", "Grüße 🚰"]
FORMAT = {"use.deprecated.format": False}


def converters(kind: str, registry: SchemaRegistry) -> dict[str, str]:
    return {
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": kind,
        "value.converter.schema.registry.url": registry.url,
        # Else a new property is no compatible change of a JSON Schema.
        "value.converter.object.additional.properties": "false",
    }


def message_class(text: str) -> Any:
    message = ProtoSchema.parse(text, {}).message((0,))
    return message_factory.GetMessageClass(message.descriptor())


def await_lines(worker: PenstockWorker, file: Path, *lines: str) -> None:
    expected = "".join(f"{line}\n" for line in lines).encode()
    found = worker.rest.eventually(
        lambda: file.read_bytes() if file.exists() else b"",
        lambda data: len(data) >= len(expected),
    )
    assert found == expected


@pytest.mark.parametrize("kind", ["Protobuf", "JsonSchema"])
def test_lines_become_records_and_what_others_wrote_becomes_lines(
    worker: PenstockWorker,
    kafka: str,
    registry: SchemaRegistry,
    tmp_path: Path,
    unique: Callable[[str], str],
    kind: str,
) -> None:
    inbound, outbound = tmp_path / "in.txt", tmp_path / "out.txt"
    inbound.write_text("".join(f"{line}\n" for line in LINES))
    topic, dead = unique("lines"), unique("dead")
    source = {
        "connector.class": "FileStreamSource",
        "file": str(inbound),
        "topic": topic,
        "transforms": "hoist",
        "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
        "transforms.hoist.field": "line",
    }
    worker.rest.create_running(unique("source"), source | converters(kind, registry))
    raws = topics.await_values(kafka, topic, len(LINES))
    context = SerializationContext(topic, MessageField.VALUE)
    text = registry.latest(f"{topic}-value")["schema"]
    client = SchemaRegistryClient({"url": registry.url})
    if kind == "Protobuf":
        line = message_class(text)
        read = ProtobufDeserializer(line, FORMAT)
        assert [read(each, context).line for each in raws] == LINES
        # A second schema of the topic, from another writer.
        other = message_class(
            'syntax = "proto3"; message ConnectDefault1 { string line = 1; int32 n = 2; }'
        )
        added = ProtobufSerializer(other, client, FORMAT)(other(line="x", n=5), context)
    else:
        assert [JSONDeserializer(text)(each, context) for each in raws] == [
            {"line": each} for each in LINES
        ]
        schema = json.loads(text)
        schema["properties"]["n"] = {"type": "integer", "connect.index": 1}
        added = JSONSerializer(json.dumps(schema), client)({"line": "x", "n": 5}, context)
    assert added is not None
    bad = raws[0][:5] + b"\0\xff" if raws[0] else b""
    topics.produce(kafka, topic, [bad, added, None, raws[0]])

    sink = {
        "connector.class": "FileStreamSink",
        "file": str(outbound),
        "topics": topic,
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.topic.replication.factor": "1",
    }
    worker.rest.create_running(unique("sink"), sink | converters(kind, registry))
    read_lines = [f"Struct{{line={each}}}" for each in LINES]
    await_lines(worker, outbound, *read_lines, "Struct{line=x,n=5}", "null", read_lines[0])
    assert topics.await_values(kafka, dead, 1) == [bad]
