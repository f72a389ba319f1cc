"""`penstock demo`: a growing file, a topic and another file, with real servers and a live view."""

from __future__ import annotations

import contextlib
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
from rich.console import Console
from rich.live import Live
from rich.table import Table

from penstock.errors import PenstockError
from penstock.jars import classpath
from penstock.kafka.embedded import EmbeddedKafka
from penstock.ports import free_port
from penstock.process import Child

RECORDS = 10_000
_DELIVERY_SECONDS = 120.0
_START_SECONDS = 60.0
_LINES_PER_SECOND = 1_000
_REFRESH_SECONDS = 0.25
_PLAIN_EVERY_SECONDS = 2.0
_RATE_WINDOW_SECONDS = 5.0

_STRINGS = "org.apache.kafka.connect.storage.StringConverter"


class DemoError(PenstockError):
    """The demo did not show what it promises; the text says why."""


def run_demo(*, leave: bool) -> int:
    """Run until Ctrl-C or, with `leave`, until RECORDS have arrived; 0 if all arrived as sent."""
    console = Console(highlight=False, soft_wrap=True)
    # Named for SIGINT too: a shell starts background jobs with it ignored.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.default_int_handler)
    try:
        with ExitStack() as stack:
            _Demo(console, stack).run(leave=leave)
    except KeyboardInterrupt:
        console.print("Stopped.")
        return 130 if leave else 0
    except PenstockError as error:
        console.print(f"The demo failed: {error}", style="red", markup=False)
        return 1
    return 0


def line(number: int) -> str:
    """The text of one record; a function of its number, so that any change is seen."""
    return f"{number:08d} order {number * 7919 % 100_003:06d} für {number % 97} 🛢️"


@dataclass(frozen=True, slots=True)
class Flow:
    """How much has passed at one moment."""

    records_in: int
    records_out: int
    rate: float

    @property
    def lag(self) -> int:
        return self.records_in - self.records_out


class Feed:
    """Lets the source file grow at a steady pace, on a thread of its own."""

    def __init__(self, path: Path, limit: int | None) -> None:
        self.written = 0
        self._path = path
        self._limit = limit
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)

    def __enter__(self) -> Feed:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(5)

    def _run(self) -> None:
        portion = _LINES_PER_SECOND // 10
        with self._path.open("a", encoding="utf-8") as file:
            while not self._stop.wait(0.1) and self.written != self._limit:
                numbers = range(self.written, self.written + portion)
                file.write("".join(f"{line(number)}\n" for number in numbers))
                file.flush()
                self.written = numbers.stop


class Receipt:
    """Reads what the sink wrote and compares every line with what was sent."""

    def __init__(self, path: Path) -> None:
        self.received = 0
        self._path = path
        self._position = 0
        self._history: list[tuple[float, int]] = [(time.monotonic(), 0)]

    def read(self) -> None:
        """Compare the lines that came since the last call.

        Raises:
            DemoError: a line is changed, missing, doubled or out of order.
        """
        for text in self._new_lines():
            expected = line(self.received)
            if text != expected:
                raise DemoError(
                    f"record {self.received} should be {expected!r} but is {text!r} in {self._path}"
                )
            self.received += 1

    def rate(self) -> float:
        """Records per second over the last few seconds."""
        now = time.monotonic()
        self._history.append((now, self.received))
        while now - self._history[0][0] > _RATE_WINDOW_SECONDS and len(self._history) > 2:
            self._history.pop(0)
        (begun, before) = self._history[0]
        return (self.received - before) / max(now - begun, 0.001)

    def _new_lines(self) -> Iterator[str]:
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._position)
            for raw in file:
                if not raw.endswith(b"\n"):
                    return  # the sink is still writing this one
                self._position += len(raw)
                yield raw[:-1].decode()


class _Demo:
    """Everything the demo starts, in order, on the stack that ends it in reverse."""

    def __init__(self, console: Console, stack: ExitStack) -> None:
        self._console = console
        self._stack = stack
        self._home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="penstock-demo-")))
        self._source, self._target = self._home / "in.txt", self._home / "out.txt"
        self._url = f"http://127.0.0.1:{free_port()}"

    def run(self, *, leave: bool) -> None:
        with self._step("Jars in the cache"):
            classpath("spark", "broker")
        with self._step("Kafka up"):
            kafka = self._stack.enter_context(EmbeddedKafka(self._home / "kafka"))
        with self._step(f"Worker up at {self._url}"):
            worker = self._start_worker(kafka)
        with self._step("Pipeline created through the REST API"):
            self._create_pipeline()
        feed = self._stack.enter_context(Feed(self._source, RECORDS if leave else None))
        self._watch(worker, feed, leave=leave)

    @contextlib.contextmanager
    def _step(self, text: str) -> Iterator[None]:
        begun = time.monotonic()
        yield
        self._console.print(f"{text} ({time.monotonic() - begun:.1f} s)", markup=False)

    def _start_worker(self, kafka: EmbeddedKafka) -> Child:
        properties = self._home / "worker.properties"
        properties.write_text(_worker_properties(kafka.bootstrap_servers, self._url))
        command = [sys.executable, "-m", "penstock", "distributed", str(properties)]
        log = self._home / "worker.log"
        worker = self._stack.enter_context(Child("the worker", command, log=log))
        worker.wait_until(self._worker_answers, _START_SECONDS, "its REST API answered")
        return worker

    def _worker_answers(self) -> bool:
        try:
            return httpx.get(f"{self._url}/connectors", timeout=5).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False

    def _create_pipeline(self) -> None:
        self._source.touch()
        for name, config in _connectors(self._source, self._target).items():
            body = {"name": name, "config": config}
            answer = httpx.post(f"{self._url}/connectors", json=body, timeout=30)
            if answer.status_code != httpx.codes.CREATED:
                raise DemoError(f"creating {name} gave {answer.status_code}: {answer.text}")

    def _watch(self, worker: Child, feed: Feed, *, leave: bool) -> None:
        receipt = Receipt(self._target)
        end = time.monotonic() + _DELIVERY_SECONDS
        with self._view() as show:
            while True:
                receipt.read()
                show(Flow(feed.written, receipt.received, receipt.rate()))
                if leave and receipt.received == RECORDS:
                    break
                self._check(worker, receipt, late=leave and time.monotonic() > end)
                time.sleep(_REFRESH_SECONDS)
        text = f"{RECORDS:,} records arrived, unchanged and in order."
        self._console.print(text, style="green")

    def _check(self, worker: Child, receipt: Receipt, *, late: bool) -> None:
        if not worker.running:
            raise DemoError(f"the worker ended with status {worker.exit_code}:\n{worker.tail()}")
        if late:
            raise DemoError(
                f"only {receipt.received:,} of {RECORDS:,} records arrived within "
                f"{_DELIVERY_SECONDS:.0f} s; {self._states()}\n{worker.tail()}"
            )

    def _states(self) -> str:
        try:
            answer = httpx.get(f"{self._url}/connectors?expand=status", timeout=5).json()
        except (httpx.HTTPError, ValueError) as error:
            return f"the worker does not answer ({error})"
        return "; ".join(_state(name, entry["status"]) for name, entry in answer.items())

    @contextlib.contextmanager
    def _view(self) -> Iterator[Callable[[Flow], None]]:
        if not self._console.is_terminal:
            yield _PlainView(self._console)
            return
        with Live(console=self._console, refresh_per_second=8, transient=False) as live:
            yield lambda flow: live.update(_table(flow, self._url, self._home))


class _PlainView:
    """One line every few seconds, where there is no terminal to draw on."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._next = 0.0

    def __call__(self, flow: Flow) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _PLAIN_EVERY_SECONDS
        self._console.print(
            f"in {flow.records_in:>8,}   out {flow.records_out:>8,}   "
            f"lag {flow.lag:>7,}   {flow.rate:>7,.0f} records/s"
        )


def _table(flow: Flow, url: str, home: Path) -> Table:
    table = Table(title="in.txt → demo-lines → out.txt", caption=f"{url}   {home}   Ctrl-C ends it")
    for heading in ("records in", "records out", "lag", "records/s"):
        table.add_column(heading, justify="right", min_width=12)
    cells = (flow.records_in, flow.records_out, flow.lag, round(flow.rate))
    table.add_row(*(f"{value:,}" for value in cells))
    return table


def _state(name: str, status: dict[str, object]) -> str:
    connector, tasks = status.get("connector"), status.get("tasks")
    parts = [connector, *(tasks if isinstance(tasks, list) else [])]
    states = [str(part.get("state")) for part in parts if isinstance(part, dict)]
    traces = [str(part["trace"]) for part in parts if isinstance(part, dict) and "trace" in part]
    return f"{name} is {'/'.join(states)} {' '.join(traces)}".strip()


def _connectors(source: Path, target: Path) -> dict[str, dict[str, str]]:
    """The pipeline. RegexRouter turns the source's topic `lines` into `demo-lines`."""
    strings = {"key.converter": _STRINGS, "value.converter": _STRINGS}
    return {
        "demo-source": {
            "connector.class": "FileStreamSource",
            "tasks.max": "1",
            "file": str(source),
            "topic": "lines",
            "transforms": "route",
            "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
            "transforms.route.regex": "(.*)",
            "transforms.route.replacement": "demo-$1",
            **strings,
        },
        "demo-sink": {
            "connector.class": "FileStreamSink",
            "tasks.max": "1",
            "file": str(target),
            "topics": "demo-lines",
            # The topic appears with the first record; look for it often, not every five minutes.
            "consumer.override.metadata.max.age.ms": "1000",
            **strings,
        },
    }


def _worker_properties(bootstrap_servers: str, url: str) -> str:
    storage = "".join(
        f"{kind}.storage.topic=demo-{kind}\n{kind}.storage.replication.factor=1\n"
        for kind in ("config", "offset", "status")
    )
    return (
        f"bootstrap.servers={bootstrap_servers}\ngroup.id=demo\nlisteners={url}\n{storage}"
        "key.converter=org.apache.kafka.connect.json.JsonConverter\n"
        "value.converter=org.apache.kafka.connect.json.JsonConverter\n"
        "offset.flush.interval.ms=1000\n"
    )
