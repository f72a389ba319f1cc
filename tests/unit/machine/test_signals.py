"""Waiting for the request to end, in a process of its own: handlers belong to a main thread."""

from __future__ import annotations

import subprocess
import sys

import pytest

from penstock.testing.waiting import patient

_SCRIPT = """
import os, signal, threading
from penstock.machine.signals import EndRequest

end = EndRequest()
idle = threading.Thread(target=threading.Event().wait, daemon=True)
idle.start()
threading.Timer(0.1, lambda: {request}).start()
end.wait()
print("ended")
"""


@pytest.mark.parametrize(
    "request_",
    [
        "end.make()",
        "os.kill(os.getpid(), signal.SIGTERM)",
        "os.kill(os.getpid(), signal.SIGINT)",
        "signal.pthread_kill(idle.ident, signal.SIGTERM)",
    ],
)
def test_it_is_seen_wherever_it_comes_from(request_: str) -> None:
    command = [sys.executable, "-c", _SCRIPT.format(request=request_)]
    ended = subprocess.run(command, capture_output=True, timeout=patient(), check=True, text=True)
    assert ended.stdout == "ended\n"
