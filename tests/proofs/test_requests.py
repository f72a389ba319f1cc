"""Many generated requests of each operation: no answer but the described, no 500 but Connect's."""

from tests.kafka.worker.test_generated_requests import (  # noqa: F401
    ours,
    test_where_ours_fails_the_real_connect_does,
    theirs,
)
from tests.unit.worker.rest.test_generated import (  # noqa: F401
    served,
    test_generated_requests_are_answered_as_described,
)
