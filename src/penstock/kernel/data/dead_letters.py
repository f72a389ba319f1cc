"""The error headers of a dead letter, with Kafka Connect's names."""

from __future__ import annotations

from typing import Final

HEADER_PREFIX: Final = "__connect.errors."
TOPIC: Final = "topic"
PARTITION: Final = "partition"
OFFSET: Final = "offset"
CONNECTOR: Final = "connector.name"
TASK: Final = "task.id"
STAGE: Final = "stage"
CLASS: Final = "class.name"
EXCEPTION: Final = "exception.class.name"
MESSAGE: Final = "exception.message"
TRACE: Final = "exception.stacktrace"
