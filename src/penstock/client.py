"""A client of Kafka Connect's REST API: Penstock's workers, and any other Connect cluster."""

from penstock.tools.client import *
from penstock.tools.client import __all__ as __all__
