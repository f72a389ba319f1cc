"""Starts the servers, creates the pipeline, watches the records, ends everything."""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console

from penstock.demo.flow import DemoError, Feed, Flow, Receipt
from penstock.demo.pipeline import connectors, state_of, worker_properties
from penstock.demo.view import live_view
from penstock.kernel.errors import PenstockError
from penstock.machine.embedded_kafka import EmbeddedKafka
from penstock.machine.free_ports import free_port
from penstock.machine.jars import classpath
from penstock.machine.process import Child

RECORDS = 10_000
_DELIVERY_SECONDS = 120.0
_START_SECONDS = 60.0
_REFRESH_SECONDS = 0.25
_STATUS_SECONDS = 3.0


def run_demo(*, leave: bool) -> int:
    """Run until Ctrl-C or, with `leave`, until RECORDS arrived; return 0 if all were unchanged."""
    console = Console(highlight=False, soft_wrap=True)
    # For SIGINT too: a shell starts background jobs with it ignored.
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


class _Demo:
    """Starts everything of the demo in order; the stack ends it in reverse order."""

    def __init__(self, console: Console, stack: ExitStack) -> None:
        self._console = console
        self._stack = stack
        self._home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="penstock-demo-")))
        self._source, self._target = self._home / "in.txt", self._home / "out.txt"
        self._url = f"http://127.0.0.1:{free_port()}"
        self._next_look = 0.0

    def run(self, *, leave: bool) -> None:
        with self._step("Jars in the cache"):
            classpath("spark", "drivers", "broker")
        kafka, worker = self._begin()
        # Imported while both start, because it takes time too.
        from penstock.tools.client import Client

        self._client = self._stack.enter_context(Client(self._url, timeout=30))
        with self._step("Kafka up"):
            kafka.wait()
        with self._step(f"Worker up at {self._url}"):
            worker.wait_until(self._worker_answers, _START_SECONDS, "its REST API answered")
        with self._step("Pipeline created through the REST API"):
            self._create_pipeline()
        feed = self._stack.enter_context(Feed(self._source, RECORDS if leave else None))
        self._watch(worker, feed, leave=leave)

    @contextmanager
    def _step(self, text: str) -> Iterator[None]:
        begun = time.monotonic()
        yield
        self._console.print(f"{text} ({time.monotonic() - begun:.1f} s)", markup=False)

    def _begin(self) -> tuple[EmbeddedKafka, Child]:
        """Start both processes at the same time: the worker waits for its broker."""
        kafka = EmbeddedKafka(self._home / "kafka")
        kafka.begin()
        # Killed, because its data is deleted anyway.
        self._stack.callback(kafka.kill)
        properties = self._home / "worker.properties"
        properties.write_text(worker_properties(kafka.bootstrap_servers, self._url))
        command = [sys.executable, "-m", "penstock", "distributed", str(properties)]
        log = self._home / "worker.log"
        return kafka, self._stack.enter_context(Child("the worker", command, log=log))

    def _worker_answers(self) -> bool:
        try:
            self._client.connectors()
        except PenstockError:
            return False
        return True

    def _create_pipeline(self) -> None:
        self._source.touch()
        for name, config in connectors(self._source, self._target).items():
            self._client.create(name, config)

    def _watch(self, worker: Child, feed: Feed, *, leave: bool) -> None:
        receipt = Receipt(self._target)
        end = time.monotonic() + _DELIVERY_SECONDS
        caption = f"{self._url}   {self._home}   Ctrl-C ends it"
        with live_view(self._console, caption) as show:
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
        if late or self._failed():
            raise DemoError(
                f"only {receipt.received:,} of {RECORDS:,} records arrived before a task failed or "
                f"{_DELIVERY_SECONDS:.0f} s had passed; {self._states()}\n{worker.tail()}"
            )

    def _failed(self) -> bool:
        if time.monotonic() < self._next_look:
            return False
        self._next_look = time.monotonic() + _STATUS_SECONDS
        return "FAILED" in self._states()

    def _states(self) -> str:
        try:
            found = self._client.statuses()
        except PenstockError as error:
            return f"the worker does not answer ({error})"
        return "; ".join(state_of(name, status.to_json()) for name, status in found.items())
