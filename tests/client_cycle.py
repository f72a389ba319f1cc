"""What our client and commands do on every Connect worker, Kafka's own as well as ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.client import Client
from penstock.kernel.errors import BadRequestError, ConflictError, NotFoundError
from penstock.kernel.wire.models import OffsetEntry
from penstock.testing.waiting import WAIT_SECONDS, eventually
from tests.unit.cli.run import Done, penstock

SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SECONDS = WAIT_SECONDS


def states(client: Client, name: str) -> list[str]:
    try:
        status = client.status(name)
    except NotFoundError:
        return []
    return [status.connector.state, *(task.state for task in status.tasks)]


def await_states(client: Client, name: str, *wanted: str) -> None:
    eventually(lambda: states(client, name), lambda now: now == list(wanted))


def whole_cycle(client: Client, name: str, topic: str, folder: Path) -> None:
    """Every operation that all workers have."""
    file = folder / f"{topic}.txt"
    file.write_text("one\ntwo\n")
    config = {"connector.class": SOURCE, "file": str(file), "topic": topic}

    assert client.server().version == "4.1.1"
    assert client.health().status == "healthy"
    assert SOURCE in {plugin.class_name for plugin in client.plugins()}
    kinds = {plugin.type for plugin in client.plugins(connectors_only=False)}
    assert {"source", "sink", "converter", "transformation"} <= kinds
    assert "file" in {key["name"] for key in client.plugin_config(SOURCE)}
    checked = client.validate("FileStreamSource", {"connector.class": SOURCE, "name": name})
    assert set(checked.errors) == {"topic"}
    assert checked.error_count == 1

    created = client.create(name, config, "STOPPED")
    assert (created.name, created.config["file"]) == (name, str(file))
    await_states(client, name, "STOPPED")
    with pytest.raises(ConflictError, match="already exists"):
        client.create(name, config)
    with pytest.raises(BadRequestError, match="configuration is invalid"):
        client.create(f"{name}-wrong", {"connector.class": SOURCE})
    client.resume(name)
    await_states(client, name, "RUNNING", "RUNNING")
    assert name in client.connectors()
    assert client.connector(name).type == "source"
    assert client.infos()[name].config["topic"] == topic
    assert client.statuses()[name].connector.state == "RUNNING"
    both = client.expanded()[name]
    assert both.status is not None
    assert both.info.name == both.status.name == name
    assert client.tasks(name)[0].config["file"] == str(file)
    assert client.task_status(name, 0).state == "RUNNING"

    eventually(lambda: client.topics(name) == [topic])
    eventually(lambda: client.offsets(name).offsets != ())
    client.reset_topics(name)
    client.pause(name)
    client.wait(name, "PAUSED", SECONDS)
    assert states(client, name) == ["PAUSED", "PAUSED"]
    client.resume(name)
    client.wait(name)
    assert states(client, name) == ["RUNNING", "RUNNING"]
    assert client.restart(name) is None
    await_states(client, name, "RUNNING", "RUNNING")
    restarted = client.restart(name, include_tasks=True)
    assert restarted is not None
    await_states(client, name, "RUNNING", "RUNNING")
    client.restart_task(name, 0)
    await_states(client, name, "RUNNING", "RUNNING")

    assert client.patch_config(name, {"batch.size": "100"}).config["batch.size"] == "100"
    assert not client.put_config(name, config).created
    assert client.put_config(f"{name}-2", {**config, "name": f"{name}-2"}).created
    client.delete(f"{name}-2")
    assert "batch.size" not in client.config(name)

    client.stop(name)
    await_states(client, name, "STOPPED")
    partition = {"filename": str(file)}
    entry = OffsetEntry(partition, {"position": 4})
    assert "altered successfully" in client.alter_offsets(name, [entry])
    assert client.offsets(name).offsets == (entry,)
    assert "reset successfully" in client.reset_offsets(name)
    assert client.offsets(name).offsets == ()
    client.delete(name)
    with pytest.raises(NotFoundError):
        client.connector(name)

    assert "root" in client.loggers()
    before = client.logger("root").level
    logger = "org.apache.kafka.connect.runtime.tests"
    assert client.set_logger(logger, "DEBUG") == [logger]
    assert client.logger(logger).level == "DEBUG"
    assert client.set_logger(logger, before, scope="cluster") == []


def all_commands(url: str, name: str, topic: str, folder: Path) -> None:
    """Every command on connectors that all workers can serve."""
    lines = folder / f"{topic}.txt"
    lines.write_text("one\ntwo\n")
    config = {"connector.class": SOURCE, "file": str(lines), "topic": topic}
    file = folder / f"{name}.json"
    file.write_text(json.dumps({"name": name, "config": config}))

    def run(*arguments: str) -> Done:
        return penstock(*arguments, "--connect", url)

    def ok(*arguments: str) -> str:
        done = run(*arguments)
        assert done.status == 0, done
        return done.out

    assert "valid" in ok("validate", str(file))
    assert ok("create", str(file), "--wait", "--timeout", "120") == f"{name}: created, running\n"
    assert run("create", str(file)).status == 1
    found = json.loads(ok("get", name, "-o", "json"))[0]
    assert (found["state"], found["tasks"]) == ("RUNNING", {"total": 1, "running": 1})
    assert name in ok("get", f"{name[:-1]}?", "--state", "running")
    assert json.loads(ok("get", "workers", "-o", "json"))[0]["tasks"] >= 1
    assert SOURCE in ok("get", "plugins", "FileStreamSource*")
    assert "root" in ok("get", "loggers", "root")
    described = f"topics   {topic}"
    eventually(lambda: described in ok("describe", name))
    assert topic in ok("topics", "used", name)
    assert "were reset" in ok("topics", "used", name, "--reset")
    assert ok("pause", name) == f"{name}: paused\n"
    assert ok("resume", name) == f"{name}: running\n"
    assert "task 0" in ok("restart", name, "--tasks", "--wait")
    assert "nothing has failed" in ok("restart", name, "--failed")
    assert ok("restart", name, "--task", "0") == f"{name}: restarted task 0\n"
    assert "batch.size set" in ok("patch", name, "batch.size=100")
    assert "batch.size = 100" in ok("describe", name)
    assert "batch.size removed" in ok("patch", name, "batch.size-")
    assert "batch.size" not in ok("describe", name)
    assert ok("stop", name) == f"{name}: stopped\n"
    assert "replaced, paused" in ok("create", str(file), "--replace", "--state", "paused", "--wait")
    assert ok("delete", name, "--offsets") == f"{name}: deleted, with its offsets\n"
    done = run("delete", name)
    assert done.status == 1
    assert f"there is no connector {name}" in done.words
