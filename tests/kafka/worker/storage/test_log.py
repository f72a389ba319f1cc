from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import confluent_kafka
import pytest

from penstock.kafka.clients import Admin, LogRecord, TopicSpec
from penstock.kafka.compacted_log import CompactedLog, LogEvents
from penstock.kernel.clock import Deadline
from penstock.kernel.errors import DeadlineExceededError, PenstockError
from penstock.machine.embedded_kafka import EmbeddedKafka
from penstock.testing.waiting import eventually, patient, soon
from tests.shared.sizes import Size

Unique = Callable[[str], str]


class Book:
    """A log and what it read."""

    def __init__(self, kafka: str, topic: str, partitions: int = 3) -> None:
        self.properties = {"bootstrap.servers": kafka}
        self.admin = Admin(self.properties)
        spec = TopicSpec(topic, partitions, 1, {"cleanup.policy": "compact"})
        self.admin.create_topic(spec, soon())
        self.records: list[LogRecord] = []
        self.reads = 0
        self.log = CompactedLog(
            topic, self.properties, self.admin, LogEvents(self.records.append, self.count)
        )

    def count(self) -> None:
        self.reads += 1

    def values(self) -> dict[bytes | None, bytes | None]:
        return {record.key: record.value for record in self.records}

    def close(self) -> None:
        self.log.close()
        self.admin.close()


@pytest.fixture
def open_book(kafka: str) -> Iterator[Callable[..., Book]]:
    books: list[Book] = []

    def make(topic: str, **options: int) -> Book:
        books.append(Book(kafka, topic, **options))
        return books[-1]

    yield make
    for book in books:
        book.close()


def test_what_is_appended_is_read_by_all(unique: Unique, open_book: Callable[..., Book]) -> None:
    topic = unique("log")
    first = open_book(topic)
    first.log.start(soon())
    assert first.records == []
    written = first.log.append([(f"k{n}".encode(), b"1") for n in range(50)], soon())
    first.log.wait_for(written, soon())
    assert len(first.records) == 50
    assert first.reads > 0
    second = open_book(topic)
    second.log.start(soon())
    assert second.values() == first.values()
    second.log.append([(b"k0", b"2"), (b"k1", None)], soon())
    first.log.read_to_end(soon())
    assert first.values()[b"k0"] == b"2"
    assert first.values()[b"k1"] is None
    assert all(record.timestamp > 0 for record in first.records)


def test_keys_go_where_java_s_producer_puts_them(
    unique: Unique, open_book: Callable[..., Book]
) -> None:
    book = open_book(unique("log"), partitions=25)
    book.log.start(soon())
    key = b'["file-src",{"filename":"/data/in.txt"}]'
    written = book.log.append([(key, b"{}")], soon())
    assert set(written) == {confluent_kafka.murmur2(key, 25)}


def test_a_new_record_comes_at_once(unique: Unique, open_book: Callable[..., Book]) -> None:
    book = open_book(unique("log"))
    book.log.start(soon())
    took = []
    for n in range(5):
        start = time.monotonic()
        book.log.wait_for(book.log.append([(b"k", str(n).encode())], soon()), soon())
        took.append(time.monotonic() - start)
    assert sorted(took)[2] < patient(0.25)


def test_the_end_is_found_behind_the_markers_of_transactions(
    kafka: str, unique: Unique, open_book: Callable[..., Book]
) -> None:
    topic = unique("log")
    book = open_book(topic, partitions=1)
    book.log.start(soon())
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": kafka, "transactional.id": unique("txn")}
    )
    producer.init_transactions(30)
    for value in (b"1", b"2"):
        producer.begin_transaction()
        producer.produce(topic, value, b"k")
        producer.commit_transaction(30)
    book.log.read_to_end(soon())
    assert [record.value for record in book.records] == [b"1", b"2"]
    late = open_book(topic, partitions=1)
    late.log.start(soon())
    assert late.records[-1].offset == 2


def test_a_record_nobody_understands_stops_nothing(
    kafka: str, unique: Unique, open_book: Callable[..., Book]
) -> None:
    book = open_book(unique("log"), partitions=1)
    seen: list[bytes | None] = []

    def picky(record: LogRecord) -> None:
        if record.value == b"bad":
            raise ValueError("bad")
        seen.append(record.value)

    log = CompactedLog(book.log.topic, book.properties, book.admin, LogEvents(picky))
    log.start(soon())
    log.wait_for(log.append([(b"a", b"1"), (b"b", b"bad"), (b"c", b"2")], soon()), soon())
    assert seen == [b"1", b"2"]
    log.close()


def test_waiting_costs_next_to_nothing(unique: Unique, open_book: Callable[..., Book]) -> None:
    others = _threads()  # of this process, in which other tests have left clients behind
    for _ in range(3):
        open_book(unique("log")).log.start(soon())
    own = _threads() - others
    assert own
    # The quietest time counts: what start left to do is not waiting, and asking again and again
    # is never quiet.
    assert min(_busy(own, seconds=2) for _ in range(4)) < 0.03


def _threads() -> set[Path]:
    return set(Path("/proc/self/task").iterdir())


def _busy(threads: set[Path], seconds: float) -> float:
    """How much of a core these threads take."""
    before, start = _cpu_seconds(threads), time.monotonic()
    time.sleep(seconds)
    return (_cpu_seconds(threads) - before) / (time.monotonic() - start)


def _cpu_seconds(threads: set[Path]) -> float:
    """Threads that have ended meanwhile count no more: they use nothing."""
    seconds = 0.0
    for each in threads:
        with suppress(FileNotFoundError, ProcessLookupError):
            seconds += int((each / "schedstat").read_text().split()[0]) / 1e9
    return seconds


def test_a_log_whose_broker_goes_away_and_comes_back(tmp_path: Path, size: Size) -> None:
    with EmbeddedKafka(tmp_path / "kafka") as node:
        book = Book(node.bootstrap_servers, "log")
        book.log.start(soon())
        book.log.wait_for(book.log.append([(b"k", b"before")], soon()), soon())
        node.kill()
        with pytest.raises(DeadlineExceededError, match="log"):
            book.log.append([(b"lost", b"x")], Deadline.after(3))
        with pytest.raises(PenstockError):
            book.log.read_to_end(Deadline.after(2))
        time.sleep(size.client_away_seconds)  # in full: clients back off as far as they ever do
        node.start()
        written = book.log.append([(b"k", b"after")], soon())
        book.log.wait_for(written, soon())
        assert book.values() == {b"k": b"after"}
        book.log.read_to_end(soon())
        # Written by someone else, and read without anybody asking.
        other = Book(node.bootstrap_servers, "log")
        other.log.start(soon())
        other.log.append([(b"k", b"other")], soon())
        eventually(book.values, lambda now: now == {b"k": b"other"})
        other.close()
        book.close()
