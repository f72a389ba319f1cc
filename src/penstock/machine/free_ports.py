"""Free ports, below the range that the system uses for outgoing connections."""

from __future__ import annotations

import random
import socket

from penstock.kernel.errors import SetupError

# From 32768 on, Linux uses ports for outgoing connections, so one may be in use by then.
_FIRST, _LAST = 20_000, 32_000
_ATTEMPTS = 200
_random = random.SystemRandom()


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen on the port right now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port(host: str = "127.0.0.1") -> int:
    """A free port. Random, so that two processes rarely get the same one."""
    for _ in range(_ATTEMPTS):
        port = _random.randint(_FIRST, _LAST)
        if is_free(port, host):
            return port
    raise SetupError(f"no free port between {_FIRST} and {_LAST} on {host}; end some servers")
