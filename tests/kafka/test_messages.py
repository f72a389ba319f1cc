"""Records written and read: through the library, the commands, kcat and a schema registry."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import confluent_kafka
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from typer.testing import CliRunner

from penstock import broker as shell
from penstock.broker import Broker, NewRecord, to_last, to_latest, to_offset, to_time
from penstock.cli.main import app
from penstock.kafka.clients import TopicWriter
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import (
    BadRequestError,
    ConfigError,
    DataError,
    DeadlineExceededError,
    NotFoundError,
    PenstockError,
)
from penstock.machine.free_ports import free_port
from penstock.machine.process import Child
from penstock.testing.registry import SchemaRegistry
from penstock.testing.waiting import eventually, patient

Unique = Callable[[str], str]
START_MS = 1_700_000_000_000


@pytest.fixture(scope="module")
def broker(kafka: str) -> Iterator[Broker]:
    with Broker({"bootstrap.servers": kafka}) as broker:
        yield broker


@pytest.fixture(autouse=True)
def _here(kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions and commands find the broker; contexts of the machine do not matter."""
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", kafka)
    monkeypatch.setenv("PENSTOCK_CONFIG", str(tmp_path / "config.toml"))


@pytest.fixture
def topic(broker: Broker, unique: Unique) -> str:
    name = unique("m")
    broker.topics.create(name, partitions=2, settings={"retention.ms": "-1"})
    return name


@pytest.fixture
def numbers(broker: Broker, topic: str) -> str:
    """Ten records in each partition, one each minute."""
    records = [
        NewRecord(topic, None, b"%d" % n, partition=p, timestamp=START_MS + n * 60_000)
        for p in (0, 1)
        for n in range(10)
    ]
    written = broker.messages.write(topic, records)
    assert [(each.partition, each.count, each.first, each.last) for each in written] == [
        (0, 10, 0, 9),
        (1, 10, 0, 9),
    ]
    return topic


def run(*arguments: str, stdin: bytes = b"", status: int = 0) -> str:
    done = CliRunner().invoke(app, arguments, input=stdin)
    if isinstance(done.exception, PenstockError):
        raise done.exception
    assert done.exit_code == status, done.output
    return done.stdout


def documents(*arguments: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in run("consume", *arguments, "-o", "json").splitlines()]


# ------------------------------------------------------------------------------------ reading


def test_reading_begins_where_it_is_told_to(broker: Broker, numbers: str) -> None:
    def offsets(*goal: object, **more: object) -> list[int]:
        records = broker.messages.read(numbers, *goal, **more)  # type: ignore[arg-type]
        return sorted(each.offset for each in records)

    assert offsets() == sorted([*range(10)] * 2)
    assert offsets(to_offset(8)) == [8, 8, 9, 9]
    assert offsets(to_offset(70)) == []
    assert offsets(to_last(1)) == [9, 9]
    assert offsets(to_latest) == []
    assert offsets(to_time(START_MS + 7 * 60_000 - 1), partitions=[1]) == [7, 8, 9]
    with pytest.raises(NotFoundError, match="has no partition 5"):
        offsets(partitions=[5])
    with pytest.raises(NotFoundError, match="there is no topic nowhere"):
        broker.messages.read("nowhere")


def test_the_command_reads_from_there_too(numbers: str) -> None:
    def offsets(*arguments: str) -> list[str]:
        return sorted(str(each["offset"]) for each in documents(numbers, *arguments))

    assert len(offsets()) == 20
    assert len(offsets("--from-beginning", "-p", "0")) == 10
    assert offsets("--offset", "9") == ["9", "9"]
    assert offsets("--offset", "-2", "-p", "1") == ["8", "9"]
    assert offsets("--offset", "latest") == []
    assert offsets("--from-time", "2023-11-14T22:22:20", "-p", "0") == ["9"]
    assert offsets("--since", "1h") == []
    assert run("consume", numbers, "--since", "1h") == "There are no records.\n"
    assert len(offsets("-n", "3")) == 3


def test_following_goes_on_at_the_end(broker: Broker, numbers: str) -> None:
    records = broker.messages.read(numbers, to_last(1), partitions=[0], follow=True)
    assert next(records).value == b"9"
    writer = threading.Timer(0.5, shell.produce, (numbers, "ten", "eleven"), {"partition": 0})
    writer.start()
    assert [each.value for each in islice(records, 2)] == [b"ten", b"eleven"]
    writer.join()
    records.close()


@pytest.mark.parametrize("group", ["", "billing"])
def test_the_command_follows_until_it_is_interrupted(
    kafka: str, broker: Broker, topic: str, tmp_path: Path, unique: Unique, group: str
) -> None:
    out, name = tmp_path / "out", unique(group)
    command = [sys.executable, "-m", "penstock", "consume", topic, "-F", "-o", "raw", "-b", kafka]
    command += ["--group", name] if group else []
    with Child("penstock consume", command, log=out) as child:

        def arrived() -> bool:
            broker.messages.write(topic, [NewRecord(topic, None, b"news", partition=0)])
            # Of the last one that is shown the command may not know yet that it was.
            return out.read_text().count("news") > 1

        eventually(arrived)
        child.signal(signal.SIGINT)
        assert child.wait(patient())
        assert child.exit_code == 130
    lines = out.read_text().splitlines()
    assert set(lines) == {"news"}
    if group:
        # What was shown is committed, so the next one goes on behind it.
        end = broker.topics.describe(topic).partitions[0].end
        rest = len(list(broker.messages.read_as(name, topic)))
        assert broker.groups.offsets(name)[TopicPartition(topic, 0)] == end
        assert rest + len(lines) <= (end or 0)


def test_a_group_reads_on_where_it_stopped(broker: Broker, numbers: str, unique: Unique) -> None:
    group = unique("g")
    first = [*islice(broker.messages.read_as(group, numbers, from_beginning=True), 0, 7)]
    eventually(lambda: sum(broker.groups.offsets(group).values()) == 7)
    second = list(broker.messages.read_as(group, numbers, from_beginning=True))
    seen = [(each.partition, each.offset) for each in (*first, *second)]
    assert sorted(seen) == [(p, n) for p in (0, 1) for n in range(10)]
    assert set(broker.groups.offsets(group).values()) == {10}
    assert list(broker.messages.read_as(group, numbers)) == []
    assert broker.groups.state(group).members == ()


def test_the_command_reads_as_a_group(broker: Broker, numbers: str, unique: Unique) -> None:
    group = unique("g")
    found = documents(numbers, "--group", group, "--from-beginning", "-n", "5")
    assert len(found) == 5
    assert sum(broker.groups.offsets(group).values()) == 5
    with pytest.raises(ConfigError, match="a group starts at its own offsets"):
        run("consume", numbers, "--group", group, "--offset", "3")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--offset", "noon"), "--offset must be a number"),
        (("--offset", "1", "--since", "1h"), "give only one of --offset and --since"),
        (("--from-time", "noon"), "'noon' is not a time"),
        (("-f", "%q"), "%q is unknown in a format"),
        (("-f", "%k", "-o", "json"), "give --format or --output, not both"),
        (("-f", "%k", "-K", ":"), "in a --format, %k is the key"),
        (("-o", "json", "-K", ":"), "--key-separator and --null are for --output raw"),
        (("-o", "raw", "--headers"), "--headers is for tables"),
        (("--value-format", "avro"), "no schema registry given"),
    ],
)
def test_what_consume_refuses(topic: str, arguments: tuple[str, ...], problem: str) -> None:
    with pytest.raises(PenstockError, match=problem):
        run("consume", topic, *arguments)


@pytest.mark.parametrize("arguments", [(), ("--follow",), ("--group", "g")])
def test_what_is_no_topic_is_not_waited_for(arguments: tuple[str, ...]) -> None:
    with pytest.raises(BadRequestError, match=r"looking at topics, no topic .*InvalidTopic"):
        run("consume", "no topic", *arguments)


def test_transactions_are_read_when_they_are_committed(
    kafka: str, broker: Broker, topic: str, unique: Unique
) -> None:
    producer = confluent_kafka.Producer({
        "bootstrap.servers": kafka, "transactional.id": unique("x"),
    })  # fmt: skip
    producer.init_transactions(30)
    for value, end in (
        ("committed", producer.commit_transaction),
        ("aborted", producer.abort_transaction),
        ("open", lambda _: None),
    ):
        producer.begin_transaction()
        producer.produce(topic, value, partition=0)
        producer.flush(30)
        end(30)
    # Marks stand behind both transactions, and the last one holds up the end.
    assert [each.value for each in broker.messages.read(topic)] == [b"committed"]
    values = [each.value for each in broker.messages.read(topic, uncommitted=True)]
    assert values == [b"committed", b"aborted", b"open"]
    assert len(documents(topic, "--uncommitted")) == 3
    group = unique("g")
    plan = broker.resets.plan(group, to_offset(1), [f"{topic}:0"])
    broker.resets.execute(plan)
    (change,) = broker.resets.plan(group, to_offset(4), [f"{topic}:0"])
    # The offsets 1 and 3 are marks; the only time is that of 2.
    assert (change.skipped, change.first is not None) == (3, True)
    assert change.first == change.last
    producer.abort_transaction(30)
    member = broker.messages.read_as(unique("h"), topic, from_beginning=True)
    assert [each.value for each in member] == [b"committed"]


# ------------------------------------------------------------------------------------ writing


def test_lines_keys_headers_and_nulls(topic: str) -> None:
    told = run(
        *("produce", topic, "-K", "##", "-Z", "-p", "1"),
        *("-H", "source=me", "-H", "none", "--compression", "zstd"),
        stdin=b'a##{"id": 1}\nb##\nc##\xff\xfe\n',
    )
    assert told == f"3 records written to {topic}.\n  partition 1: offset 0 to 2\n"
    found = documents(topic)
    assert [(each["key"], each["value"]) for each in found] == [
        ("a", {"id": 1}),
        ("b", None),
        ("c", {"$base64": "//4="}),
    ]
    assert found[0]["headers"] == [
        {"key": "source", "value": "me"},
        {"key": "none", "value": None},
    ]
    assert {each["partition"] for each in found} == {1}


def test_a_topic_is_copied_with_json(broker: Broker, topic: str, unique: Unique) -> None:
    records = [
        NewRecord(topic, b"k", b'{"n":1.10}', (("h", b'{"a":1}'), ("h", None)), 0, START_MS),
        NewRecord(topic, None, b"\x00\x01", (("b", b"\xff"),), 1, START_MS + 1),
        NewRecord(topic, b"", b"", (), 1, START_MS + 2),
        NewRecord(topic, b"gone", None, (), 1, START_MS + 3),
        NewRecord(topic, b"12", b'"quoted"', (), 1, START_MS + 4),
    ]
    broker.messages.write(topic, records)
    copy = unique("copy")
    broker.topics.create(copy, partitions=2, settings={"retention.ms": "-1"})
    lines = run("consume", topic, "-o", "json")
    (row, _) = json.loads(run("produce", copy, "--json", "-o", "json", stdin=lines.encode()))
    assert (row["partition"], row["records"], row["first"]) == (0, 1, 0)

    def read(name: str) -> list[tuple[object, ...]]:
        found = broker.messages.read(name)
        return sorted(
            (each.partition, each.offset, each.timestamp, each.key, each.value, each.headers)
            for each in found
        )

    assert read(copy) == read(topic)


def test_values_may_be_arguments_or_lines_of_a_file(topic: str, tmp_path: Path) -> None:
    run("produce", topic, "one", "two", "--key", "k", "--value-format", "string")
    file = tmp_path / "lines"
    file.write_text("three\nfour")
    run("produce", topic, "--file", str(file), "-p", "0")
    assert sorted(str(each["value"]) for each in documents(topic)) == [
        "four",
        "one",
        "three",
        "two",
    ]
    file.write_text('{"value": 1}\n{"value": 2, "partition": 7}\n{"value": 3}\n')
    with pytest.raises(NotFoundError, match="has no partition 7"):
        run("produce", topic, "--json", "--file", str(file))
    # What stood before the wrong line is written.
    assert len(documents(topic)) == 5


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("a", "--file", "f"), "give values or --file, not both"),
        (("a", "-k", "k", "-K", ":"), "give --key or --key-separator"),
        (("a", "--json", "-K", ":"), "leave out -K and -Z"),
        (("a", "--json", "-Z"), "leave out -K and -Z"),
        (("a", "-K", ":"), "line 1: no separator ':' between key and value"),
        (("a", "--value-format", "long"), "line 1: 'a' is not a valid long"),
        (("a", "--value-schema", "1"), "--value-schema is for the formats avro, protobuf"),
        (("--file", "nowhere.txt"), r"nowhere\.txt can't be read"),
        (("a", "-H", "=x"), "--header needs NAME=VALUE"),
        (("a", "-p", "9"), "has no partition 9"),
    ],
)
def test_what_produce_refuses(topic: str, arguments: tuple[str, ...], problem: str) -> None:
    with pytest.raises(PenstockError, match=problem):
        run("produce", topic, *arguments)
    with pytest.raises(NotFoundError, match="nowhere; `penstock topics create nowhere` makes it"):
        run("produce", "nowhere", "a")


def test_more_records_than_the_client_holds_are_written(broker: Broker, topic: str) -> None:
    count = 120_000  # librdkafka has room for 100,000.
    records = (NewRecord(topic, None, b"%d" % n, partition=0) for n in range(count))
    (written,) = broker.messages.write(topic, records)
    assert (written.count, written.last) == (count, count - 1)
    values = [each.value for each in broker.messages.read(topic)]
    assert values == [b"%d" % n for n in range(count)]


def test_what_stood_before_a_record_that_is_too_large_is_written(
    broker: Broker, topic: str
) -> None:
    records = [NewRecord(topic, None, b"x" * size, partition=0) for size in (1, 3_000_000, 2)]
    with pytest.raises(PenstockError, match=f"writing to topic {topic}: MSG_SIZE_TOO_LARGE"):
        broker.messages.write(topic, records)
    assert [each.value for each in broker.messages.read(topic)] == [b"x"]


def test_a_cluster_that_is_away_is_not_waited_for_without_end() -> None:
    writer = TopicWriter({"bootstrap.servers": f"127.0.0.1:{free_port()}"})
    with pytest.raises(DeadlineExceededError, match="ran out of time while writing to topic t"):
        writer.stream([NewRecord("t", None, b"x")], 1.0)
    writer.close()


# --------------------------------------------------------------------------------------- kcat


def kcat(kafka: str, *arguments: str, stdin: str = "") -> str:
    result = subprocess.run(
        ["kcat", "-b", kafka, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=patient(),
        check=True,
    )
    return result.stdout


@pytest.mark.parametrize(
    "format_",
    [
        r"Key:%k Partitions: %p \n",
        r'{"Key": %k , "Payload": %s, "Partition": %p,  "Offset": %o }\n',
        r"%t|%T|%K|%S|%h|%%\x41\n",
    ],
)
def test_formats_are_those_of_kcat(kafka: str, broker: Broker, topic: str, format_: str) -> None:
    records = [
        NewRecord(topic, b'["a",{"query":"query"}]', b'{"incrementing":5}', (("h", b"1"),), 0),
        NewRecord(topic, b'["b",{}]', None, (("h", None), ("i", b"")), 0),
        NewRecord(topic, None, b"x", (), 0),
    ]
    broker.messages.write(topic, records)
    theirs = kcat(kafka, "-C", "-t", topic, "-e", "-q", "-f", format_)
    assert run("consume", topic, "-f", format_) == theirs
    theirs = kcat(kafka, "-C", "-t", topic, "-e", "-q", "-Z", "-K###")
    assert run("consume", topic, "-Z", "-K###") == theirs
    # kcat would take this one for a format.
    assert run("consume", topic, "-Z", "-K%s") == theirs.replace("###", "%s")


def test_what_is_written_is_what_kcat_writes(kafka: str, broker: Broker, topic: str) -> None:
    lines = '["jdbc_src_1",{"query":"query"}]#{"incrementing":369034}\n["jdbc_src_2",{}]#\n'
    kcat(kafka, "-P", "-t", topic, "-Z", "-K#", "-p", "0", stdin=lines)
    run("produce", topic, "-Z", "-K#", "-p", "1", stdin=lines.encode())
    ours, theirs = (
        [
            (each.key, each.value, each.headers)
            for each in broker.messages.read(topic, partitions=[p])
        ]
        for p in (1, 0)
    )
    assert ours == theirs
    # The same key goes to the same partition, as with Java.
    kcat(kafka, "-P", "-t", topic, "-K#", "-X", "partitioner=murmur2_random", stdin="key#kcat\n")
    run("produce", topic, "--key", "key", "ours")
    places = {each["partition"] for each in documents(topic) if each["key"] == "key"}
    assert len(places) == 1


# ----------------------------------------------------------------------------------- registry


ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"]}],
}


def test_avro_of_others_is_read_and_others_read_ours(
    broker: Broker, registry: SchemaRegistry, topic: str, tmp_path: Path
) -> None:
    client = SchemaRegistryClient({"url": registry.url})
    place = SerializationContext(topic, MessageField.VALUE)
    serialize = AvroSerializer(client, json.dumps(ORDER))
    theirs = serialize({"id": 1, "note": "ü"}, place)
    broker.messages.write(topic, [NewRecord(topic, b"k", theirs, (), 0)])
    for form in ("auto", "avro"):
        (found,) = documents(topic, "--value-format", form, "--schema-registry", registry.url)
        assert found["value"] == {"id": 1, "note": "ü"}
    assert documents(topic)[0]["value"] != found["value"]
    # With the latest schema of the subject, and with a file that is registered.
    avro = ("--value-format", "avro", "--schema-registry", registry.url)
    run("produce", topic, '{"id": 2, "note": null}', "-p", "0", *avro)
    file = tmp_path / "key.avsc"
    file.write_text('"string"')
    run("produce", topic, '{"id": 3, "note": "x"}', "-p", "0", "--key", '"seven"', *avro,
        "--key-format", "avro", "--key-schema", str(file))  # fmt: skip
    read = AvroDeserializer(client)
    records = list(broker.messages.read(topic))
    assert [read(each.value, place) for each in records[1:]] == [
        {"id": 2, "note": None},
        {"id": 3, "note": "x"},
    ]
    assert read(records[2].key, SerializationContext(topic, MessageField.KEY)) == "seven"
    with pytest.raises(DataError, match=r"line 1: value\.id must be int64, not 'x'"):
        run("produce", topic, '{"id": "x", "note": null}', *avro)


def test_protobuf_and_json_schema_there_and_back(
    registry: SchemaRegistry, topic: str, tmp_path: Path
) -> None:
    proto, schema = tmp_path / "order.proto", tmp_path / "order.json"
    proto.write_text('syntax = "proto3"; message Order { int32 id = 1; string note = 2; }')
    schema.write_text('{"type": "object", "properties": {"id": {"type": "integer"}}}')
    where = ("--schema-registry", registry.url)
    forms = ("--key-format", "json-schema", "--value-format", "protobuf")
    schemas = ("--key-schema", str(schema), "--value-schema", str(proto))
    run("produce", topic, '{"id": 4}', "--key", '{"id": 5}', *where, *forms, *schemas)
    # Once more, with what is registered now.
    run("produce", topic, '{"note": "x"}', "--key", '{"id": 5}', *where, *forms)
    for reading in ((), forms):
        found = documents(topic, *where, *reading)
        assert [(each["key"], each["value"]) for each in found] == [
            ({"id": 5}, {"id": 4}),
            ({"id": 5}, {"note": "x"}),
        ]
    (wrong, _) = documents(topic, *where, "--value-format", "avro")
    assert wrong["value_error"] == "its schema is of type PROTOBUF, not AVRO"


def test_a_record_that_is_something_else_is_shown_with_the_reason(
    registry: SchemaRegistry, topic: str
) -> None:
    run("produce", topic, "plain", "-p", "0")
    avro = ("--value-format", "avro", "--schema-registry", registry.url)
    (found,) = documents(topic, *avro)
    assert found["value"] == {"$base64": "cGxhaW4="}
    assert found["value_error"] == "it does not begin with the id of a schema"
    assert "plain  (it does not begin with" in run("consume", topic, *avro)
    with pytest.raises(DataError, match=rf"{topic}-0, offset 0: it does not begin"):
        run("consume", topic, "-o", "raw", *avro)


# -------------------------------------------------------------------------------------- shell


def test_the_functions_for_a_shell(
    broker: Broker, unique: Unique, capsys: pytest.CaptureFixture[str]
) -> None:
    name = unique("s")
    assert shell.create_topic(name, partitions=1)
    shell.produce(name, {"id": 1}, "text", None, b"\xff", key="k", headers={"h": "1"})
    shell.show_topics(name)
    assert capsys.readouterr().out.splitlines()[1].split() == [name, "1", "1", "4"]
    shell.show_messages(name, 2)
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()[1:]] == ["k", r"\xff"]
    assert [each.value for each in shell.read_messages(name)][:2] == [b'{"id":1}', b"text"]
    (change,) = shell.reset_group(name, to_offset(3), name, execute=True)
    assert (change.old, change.new) == (None, 3)
    assert broker.groups.offsets(name) == {TopicPartition(name, 0): 3}
    shell.show_group(name)
    assert f"{name} is Empty; 1 records behind." in capsys.readouterr().out
    shell.show_groups(name)
    assert name in capsys.readouterr().out
    shell.alter_topic(name, settings={"cleanup.policy": "compact"})
    shell.show_topic(name)
    assert "cleanup.policy=compact\n" in capsys.readouterr().out
    assert shell.delete_group(name) == [name]
    assert shell.delete_topic(name) == [name]
    with pytest.raises(NotFoundError):
        shell.delete_topic(name)
