"""Records through a worker: from a file to a topic to a file, with transformations on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from penstock.testing.waiting import eventually
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics

ODD_LINES = [
    "plain",
    "",
    "Grüße aus Köln",
    "日本語のテキスト",
    "🚰 beyond the basic plane 𝄞",
    'quotes " and \\ backslashes \t tabs',
    "",
    "",
    "{not: json}",
    "cafe\u0301",
    "  spaces at both ends  ",
]


def source(file: Path, topic: str, **more: str) -> dict[str, str]:
    return {"connector.class": "FileStreamSource", "file": str(file), "topic": topic, **more}


def sink(file: Path, topic: str, **more: str) -> dict[str, str]:
    return {"connector.class": "FileStreamSink", "file": str(file), "topics": topic, **more}


def await_file(worker: PenstockWorker, file: Path, size: int) -> bytes:
    return worker.rest.eventually(
        lambda: file.read_bytes() if file.exists() else b"", lambda data: len(data) >= size
    )


def test_lines_arrive_unchanged_and_in_order(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    inbound, outbound = tmp_path / "in.txt", tmp_path / "out.txt"
    topic, routed = unique("lines"), unique("routed")
    # Every kind of line end; the last line has none yet, so it is no line yet.
    ends = ["\n", "\r\n", "\r", "\r\n", "\n", "\r\n", "\n", "\n", "\r", "\r\n", "\n"]
    text = "".join(line + end for line, end in zip(ODD_LINES, ends, strict=True))
    inbound.write_bytes((text + "not finished").encode())
    worker.rest.create(unique("sink"), sink(outbound, routed, **{"tasks.max": "2"}))
    name = unique("source")
    config = source(inbound, topic) | {
        "transforms": "route",
        "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.route.regex": "lines-(.*)",
        "transforms.route.replacement": routed,
        "topic.creation.groups": "routed",
        "topic.creation.default.partitions": "2",
        "topic.creation.default.replication.factor": "1",
        "topic.creation.routed.include": "routed-.*",
        "topic.creation.routed.partitions": "1",
        "topic.creation.routed.replication.factor": "1",
    }
    worker.rest.create_running(name, config)

    expected = "".join(f"{line}\n" for line in ODD_LINES).encode()
    assert await_file(worker, outbound, len(expected)) == expected
    payloads = [json.loads(value or b"")["payload"] for value in topics.values(kafka, routed)]
    assert payloads == ODD_LINES
    assert worker.rest.topics(name) == [routed]
    assert topics.partitions_of(kafka, routed) == 1
    assert topics.partitions_of(kafka, topic) == 0

    with inbound.open("a") as stream:
        stream.write(" business\nand more\n")
    expected += b"not finished business\nand more\n"
    assert await_file(worker, outbound, len(expected)) == expected
    position = inbound.stat().st_size
    worker.rest.await_offsets(
        name,
        lambda found: (
            found == [{"partition": {"filename": str(inbound)}, "offset": {"position": position}}]
        ),
    )


def test_topics_are_created_as_their_group_says(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    inbound = tmp_path / "in.txt"
    inbound.write_text("one\n")
    topic = unique("grouped")
    config = source(inbound, topic) | {
        "topic.creation.groups": "wide,other",
        "topic.creation.default.partitions": "1",
        "topic.creation.default.replication.factor": "1",
        "topic.creation.wide.include": "grouped-.*",
        "topic.creation.wide.exclude": "grouped-not-.*",
        "topic.creation.wide.partitions": "5",
        "topic.creation.other.include": ".*",
        "topic.creation.other.partitions": "3",
    }
    worker.rest.create_running(unique("source"), config)
    assert len(topics.await_values(kafka, topic, 1)) == 1
    assert topics.partitions_of(kafka, topic) == 5


def struct(number: int) -> bytes:
    fields = [
        {"field": "id", "type": "int32", "optional": False},
        {"field": "secret", "type": "string", "optional": True},
        {"field": "city", "type": "string", "optional": True},
    ]
    schema = {"type": "struct", "name": "visit", "optional": False, "fields": fields}
    payload = {"id": number, "secret": f"s{number}", "city": "Köln" if number % 2 else None}
    return json.dumps({"schema": schema, "payload": payload}).encode()


def test_fields_are_changed_where_the_predicate_says(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    outbound = tmp_path / "out.txt"
    public, private = unique("public"), unique("private")
    for topic in (public, private):
        topics.create(kafka, topic)
        topics.produce(kafka, topic, map(struct, range(3)))
    prefix = "org.apache.kafka.connect.transforms"
    config = sink(outbound, f"{public},{private}") | {
        "transforms": "hide,rename,origin",
        "transforms.hide.type": f"{prefix}.ReplaceField$Value",
        "transforms.hide.exclude": "secret",
        "transforms.hide.predicate": "isPrivate",
        "transforms.hide.negate": "true",
        "transforms.rename.type": f"{prefix}.ReplaceField$Value",
        "transforms.rename.renames": "city:town",
        "transforms.origin.type": f"{prefix}.InsertField$Value",
        "transforms.origin.topic.field": "origin",
        "transforms.origin.offset.field": "at",
        "predicates": "isPrivate",
        "predicates.isPrivate.type": f"{prefix}.predicates.TopicNameMatches",
        "predicates.isPrivate.pattern": "private-.*",
    }
    worker.rest.create_running(unique("sink"), config)

    def line(topic: str, number: int) -> str:
        secret = f"secret=s{number}," if topic == private else ""
        # A field that is null is left out of the text, as Java's Struct does.
        town = "town=Köln," if number % 2 else ""
        return f"Struct{{id={number},{secret}{town}origin={topic},at={number}}}"

    found = worker.rest.eventually(
        lambda: outbound.read_text().splitlines() if outbound.exists() else [],
        lambda lines: len(lines) >= 6,
    )
    for topic in (public, private):
        ours = [text for text in found if f"origin={topic}," in text]
        assert ours == [line(topic, number) for number in range(3)]
    assert len(found) == 6


def test_schemas_that_change_within_a_topic_keep_their_order(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    outbound, topic = tmp_path / "out.txt", unique("mixed")
    topics.create(kafka, topic)
    text = b'{"schema":{"type":"string","optional":false},"payload":"%d"}'
    number = b'{"schema":{"type":"int32","optional":true},"payload":%d}'
    kinds: list[bytes | None] = []
    expected: list[str] = []
    for count in range(60):
        match count % 5:
            case 0 | 1:
                kinds.append(text % count)
                expected.append(str(count))
            case 2:
                kinds.append(number % count)
                expected.append(str(count))
            case 3:
                kinds.append(struct(count))
                town = ",city=Köln" if count % 2 else ""
                expected.append(f"Struct{{id={count},secret=s{count}{town}}}")
            case _:
                kinds.append(None)
                expected.append("null")
    topics.produce(kafka, topic, kinds)
    worker.rest.create_running(unique("sink"), sink(outbound, topic))
    worker.rest.eventually(
        lambda: outbound.read_text().splitlines() if outbound.exists() else [],
        lambda lines: len(lines) >= 60,
    )
    assert outbound.read_text().splitlines() == expected


def test_headers_that_transformations_write(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    """With the header converter of the worker, and with one of the connector's own."""
    inbound = tmp_path / "in.txt"
    inbound.write_text("one\ntwo\n")
    chain = {
        "transforms": "hoist,copy,mark",
        "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
        "transforms.hoist.field": "line",
        "transforms.copy.type": "org.apache.kafka.connect.transforms.HeaderFrom$Value",
        "transforms.copy.fields": "line",
        "transforms.copy.headers": "text",
        "transforms.copy.operation": "copy",
        "transforms.mark.type": "org.apache.kafka.connect.transforms.InsertHeader",
        "transforms.mark.header": "origin",
        "transforms.mark.value.literal": "file",
    }
    simple = {"header.converter": "org.apache.kafka.connect.storage.SimpleHeaderConverter"}
    typed = b'{"schema":{"type":"string","optional":false},"payload":"%s"}'
    for more, form in (({}, typed), (simple, b"%s")):
        topic = unique("headers")
        worker.rest.create_running(unique("source"), source(inbound, topic) | chain | more)
        topics.await_values(kafka, topic, 2)
        assert [record.headers for record in topics.records(kafka, topic)] == [
            {"text": form % text, "origin": form % b"file"} for text in (b"one", b"two")
        ]


def test_a_sink_finds_new_topics_by_its_pattern(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    outbound, name = tmp_path / "out.txt", unique("sink")
    first, second, other = unique("logs-1"), unique("logs-2"), unique("other")
    string = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}
    for topic in (first, other):
        topics.create(kafka, topic)
        topics.produce(kafka, topic, [topic.encode()])
    config = {
        "connector.class": "FileStreamSink",
        "file": str(outbound),
        "topics.regex": "logs-\\d-test-a-sink-finds.*",
        "consumer.override.metadata.max.age.ms": "1000",
        **string,
    }
    worker.rest.create_running(name, config)
    found = worker.rest.eventually(lambda: outbound.exists() and outbound.read_text())
    assert found == f"{first}\n"
    topics.create(kafka, second)
    topics.produce(kafka, second, [b"fresh"])
    worker.rest.eventually(lambda: "fresh" in outbound.read_text())
    assert outbound.read_text() == f"{first}\nfresh\n"
    eventually(lambda: worker.rest.topics(name), lambda got: got == sorted([first, second]))
