"""The demo's configurations, and a connector's status as a sentence."""

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
            # The first record creates the topic; check for it often, not every five minutes.
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
        # Both start at the same time: try often to connect to the broker.
        "admin.reconnect.backoff.max.ms=50\n"
    )


def state_of(name: str, status: dict[str, object]) -> str:
    connector, tasks = status.get("connector"), status.get("tasks")
    parts = [connector, *(tasks if isinstance(tasks, list) else [])]
    states = [str(part.get("state")) for part in parts if isinstance(part, dict)]
    traces = [str(part["trace"]) for part in parts if isinstance(part, dict) and "trace" in part]
    return f"{name} is {'/'.join(states)} {' '.join(traces)}".strip()
