"""The configurations the demo runs with, and how a connector's status reads in a sentence."""

from __future__ import annotations

from pathlib import Path

_STRINGS = "org.apache.kafka.connect.storage.StringConverter"


def connectors(source: Path, target: Path) -> dict[str, dict[str, str]]:
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


def worker_properties(bootstrap_servers: str, url: str) -> str:
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


def state_ofs(self) -> str:
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


def state_of(name: str, status: dict[str, object]) -> str:
    connector, tasks = status.get("connector"), status.get("tasks")
    parts = [connector, *(tasks if isinstance(tasks, list) else [])]
    states = [str(part.get("state")) for part in parts if isinstance(part, dict)]
    traces = [str(part["trace"]) for part in parts if isinstance(part, dict) and "trace" in part]
    return f"{name} is {'/'.join(states)} {' '.join(traces)}".strip()
