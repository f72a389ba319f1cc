"""Large tables, and databases that are away for half a minute."""

from tests.cluster.test_jdbc_outage import test_databases_that_are_away  # noqa: F401
from tests.cluster.test_jdbc_sink import (  # noqa: F401
    database,
    test_a_big_backlog_of_several_topics,
)
from tests.cluster.test_jdbc_source import (  # noqa: F401
    fragile,
    test_a_database_that_dies_in_the_middle_of_a_load,
    test_a_worker_that_is_killed_goes_on_within_a_chunk,
)
