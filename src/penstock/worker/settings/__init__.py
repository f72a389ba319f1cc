"""The worker's settings: every key a Kafka Connect worker has, checked at start.

May import the kernel, Kafka's keys and plugins' names; nothing else of the worker.
"""

from penstock.worker.settings.check import (
    MODES,
    PREFIXES,
    plugin_paths,
    warnings_of,
    worker_settings,
)
from penstock.worker.settings.environment import environment_properties
from penstock.worker.settings.rules import (
    SECRETS_HEADER,
    SECRETS_SHOWN,
    header_rules,
    override_policy,
)
from penstock.worker.settings.worker import (
    DistributedSettings,
    Mode,
    StandaloneSettings,
    WorkerSettings,
)

__all__ = [
    "MODES",
    "PREFIXES",
    "SECRETS_HEADER",
    "SECRETS_SHOWN",
    "DistributedSettings",
    "Mode",
    "StandaloneSettings",
    "WorkerSettings",
    "environment_properties",
    "header_rules",
    "override_policy",
    "plugin_paths",
    "warnings_of",
    "worker_settings",
]
