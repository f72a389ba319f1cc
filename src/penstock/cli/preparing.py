"""`penstock prepare`, for people and for idle workers."""

from __future__ import annotations

import os
from contextlib import suppress

from penstock.cli.output import complain, say
from penstock.kernel.errors import PenstockError
from penstock.worker.prepare import make_archives, prepare

_LEAST_URGENT = 19


def run_prepare(*, background: bool) -> int:
    """0 once everything is there. In the background it fetches nothing and prints nothing."""
    if background:
        os.nice(_LEAST_URGENT)
        with suppress(PenstockError, OSError):
            make_archives(lambda _: None)
        return 0
    try:
        prepare(say)
    except OSError as error:
        complain(f"the cache can't be written: {error}")
        return 1
    return 0
