"""The same requests to the real Kafka Connect and to Penstock: the answers must be the same."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from penstock.testing.connect import ConnectProcess, distributed_properties
from penstock.testing.oracle import JavaConnect, quick_java
from penstock.testing.waiting import eventually, patient
from penstock.testing.worker import PenstockWorker
from tests.cluster.rest_cases import Case, Until, cases
from tests.cluster.rest_differences import DIFFERENCES, Answer, page

pytestmark = pytest.mark.fresh

CASES = list(cases())
#: Room for what a start and the first requests leave behind. log4j holds loggers by weak references
#: only: one that a request has just made is gone, with its level, if garbage is collected then.
LATE_COLLECTION = ("-XX:+UseSerialGC", "-Xmn1200m", "-XX:MetaspaceSize=256m")
#: Java closes a connection after some of its errors, at times while the next request comes.
_MEMBERS = "stop the members of the group first"
_NO_REUSE = httpx.Limits(max_keepalive_connections=0)
DOCUMENT = Path(__file__).parents[2] / "docs" / "rest-differences.md"


@dataclass
class Side:
    """One of the two workers, and what it calls things."""

    name: str
    worker: ConnectProcess
    folder: Path
    answers: list[Answer] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.http = httpx.Client(base_url=self.worker.url, timeout=patient(), limits=_NO_REUSE)
        self.own = {"{topic}": self.name, "{out}": str(self.folder / "out.txt")}
        self.own["{in}"] = str(self.folder / "in.txt")

    def play(self, case: Case) -> None:
        if case.until is not None:
            self.wait(case.until)
        body = None if case.body is None else self.filled(case.body).encode()
        request = self.http.build_request(
            case.method, self.filled(case.path), content=body, headers=dict(case.headers)
        )
        if "content-type" not in case.headers:
            request.headers.pop("content-type", None)
        self.answers.append(self.neutral(self._sent(request)))

    def wait(self, until: Until) -> None:
        path = f"/connectors/{until.connector}"
        wanted = None if until.state is None else (until.state, list(until.task_states))
        self.eventually(lambda: self.states(path), wanted)
        if until.topics is not None:
            self.eventually(lambda: self.size(f"{path}/topics", "topics"), until.topics)
        if until.offsets is not None:
            self.eventually(lambda: self.size(f"{path}/offsets", "offsets"), until.offsets)

    def eventually(self, ask: Callable[[], object], wanted: object) -> None:
        eventually(ask, lambda found: found == wanted)

    def states(self, path: str) -> tuple[str, list[str]] | None:
        answer = self.http.get(f"{path}/status")
        if answer.status_code != httpx.codes.OK:
            return None
        status = answer.json()
        return status["connector"]["state"], [task["state"] for task in status["tasks"]]

    def size(self, path: str, what: str) -> int:
        found = self.http.get(path).json()
        inner = next(iter(found.values())) if what == "topics" else found
        return len(inner[what])

    def filled(self, text: str) -> str:
        for mark, own in self.own.items():
            text = text.replace(mark, own)
        return text

    def _sent(self, request: httpx.Request) -> httpx.Response:
        """The answer once a stopped sink's member has left its group, which takes a moment."""
        return eventually(
            lambda: self.http.send(request), lambda got: _MEMBERS not in got.text, seconds=30
        )

    def neutral(self, response: httpx.Response) -> Answer:
        address = self.worker.url.removeprefix("http://")

        def replaced(text: str) -> str:
            for mark, own in {**self.own, "{address}": address}.items():
                text = text.replace(own, mark)
            return text

        headers = {name: replaced(text) for name, text in response.headers.items()}
        return Answer(response.status_code, headers, _body(replaced(response.text)))


def _body(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@pytest.fixture(scope="module")
def sides(
    kafka: str, lone_worker: PenstockWorker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Side, Side]]:
    """Both workers, after all requests were sent to each."""
    found = []
    folder = tmp_path_factory.mktemp("rest")
    run = uuid.uuid4().hex[:8]  # a broker may be shared with other runs
    java = JavaConnect(
        folder / "java",
        distributed_properties(kafka, f"java-{run}") | {"scheduled.rebalance.max.delay.ms": "0"},
        heap_mb=1536,
        java_options=(*quick_java(), *LATE_COLLECTION),
    )
    with java:
        for name, worker in ((f"lines-java-{run}", java), (f"lines-ours-{run}", lone_worker)):
            side = Side(name, worker, worker.directory)
            (side.folder / "in.txt").write_text("one\ntwo\n")
            for case in CASES:
                side.play(case)
            found.append(side)
        yield found[0], found[1]


def test_there_are_enough_requests() -> None:
    assert len(CASES) >= 150


@pytest.mark.parametrize("number", range(len(CASES)), ids=[str(case)[:100] for case in CASES])
def test_the_answer_is_the_same(sides: tuple[Side, Side], number: int) -> None:
    case = CASES[number]
    theirs, ours = (side.answers[number] for side in sides)
    for difference in DIFFERENCES:
        theirs, ours = difference.apply(case, theirs, ours)
    assert (ours.status, ours.body, ours.headers) == (theirs.status, theirs.body, theirs.headers)


def test_the_document_has_the_table() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == page()
