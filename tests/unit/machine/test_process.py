from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from penstock.kernel.errors import SetupError
from penstock.machine.free_ports import free_port, is_free
from penstock.machine.process import Child
from penstock.testing.waiting import eventually, patient


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # A zombie waits for a parent that is not us; it runs no more.
    return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"


def test_stop_lets_a_child_end_in_order(tmp_path: Path) -> None:
    script = "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done"
    child = Child("shell", ["sh", "-c", script], log=tmp_path / "log")
    eventually(lambda: child.tail() == "up")
    child.stop(10)
    assert child.exit_code == 0
    assert child.tail() == "up\nbye"


def test_stop_kills_a_child_that_does_not_listen(tmp_path: Path) -> None:
    script = "trap '' TERM QUIT; echo up; while :; do sleep 0.05; done"
    child = Child("shell", ["sh", "-c", script], log=tmp_path / "log")
    eventually(lambda: child.tail() == "up")
    child.stop(0.3)
    assert child.exit_code == -signal.SIGKILL


def test_a_child_that_does_not_end_shows_where_it_hangs(tmp_path: Path) -> None:
    script = (
        "import faulthandler, signal, time; faulthandler.register(signal.SIGQUIT);"
        " signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
    )
    child = Child("hung", [sys.executable, "-c", script], log=tmp_path / "log")
    child.wait_until(lambda: "up" in child.tail(), patient(), "it ran")
    child.stop(0.1)
    assert child.exit_code == -signal.SIGKILL
    assert "most recent call first" in child.tail()


def test_a_child_that_ends_early_shows_its_log(tmp_path: Path) -> None:
    child = Child("shell", ["sh", "-c", "echo no such thing >&2; exit 3"], log=tmp_path / "log")
    with pytest.raises(SetupError, match=r"(?s)shell ended with status 3 before ready.*no such"):
        child.wait_until(lambda: False, 10, "ready")


def test_a_child_that_is_stopped_meanwhile_did_not_end_by_itself(tmp_path: Path) -> None:
    child = Child("shell", ["sh", "-c", "echo much; sleep 60"], log=tmp_path / "log")
    eventually(lambda: child.tail() == "much")
    stopping = threading.Timer(0.1, child.stop)
    stopping.start()
    with pytest.raises(SetupError) as caught:
        child.wait_until(lambda: False, patient(), "ready")
    assert str(caught.value) == "shell was stopped before ready"
    stopping.join(patient())


def test_waiting_ends(tmp_path: Path) -> None:
    with (
        Child("shell", ["sleep", "60"], log=tmp_path / "log") as child,
        pytest.raises(SetupError, match="ready took more than"),
    ):
        child.wait_until(lambda: False, 0.2, "ready")


def test_a_child_survives_the_thread_that_started_it(tmp_path: Path) -> None:
    children: list[Child] = []
    thread = threading.Thread(
        target=lambda: children.append(Child("s", ["sleep", "60"], log=tmp_path / "log"))
    )
    thread.start()
    thread.join(patient())
    with children[0] as child:
        assert not child.wait(0.5)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's promise is Linux's")
def test_a_child_dies_with_a_killed_parent(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from penstock.machine.process import Child\n"
        "child = Child('s', ['sleep', '60'], log=Path(sys.argv[1]) / 'log')\n"
        "print(child.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert not gone(pid)
        parent.kill()
        eventually(lambda: gone(pid))


def test_free_ports_are_below_the_ephemeral_range_and_free() -> None:
    port = free_port()
    assert 20_000 <= port <= 32_000
    assert is_free(port)
