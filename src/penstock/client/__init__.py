"""A client of Kafka Connect's REST API: Penstock's workers, and any other Connect cluster."""

from penstock.client.answers import KeyCheck, Plugin, Validation
from penstock.client.client import Client, Expanded
from penstock.client.transport import DEFAULT_URL, ServerError

__all__ = ["DEFAULT_URL", "Client", "Expanded", "KeyCheck", "Plugin", "ServerError", "Validation"]
