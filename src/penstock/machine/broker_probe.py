"""Asks a Kafka broker for its cluster, in plain bytes: one Metadata request, no client library.

It proves that a broker is up, and that it is the expected one; an open port alone proves neither.
"""

from __future__ import annotations

import io
import socket
import struct
from dataclasses import dataclass

_METADATA, _VERSION = 3, 2
_NO_TOPICS = 0
_CLIENT_ID = b"penstock-probe"
_LARGEST_ANSWER = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Broker:
    """One member of the answering cluster."""

    node_id: int
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class ClusterView:
    """A broker's answer about its cluster."""

    cluster_id: str | None
    controller_id: int
    brokers: tuple[Broker, ...]


def describe(host: str, port: int, timeout_seconds: float) -> ClusterView:
    """The cluster behind the address.

    Raises:
        OSError: no server answers within the timeout, or it is not Kafka.
    """
    with socket.create_connection((host, port), timeout=timeout_seconds) as connection:
        connection.sendall(_request())
        (size,) = struct.unpack(">i", _receive(connection, 4))
        if not 0 < size < _LARGEST_ANSWER:
            raise OSError(f"{host}:{port} does not speak Kafka's protocol")
        return _parse(io.BytesIO(_receive(connection, size)))


def _request() -> bytes:
    header = struct.pack(">hhih", _METADATA, _VERSION, 1, len(_CLIENT_ID)) + _CLIENT_ID
    message = header + struct.pack(">i", _NO_TOPICS)
    return struct.pack(">i", len(message)) + message


def _receive(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        piece = connection.recv(size - len(received))
        if not piece:
            raise ConnectionError("the connection was closed before the answer was complete")
        received += piece
    return bytes(received)


def _parse(answer: io.BytesIO) -> ClusterView:
    try:
        _integer(answer)  # correlation id; one request, so it can only be ours
        brokers = tuple(_broker(answer) for _ in range(_integer(answer)))
        return ClusterView(_text(answer), _integer(answer), brokers)
    except (struct.error, UnicodeDecodeError) as error:
        raise ConnectionError("the answer is not in Kafka's protocol") from error


def _broker(answer: io.BytesIO) -> Broker:
    node_id, host, port = _integer(answer), _text(answer), _integer(answer)
    _text(answer)  # rack
    return Broker(node_id, host or "", port)


def _integer(answer: io.BytesIO) -> int:
    (value,) = struct.unpack(">i", answer.read(4))
    return int(value)


def _text(answer: io.BytesIO) -> str | None:
    (size,) = struct.unpack(">h", answer.read(2))
    return None if size < 0 else answer.read(size).decode()
