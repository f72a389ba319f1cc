"""AvroConverter through a worker: sources register schemas, sinks read what others wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from penstock.testing.registry import SchemaRegistry
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics

AVRO = "io.confluent.connect.avro.AvroConverter"


def avro(registry: SchemaRegistry) -> dict[str, str]:
    return {
        "key.converter": AVRO,
        "key.converter.schema.registry.url": registry.url,
        "value.converter": AVRO,
        "value.converter.schema.registry.url": registry.url,
    }


def test_lines_become_records_of_avro_and_lines_again(
    worker: PenstockWorker,
    kafka: str,
    registry: SchemaRegistry,
    tmp_path: Path,
    unique: Callable[[str], str],
) -> None:
    inbound, outbound = tmp_path / "in.txt", tmp_path / "out.txt"
    inbound.write_text("one\nGrüße 🚰\n")
    topic = unique("lines")
    routed = f"routed-{topic}"
    source = {
        "connector.class": "FileStreamSource",
        "file": str(inbound),
        "topic": topic,
        "transforms": "hoist,route",
        "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
        "transforms.hoist.field": "line",
        "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.route.regex": "(.*)",
        "transforms.route.replacement": "routed-$1",
    }
    worker.rest.create_running(unique("source"), source | avro(registry))
    raws = topics.await_values(kafka, routed, 2)
    context = SerializationContext(routed, MessageField.VALUE)
    read = AvroDeserializer(SchemaRegistryClient({"url": registry.url}))
    assert [read(each, context) for each in raws] == [{"line": "one"}, {"line": "Grüße 🚰"}]
    schema = json.loads(registry.latest(f"{routed}-value")["schema"])
    assert schema["name"] == "ConnectDefault"
    assert f"{topic}-value" not in registry.subjects()

    sink = {"connector.class": "FileStreamSink", "file": str(outbound), "topics": routed}
    worker.rest.create_running(unique("sink"), sink | avro(registry))
    expected = "Struct{line=one}\nStruct{line=Grüße 🚰}\n".encode()
    assert (
        worker.rest.eventually(
            lambda: outbound.read_bytes() if outbound.exists() else b"",
            lambda data: len(data) >= len(expected),
        )
        == expected
    )


def order(*more: dict[str, object]) -> str:
    fields = [{"name": "id", "type": "int"}, *more]
    return json.dumps({"type": "record", "name": "Order", "fields": fields})


def test_a_topic_whose_schema_evolves_keeps_its_order_and_bad_records_are_put_aside(
    worker: PenstockWorker,
    kafka: str,
    registry: SchemaRegistry,
    tmp_path: Path,
    unique: Callable[[str], str],
) -> None:
    topic, dead, outbound = unique("orders"), unique("dead"), tmp_path / "out.txt"
    client = SchemaRegistryClient({"url": registry.url})
    old = AvroSerializer(client, order())
    new = AvroSerializer(client, order({"name": "note", "type": "string", "default": "-"}))
    context = SerializationContext(topic, MessageField.VALUE)

    def is_new(number: int) -> bool:
        """Long runs, which columns read, and short ones, which are read one by one."""
        return number % 3 > 0 if number < 30 else number < 180

    numbers = range(330)
    good = [
        new({"id": n, "note": "n"}, context) if is_new(n) else old({"id": n}, context)
        for n in numbers
    ]
    bad = [b"no magic", b"\0\x7f\xff\xff\xffxyz", good[1][:5], b"", good[100][:-1]]
    mixed: list[bytes | None] = [*good[:10], *bad[:2], None, *good[10:100], *bad[2:], *good[100:]]
    topics.create(kafka, topic)
    topics.produce(kafka, topic, mixed)

    sink = {
        "connector.class": "FileStreamSink",
        "file": str(outbound),
        "topics": topic,
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    worker.rest.create_running(unique("sink"), sink | avro(registry))
    lines = [f"Struct{{id={n},note=n}}" if is_new(n) else f"Struct{{id={n}}}" for n in numbers]
    lines.insert(10, "null")
    expected = "".join(f"{line}\n" for line in lines).encode()
    found = worker.rest.eventually(
        lambda: outbound.read_bytes() if outbound.exists() else b"",
        lambda data: len(data) >= len(expected),
    )
    assert found == expected
    # What no layout is known for is put aside first, broken data when it is read.
    letters = topics.await_values(kafka, dead, len(bad))
    assert len(letters) == len(bad)
    assert set(letters) == set(bad)


def test_a_schema_that_the_registry_refuses_fails_the_task_in_its_words(
    worker: PenstockWorker, registry: SchemaRegistry, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    inbound, topic, name = tmp_path / "in.txt", unique("refused"), unique("source")
    inbound.write_text("one\n")
    registry.register(f"{topic}-value", order())
    source = {"connector.class": "FileStreamSource", "file": str(inbound), "topic": topic}
    worker.rest.create(name, source | avro(registry))
    trace = worker.rest.await_trace(name)
    assert f"can't register a schema under subject {topic}-value" in trace
    assert "error code 409" in trace


def test_a_registry_that_comes_late_is_waited_for(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    inbound = tmp_path / "in.txt"
    inbound.write_text("one\n")
    late = SchemaRegistry(tmp_path / "registry")
    topic, name = unique("late"), unique("source")
    source = {"connector.class": "FileStreamSource", "file": str(inbound), "topic": topic}
    worker.rest.create_running(name, source | avro(late))
    with late:
        (raw,) = topics.await_values(kafka, topic, 1)
        assert raw is not None
        assert raw[5:] == b"\x06one" or raw[5:] == b"\x02\x06one"
        assert worker.rest.status(name)["tasks"][0]["state"] == "RUNNING"
