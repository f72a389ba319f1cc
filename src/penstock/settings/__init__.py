"""The worker's settings: every key a Kafka Connect worker has, checked at start."""

from penstock.settings.check import MODES, PREFIXES, plugin_paths, worker_settings
from penstock.settings.clients import CLIENT_KEYS
from penstock.settings.environment import environment_properties, ignored_variables
from penstock.settings.rules import (
    SECRETS_HEADER,
    SECRETS_SHOWN,
    header_rules,
    override_policy,
)
from penstock.settings.worker import (
    DistributedSettings,
    Mode,
    StandaloneSettings,
    WorkerSettings,
)

__all__ = [
    "CLIENT_KEYS",
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
    "ignored_variables",
    "override_policy",
    "plugin_paths",
    "worker_settings",
]
