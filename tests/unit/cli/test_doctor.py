from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.cli import doctor
from penstock.cli.doctor import Verdict
from penstock.kernel.errors import SetupError
from penstock.machine.free_ports import free_port

STANDALONE = {
    "offset.storage.file.filename": "offsets",
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
}


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port on which something listens that never answers."""
    with socket.create_server(("127.0.0.1", free_port())) as server:
        yield server.getsockname()[1]


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_PROBE_SECONDS", 0.2)


def test_a_taken_port_comes_with_advice(taken_port: int) -> None:
    with pytest.raises(SetupError, match=rf"{taken_port} is in use .*set listeners="):
        doctor._port({"listeners": f"http://127.0.0.1:{taken_port}"})


def test_a_free_port_is_fine() -> None:
    port = free_port()
    assert "is free" in doctor._port({"listeners": f"http://127.0.0.1:{port}"})


def test_a_dead_broker_is_named_with_advice(taken_port: int) -> None:
    nobody = free_port()
    servers = f"127.0.0.1:{nobody},127.0.0.1:{taken_port}"
    finding = doctor._broker({"bootstrap.servers": servers})
    assert finding.verdict is Verdict.WRONG
    assert f"127.0.0.1:{nobody}" in finding.text
    assert "penstock kafka" in finding.text


def test_what_is_not_tried_says_so() -> None:
    assert doctor._broker({}).verdict is Verdict.SKIPPED


def test_a_port_of_another_worker_is_wrong_where_one_is_to_start(taken_port: int) -> None:
    port = {"listeners": f"http://127.0.0.1:{taken_port}"}
    found = {each.name: each for each in doctor._worker_findings({**STANDALONE, **port})}
    assert found["settings"].verdict is Verdict.OK
    assert found["port"].verdict is Verdict.WRONG
    assert f"can't listen on port {taken_port}" in found["port"].text


def test_settings_that_no_worker_takes_are_wrong() -> None:
    given = {**STANDALONE, "rest.extension.classes": "x", "offset.flush.interval.ms": "soon"}
    found = {each.name: each for each in doctor._worker_findings(given)}
    assert found["settings"].verdict is Verdict.WRONG
    assert "offset.flush.interval.ms" in found["settings"].text


@pytest.mark.parametrize("more", [{}, {"offset.flush.interval.ms": "soon"}], ids=["", "wrong"])
def test_mistyped_settings_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], more: dict[str, str]
) -> None:
    monkeypatch.setattr(doctor, "_java", lambda: "21")
    monkeypatch.setattr(doctor, "_jars", lambda: "28")
    given = {**STANDALONE, "listeners": f"http://127.0.0.1:{free_port()}"} | more
    status = doctor.examine({**given, "bootstrap.server": "kafka:9092"}, with_spark=False)
    assert status == len(more)
    printed = capsys.readouterr().out
    warning = "bootstrap.server is not a known worker setting and is ignored"
    assert f"look   settings {warning}; did you mean bootstrap.servers?" in printed
    assert ("1 to fix." if more else "Nothing to fix, 1 to look at.") in printed


def test_a_dead_master_is_named_at_once() -> None:
    master = f"spark://127.0.0.1:{free_port()}"
    with pytest.raises(SetupError, match=f"no Spark master answers for spark.master={master}"):
        doctor._spark({"spark.master": master})


def test_the_exit_status_counts_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_java() -> str:
        raise SetupError("no Java; install one")

    monkeypatch.setattr(doctor, "_java", no_java)
    monkeypatch.setattr(doctor, "_jars", lambda: "28")
    given = {**STANDALONE, "listeners": f"http://127.0.0.1:{free_port()}"}
    assert doctor.examine(given, with_spark=False) == 1
    printed = capsys.readouterr().out
    assert "WRONG  Java     no Java; install one" in printed
    assert "1 to fix." in printed


@pytest.mark.parametrize(
    ("properties", "told"),
    [
        ({}, "are hidden in all answers (penstock.secrets.shown=never)"),
        ({"penstock.secrets.shown": "always"}, "are shown in clear in all answers"),
        (
            {"penstock.secrets.shown": "with-token", "penstock.secrets.token": "x" * 16},
            "with the token in the header Penstock-Secrets-Token",
        ),
    ],
)
def test_who_is_shown_secrets_is_told(properties: dict[str, str], told: str) -> None:
    assert told in doctor._secrets(properties)


@pytest.mark.parametrize("shown", ["with-token", "sometimes"])
def test_a_choice_that_can_not_work_is_something_to_fix(shown: str) -> None:
    with pytest.raises(SetupError, match=r"penstock\.secrets\."):
        doctor._secrets({"penstock.secrets.shown": shown})


def test_broken_plugins_are_something_to_fix(tmp_path: Path) -> None:
    assert doctor._plugins({"plugin.path": str(tmp_path)}).startswith("0 besides the ")
    (tmp_path / "doctor_demo_sick.py").write_text("1 / 0")
    with pytest.raises(SetupError, match=r"Plugin doctor_demo_sick .*ZeroDivisionError.*line 1"):
        doctor._plugins({"plugin.path": str(tmp_path)})
