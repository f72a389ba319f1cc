"""A client of Kafka Connect's REST API: Penstock's workers, and any other Connect cluster.

May import the kernel; knows nothing of the worker's inside.
"""

from penstock.kernel.errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PenstockError,
    SetupError,
)
from penstock.kernel.wire.models import (
    ConnectorInfo,
    ConnectorOffsets,
    ConnectorStatus,
    Created,
    Health,
    LoggerLevel,
    LogLine,
    LogPage,
    OffsetEntry,
    ServerInfo,
    StateInfo,
    TaskInfo,
)
from penstock.tools.client.answers import Expanded, KeyCheck, Plugin, Validation
from penstock.tools.client.client import Client
from penstock.tools.client.transport import DEFAULT_URL, ServerError

__all__ = [
    "DEFAULT_URL",
    "BadRequestError",
    "Client",
    "ConflictError",
    "ConnectorInfo",
    "ConnectorOffsets",
    "ConnectorStatus",
    "Created",
    "Expanded",
    "ForbiddenError",
    "Health",
    "KeyCheck",
    "LogLine",
    "LogPage",
    "LoggerLevel",
    "NotFoundError",
    "OffsetEntry",
    "PenstockError",
    "Plugin",
    "ServerError",
    "ServerInfo",
    "SetupError",
    "StateInfo",
    "TaskInfo",
    "Validation",
]
