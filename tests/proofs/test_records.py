"""Bad records among very many, and connectors that have none at all."""

from tests.cluster.test_errors import test_a_bad_record_deep_in_a_large_backlog  # noqa: F401
from tests.cluster.test_idle import test_thirty_idle_connectors_run_no_spark_job  # noqa: F401
from tests.cluster.test_refused_records import (  # noqa: F401
    test_one_bad_record_for_each_step_among_many,
    test_one_refused_record_among_many,
)
