"""Requests for the comparison of Penstock's REST API with the real one, in the order they are sent.

`{…}` in paths and bodies is filled in for each side: `{in}` and `{out}` are files, `{topic}` is
the side's own topic.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

NO_TYPE = {"content-type": ""}


@dataclass(frozen=True)
class Until:
    """What to wait for before the request, because both sides do it in the background.

    The state of the connector (None: it has no status) and of all its tasks; the number of its
    topics, of its offsets.
    """

    connector: str
    state: str | None
    task_states: tuple[str, ...] = ()
    topics: int | None = None
    offsets: int | None = None


@dataclass(frozen=True)
class Case:
    method: str
    path: str
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    until: Until | None = None

    def __str__(self) -> str:
        extra = " ".join(f"{name}:{value}" for name, value in self.headers.items())
        return f"{self.method} {self.path} {(self.body or '')[:90]} {extra}".strip()


def case(
    method: str,
    path: str,
    body: Any = None,
    *,
    raw: str | None = None,
    headers: Mapping[str, str] | None = None,
    until: Until | None = None,
) -> Case:
    text = raw if raw is not None else None if body is None else json.dumps(body)
    given = dict(headers or {})
    if text is not None and "content-type" not in given:
        given["content-type"] = "application/json"
    return Case(method, path, text, {k: v for k, v in given.items() if v}, until)


SOURCE = {
    "connector.class": "FileStreamSource",
    "tasks.max": "1",
    "file": "{in}",
    "topic": "{topic}",
}
SINK = {
    "connector.class": "FileStreamSink",
    "tasks.max": "1",
    "file": "{out}",
    "topics": "{topic}",
}
PATHS = (
    "/",
    "/health",
    "/connectors",
    "/connectors/x",
    "/connectors/x/config",
    "/connectors/x/status",
    "/connectors/x/restart",
    "/connectors/x/pause",
    "/connectors/x/resume",
    "/connectors/x/stop",
    "/connectors/x/tasks",
    "/connectors/x/tasks/0/status",
    "/connectors/x/tasks/0/restart",
    "/connectors/x/topics",
    "/connectors/x/topics/reset",
    "/connectors/x/offsets",
    "/connectors/x/fence",
    "/connector-plugins",
    "/connector-plugins/x/config",
    "/connector-plugins/x/config/validate",
    "/admin/loggers",
    "/admin/loggers/x",
)
WRONG_METHODS = {
    "/": ("POST", "PUT", "DELETE"),
    "/health": ("POST",),
    "/connectors": ("PUT", "PATCH", "DELETE"),
    "/connectors/x": ("POST", "PUT", "PATCH"),
    "/connectors/x/config": ("POST", "DELETE"),
    "/connectors/x/status": ("PUT",),
    "/connectors/x/restart": ("GET", "PUT", "HEAD"),
    "/connectors/x/pause": ("GET", "POST"),
    "/connectors/x/offsets": ("PUT", "POST"),
    "/connector-plugins": ("POST",),
    "/connector-plugins/x/config/validate": ("GET", "POST"),
    "/admin/loggers": ("PUT",),
    "/admin/loggers/x": ("POST",),
}
BAD_BODIES = (
    *("", "{", "[]", '"x"', "5", "true", "null", "abc", "{}", '{"name":"a"}'),
    *('{"name":"a",}', '{"name":NaN}', "{name:1}", "{'name':1}", '{"name":"a" "b":1}'),
    *('{"name":"a","config":[]}', '{"name":"a","config":"x"}', '{"name":["a"]}'),
    *('{"name":"a","config":{"a":{"b":1}}}', '{"name":"a","config":{"a":["b"]}}'),
    *('{"name":"a","config":{},"more":1}', '{"name":"a","initial_state":"ASLEEP"}'),
    *('{"name":"a","config":{}}', '{"config":{}}', '{"name":"a","config":{"a":01}}'),
    *('{"name":5,"config":null}', '{"name":"dup","name":"dup2","config":{}}', "// c"),
    *('{"name":"a","config":{"tasks.max":"x"}}', "{} trailing"),
)
BAD_SOURCE_OFFSETS: tuple[Any, ...] = (
    {},
    {"offsets": []},
    {"offsets": None},
    {"more": 1},
    {"offsets": {"a": 1}},
    {"offsets": [{"partition": "x"}]},
    {"offsets": [{"partition": {"filename": "x"}, "offset": {"position": 1}, "more": 1}]},
    {"offsets": [{"partition": {}, "offset": {}}]},
    {"offsets": [{"partition": None, "offset": {"position": 1}}]},
    {"offsets": [{"partition": {"filename": "x"}, "offset": {"position": "1"}}]},
    {"offsets": [{"partition": {"filename": "x"}, "offset": {"position": -1}}]},
    {"offsets": [{"partition": {"filename": "x"}, "offset": {}}]},
    {"offsets": [{"partition": {"file": "x"}, "offset": {"position": 1}}]},
)
PART = {"kafka_topic": "{topic}", "kafka_partition": 0}
SINK_OFFSETS: tuple[Any, ...] = (
    {"partition": PART, "offset": {"kafka_offset": 1}},
    {"partition": {**PART, "kafka_partition": "0"}, "offset": {"kafka_offset": "1"}},
    {"partition": {}, "offset": {"kafka_offset": 1}},
    {"partition": None, "offset": {"kafka_offset": 1}},
    {"partition": {"kafka_topic": "{topic}"}, "offset": {"kafka_offset": 1}},
    {"partition": {"kafka_partition": 0}, "offset": {"kafka_offset": 1}},
    {"partition": {**PART, "kafka_partition": "x"}, "offset": {"kafka_offset": 1}},
    {"partition": {**PART, "kafka_partition": None}, "offset": {"kafka_offset": 1}},
    {"partition": {**PART, "kafka_topic": None}, "offset": {"kafka_offset": 1}},
    {"partition": PART, "offset": {}},
    {"partition": PART, "offset": {"kafka_offset": None}},
    {"partition": PART, "offset": {"kafka_offset": "x"}},
    {"partition": PART, "offset": {"kafka_offset": 1.5}},
    {"partition": PART, "offset": {"kafka_offset": -1}},
    {"partition": PART, "offset": {"kafka_offset": 2**63}},
    {"partition": {**PART, "kafka_partition": 2**31}, "offset": {"kafka_offset": 1}},
    {"partition": PART, "offset": {"offset": 1}},
    {"partition": PART, "offset": None},
    {"partition": {**PART, "more": 1}, "offset": {"kafka_offset": 1}},
)
VALID = {**SOURCE, "name": "v"}
VALIDATED: tuple[tuple[str, Any], ...] = (
    ("FileStreamSource", {}),
    ("FileStreamSource", {"connector.class": "FileStreamSink"}),
    ("FileStreamSource", {"connector.class": ""}),
    ("FileStreamSource", {"connector.class": None}),
    ("Nope", {"connector.class": "Nope"}),
    ("FileStream", {"connector.class": "FileStreamSource"}),
    ("FileStreamSource", VALID),
    ("FileStreamSourceConnector", VALID),
    ("org.apache.kafka.connect.file.FileStreamSourceConnector", VALID),
    (
        "org.apache.kafka.connect.file.FileStreamSourceConnector",
        {**VALID, "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector"},
    ),
    ("FileStreamSource", {"connector.class": "FileStreamSource"}),
    ("FileStreamSource", {**VALID, "tasks.max": "x"}),
    ("FileStreamSource", {**VALID, "tasks.max": "0", "topic": ""}),
    ("FileStreamSource", {**VALID, "batch.size": "many"}),
    ("FileStreamSource", {**VALID, "name": "a\tb"}),
    ("FileStreamSource", {**VALID, "key.converter": "Nope"}),
    ("FileStreamSource", {**VALID, "errors.tolerance": "maybe"}),
    ("FileStreamSource", {**VALID, "config.action.reload": "perhaps"}),
    ("FileStreamSource", {**VALID, "errors.retry.timeout": "x", "errors.log.enable": "x"}),
    ("FileStreamSource", {**VALID, "topic.creation.groups": "g"}),
    ("FileStreamSource", {**VALID, "exactly.once.support": "always"}),
    ("FileStreamSource", {**VALID, "unknown": "kept", "nothing": None}),
    ("FileStreamSource", {**VALID, "predicates": "p", "predicates.p.type": "Nope"}),
    ("FileStreamSource", {**VALID, "transforms": "a", "transforms.a.type": "Nope"}),
    ("FileStreamSink", {**SINK, "name": "v"}),
    ("FileStreamSink", {**SINK, "name": "v", "topics.regex": "a.*"}),
    ("FileStreamSink", {"connector.class": "FileStreamSink", "name": "v"}),
    ("FileStreamSink", {**SINK, "name": "v", "topics.regex": "(", "topics": ""}),
    ("FileStreamSink", {**SINK, "name": "v", "errors.deadletterqueue.topic.name": "{topic}"}),
)
RUNNING = ("RUNNING",)


def cases() -> Iterator[Case]:
    # First, before Java collects garbage: see the options of its worker.
    yield from loggers()
    yield from protocol()
    yield from bad_creates()
    yield from unknown_connectors()
    yield from plugins()
    yield from source()
    yield from changes()
    yield from restarts()
    yield from states()
    yield from initial_states()
    yield from sink()
    yield from names()


def protocol() -> Iterator[Case]:
    yield case("GET", "/")
    yield case("HEAD", "/")
    yield case("GET", "/health")
    for path in ("/connectors", "/connectors/", "/connectors?expand=status", "/connectors?expand="):
        yield case("GET", path)
    yield case("HEAD", "/connectors")
    yield case("HEAD", "/connectors/zz")
    for path in ("/nope", "/nope/", "/connectors/x/nope", "/connectors/x/tasks-config", "/admin"):
        yield case("GET", path)
    for path in PATHS:
        yield case("OPTIONS", path)
    yield case("OPTIONS", "/nope")
    for path, methods in WRONG_METHODS.items():
        for method in methods:
            yield case(method, path)
    for kind in ("text/html", "application/xml", "garbage", "application/*", "*/*"):
        yield case("GET", "/connectors", headers={"accept": kind})
    yield case("GET", "/connectors", headers={"accept": "text/html;q=0.9,application/json;q=0.5"})
    yield case("GET", "/nope", headers={"accept": "text/html"})
    yield case("GET", "/connectors", headers={"content-type": "text/plain"})
    for kind in ("text/plain", "*/*", "application/x+json", "APPLICATION/JSON", "nonsense"):
        yield case("POST", "/connectors", {"name": "a"}, headers={"content-type": kind})
    yield case("POST", "/connectors", {"name": "a"}, headers=NO_TYPE)
    utf8 = {"content-type": "application/json; charset=utf-8"}
    yield case("POST", "/connectors", {"name": "a"}, headers=utf8)
    for path in ("/connectors/a%2Fb", "/connectors//status", "/connectors/%2E%2E"):
        yield case("GET", path)
    for path in ("/connectors/a%5Cb", "/connectors/a;b=c", "/connectors/a%3Bb", "/connectors/a+b"):
        yield case("GET", path)
    yield from odd_paths()


def odd_paths() -> Iterator[Case]:
    for path in ("/connectors/%E9", "/connectors/%C3%A4", "/admin/loggers/%C3"):
        yield case("GET", path)


def bad_creates() -> Iterator[Case]:
    for body in BAD_BODIES:
        yield case("POST", "/connectors", raw=body)
    for body in ("", "null", "[]", "{", '{"a":{"b":1}}', "{}", '{"connector.class":null}'):
        yield case("PUT", "/connectors/x/config", raw=body)
    yield case("PUT", "/connectors/x/config", {**SOURCE, "name": "y"})
    yield case("POST", "/connectors", {"name": "a", "config": {**SOURCE, "name": "b"}})
    for name in ("", " ", "a\tb", None):
        yield case("POST", "/connectors", {"name": name, "config": SOURCE})
    for extra in (
        {"connector.class": "Nope"},
        {"tasks.max": "x"},
        {"tasks.max": 0},
        {"more": None},
    ):
        yield case("POST", "/connectors", {"name": "a", "config": {**SOURCE, **extra}})
    yield case("POST", "/connectors", {"name": "a", "config": {**SINK, "topics.regex": "x"}})
    yield case("POST", "/connectors", {"name": "a", "config": {**SOURCE, "header.converter": "X"}})


def unknown_connectors() -> Iterator[Case]:
    for path in ("", "/config", "/status", "/tasks", "/tasks/0/status", "/topics", "/offsets"):
        yield case("GET", f"/connectors/nope{path}")
    for task in ("x", "-1", "99999999999"):
        yield case("GET", f"/connectors/nope/tasks/{task}/status")
    for verb in ("pause", "resume", "stop", "topics/reset", "fence"):
        yield case("PUT", f"/connectors/nope/{verb}")
    for verb in ("restart", "restart?includeTasks=true", "tasks/0/restart", "tasks/x/restart"):
        yield case("POST", f"/connectors/nope/{verb}")
    yield case("POST", "/connectors/nope/tasks", [])
    yield case("DELETE", "/connectors/nope")
    yield case("DELETE", "/connectors/nope/offsets")
    yield case("PATCH", "/connectors/nope/config", {"a": "b"})
    offsets = {"offsets": [{"partition": {"filename": "x"}, "offset": {"position": 1}}]}
    yield case("PATCH", "/connectors/nope/offsets", offsets)
    yield case("PATCH", "/connectors/nope/offsets", {"offsets": []})


def plugins() -> Iterator[Case]:
    for query in ("", "/", "?connectorsOnly=true", "?connectorsOnly=", "?connectorsOnly=false"):
        yield case("GET", f"/connector-plugins{query}")
    yield case("GET", "/connector-plugins/FileStreamSource")
    for name in ("FileStreamSource", "FileStreamSinkConnector", "Nope", "RegexRouter"):
        yield case("GET", f"/connector-plugins/{name}/config")
    for name in (
        "transforms.InsertField",
        "transforms.InsertField$Value",
        "transforms.predicates.TopicNameMatches",
    ):
        yield case("GET", f"/connector-plugins/org.apache.kafka.connect.{name}/config")
    for name in ("json.JsonConverter", "storage.StringConverter", "storage.SimpleHeaderConverter"):
        yield case("GET", f"/connector-plugins/org.apache.kafka.connect.{name}/config")
    for version in ("4.1.1", "latest", "1.0", "%5B4.0,5.0)"):
        yield case("GET", f"/connector-plugins/FileStreamSource/config?version={version}")
    for plugin, config in VALIDATED:
        yield case("PUT", f"/connector-plugins/{plugin}/config/validate", config)
    for body in ("", "null", "[]", '{"a":'):
        yield case("PUT", "/connector-plugins/FileStreamSource/config/validate", raw=body)


def loggers() -> Iterator[Case]:
    yield case("GET", "/admin/loggers")
    yield case("GET", "/admin/loggers/root")
    yield case("GET", "/admin/loggers/nope.x")
    for name, level in (("cmp.one", "DEBUG"), ("cmp", "warn"), ("cmp.one", "WARN"), ("x", "loud")):
        yield case("PUT", f"/admin/loggers/{name}", {"level": level})
    yield case("GET", "/admin/loggers/cmp.one")
    for body in ({}, {"level": None}, {"level": ""}, {"level": 5}, {"level": ["a"]}, None):
        yield case("PUT", "/admin/loggers/cmp", body)
    yield case("PUT", "/admin/loggers/cmp?scope=planet", {"level": "ERROR"})
    yield case("PUT", "/admin/loggers/cmp?scope=cluster", {"level": "ERROR"})
    yield case("PUT", "/admin/loggers/cmp?scope=CLUSTER", {"level": "loud"})
    # Not below "cmp": a level for the whole cluster comes by the topic, after the answer.
    for level in ("OFF", "FATAL", "TRACE", "ALL"):
        yield case("PUT", "/admin/loggers/levels.one", {"level": level})
        yield case("GET", "/admin/loggers/levels.one")


def source() -> Iterator[Case]:
    more = '"flag":true,"number":1.50,"big":12345678901234567890,"power":1E3'
    body = json.dumps({"name": " src ", "config": SOURCE})[:-2] + f",{more}}}}}"
    yield case("POST", "/connectors", raw=body)
    yield case("POST", "/connectors", {"name": "src", "config": SOURCE})
    yield case("GET", "/connectors/src", until=Until("src", "RUNNING", RUNNING, 1, 1))
    for path in ("", "/", "/config", "/status", "/tasks", "/tasks/0/status", "/topics"):
        yield case("GET", f"/connectors/src{path}")
    for path in ("/tasks/1/status", "/tasks/x/status", "/offsets"):
        yield case("GET", f"/connectors/src{path}")
    for query in ("status", "info", "status&expand=info", "nonsense", "status&expand=nonsense"):
        yield case("GET", f"/connectors?expand={query}")


def changes() -> Iterator[Case]:
    yield case("PUT", "/connectors/src/config", {**SOURCE, "name": "other"})
    yield case("PUT", "/connectors/src/config", {"connector.class": "FileStreamSource"})
    yield case("PATCH", "/connectors/src/config", {"batch.size": "100", "flag": None})
    for patch in ({"batch.size": "x"}, {"connector.class": None}, {"name": None}, {}):
        yield case("PATCH", "/connectors/src/config", patch)
    yield case("PATCH", "/connectors/src/config", raw="null")
    yield case("PATCH", "/connectors/src/config", {"name": "other"})
    yield case("PATCH", "/connectors/src/config", {"name": "src"})


def restarts() -> Iterator[Case]:
    running = Until("src", "RUNNING", RUNNING)
    yield case("POST", "/connectors/src/restart", until=running)
    # What does restart something comes last: "RUNNING" may still be what was before it.
    for query in ("onlyFailed=true", "includeTasks=true&onlyFailed=true", "includeTasks=true"):
        yield case("POST", f"/connectors/src/restart?{query}", until=running)
    for query in ("includeTasks=nonsense", "includeTasks="):
        yield case("POST", f"/connectors/src/restart?{query}", until=running)
    yield case("POST", "/connectors/src/tasks/0/restart", until=running)
    yield case("POST", "/connectors/src/tasks/7/restart", until=running)


def states() -> Iterator[Case]:
    running = Until("src", "RUNNING", RUNNING)
    yield case("PATCH", "/connectors/src/offsets", BAD_SOURCE_OFFSETS[-1])
    yield case("DELETE", "/connectors/src/offsets")
    yield case("PUT", "/connectors/src/pause", until=running)
    paused = Until("src", "PAUSED", ("PAUSED",))
    yield case("GET", "/connectors/src/status", until=paused)
    yield case("PUT", "/connectors/src/pause")
    yield case("PUT", "/connectors/src/resume")
    yield case("PUT", "/connectors/src/stop", until=running)
    stopped = Until("src", "STOPPED")
    yield case("GET", "/connectors/src/status", until=stopped)
    for path in ("", "/tasks", "/tasks/0/status", "/offsets"):
        yield case("GET", f"/connectors/src{path}")
    yield case("PUT", "/connectors/src/stop")
    yield case("POST", "/connectors/src/restart?includeTasks=true", until=stopped)
    for wrong in BAD_SOURCE_OFFSETS:
        yield case("PATCH", "/connectors/src/offsets", wrong, until=stopped)
    yield case("PATCH", "/connectors/src/offsets", raw="null")
    for position in ({"position": 1}, None, {"position": 3}):
        entry = {"partition": {"filename": "{in}"}, "offset": position}
        yield case("PATCH", "/connectors/src/offsets", {"offsets": [entry]})
        # Java looks up which partitions there are before it reads its topic to the end.
        seen = Until("src", "STOPPED", offsets=0 if position is None else 1)
        yield case("GET", "/connectors/src/offsets", until=seen)
    yield case("DELETE", "/connectors/src/offsets")
    gone = Until("src", "STOPPED", offsets=0)
    yield case("GET", "/connectors/src/offsets", until=gone)
    yield case("PUT", "/connectors/src/topics/reset")
    yield case("GET", "/connectors/src/topics", until=Until("src", "STOPPED", topics=0))
    yield case("PUT", "/connectors/src/resume")
    yield case("GET", "/connectors/src/status", until=running)


def initial_states() -> Iterator[Case]:
    for name, state in (("i1", "stopped"), ("i2", "Paused")):
        body = json.dumps({"name": name, "config": SOURCE, "initial_state": state})
        yield case("POST", "/connectors", raw=body)
        yield case("GET", f"/connectors/{name}/status", until=Until(name, state.upper()))
        yield case("GET", f"/connectors/{name}/tasks")
        yield case("DELETE", f"/connectors/{name}")
        yield case("GET", f"/connectors/{name}/status", until=Until(name, None))
    yield case("DELETE", "/connectors/src")
    yield case("DELETE", "/connectors/src")


def sink() -> Iterator[Case]:
    yield case("PUT", "/connectors/snk/config", SINK)
    yield case("GET", "/connectors/snk", until=Until("snk", "RUNNING", RUNNING, 1))
    for path in ("/status", "/tasks", "/topics"):
        yield case("GET", f"/connectors/snk{path}")
    yield case("PUT", "/connectors/snk/stop")
    stopped = Until("snk", "STOPPED")
    for entry in SINK_OFFSETS:
        yield case("PATCH", "/connectors/snk/offsets", {"offsets": [entry]}, until=stopped)
    yield case("GET", "/connectors/snk/offsets")
    yield case("DELETE", "/connectors/snk/offsets")
    yield case("GET", "/connectors/snk/offsets")
    yield case("DELETE", "/connectors/snk/offsets")
    yield case("DELETE", "/connectors/snk")
    broken = {**SINK, "file": "/nonexistent/folder/file", "tasks.max": "2"}
    yield case("PUT", "/connectors/bad/config", broken)
    failed = Until("bad", "RUNNING", ("FAILED", "FAILED"))
    yield case("GET", "/connectors/bad/status", until=failed)
    yield case("GET", "/connectors/bad/tasks/1/status")
    yield case("POST", "/connectors/bad/restart?onlyFailed=true")
    yield case("POST", "/connectors/bad/restart?includeTasks=true&onlyFailed=true")
    yield case("DELETE", "/connectors/bad")


def names() -> Iterator[Case]:
    for name in ("two%20words", "%C3%A4%3F", "%20lead", "a%3Bb", "a+b", "$&'()*,=:@"):
        yield case("PUT", f"/connectors/{name}/config", SOURCE)
        yield case("GET", f"/connectors/{name}", until=Until(name, "RUNNING", RUNNING))
        yield case("DELETE", f"/connectors/{name}")
