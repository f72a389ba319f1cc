"""Clients whose broker is away for as long as they ever back off."""

from tests.kafka.clients.test_group_consumer import (  # noqa: F401
    test_a_consumer_whose_broker_goes_away_and_comes_back,
)
from tests.kafka.worker.storage.test_log import (  # noqa: F401
    test_a_log_whose_broker_goes_away_and_comes_back,
)
