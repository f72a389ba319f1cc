from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.cli import doctor
from penstock.cli.doctor import Verdict
from penstock.errors import SetupError
from penstock.ports import free_port


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port on which something listens that never answers."""
    with socket.create_server(("127.0.0.1", free_port())) as server:
        yield server.getsockname()[1]


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_PROBE_SECONDS", 0.2)


def test_a_taken_port_comes_with_advice(taken_port: int) -> None:
    with pytest.raises(SetupError, match=rf"{taken_port} is taken .*set listeners="):
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


@pytest.mark.parametrize(
    "properties", [{}, {"bootstrap.servers": "a:1", "security.protocol": "SASL_SSL"}]
)
def test_what_is_not_tried_says_so(properties: dict[str, str]) -> None:
    assert doctor._broker(properties).verdict is Verdict.SKIPPED


def test_the_exit_status_counts_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_java() -> str:
        raise SetupError("no Java; install one")

    monkeypatch.setattr(doctor, "_java", no_java)
    monkeypatch.setattr(doctor, "_jars", lambda: "28")
    assert doctor.examine({"listeners": f"http://127.0.0.1:{free_port()}"}, with_spark=False) == 1
    printed = capsys.readouterr().out
    assert "WRONG  Java     no Java; install one" in printed
    assert "1 to fix." in printed


@pytest.mark.parametrize(
    ("properties", "told"),
    [
        ({}, "are hidden in all answers (penstock.secrets.shown=never)"),
        ({"penstock.secrets.shown": "always"}, "are shown in clear to everybody who asks"),
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
