"""Many connectors from files: read them, see what would change, change it.

>>> from penstock import manager
>>> from penstock.client import Client
>>> client = Client("http://localhost:8083")
>>> wanted = manager.load("connectors/")
>>> plan = manager.plan(client, wanted, prune=True)
>>> report = manager.apply(plan, client)
>>> report.ok
True
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.client import Client
from penstock.manager.applying import Outcome, Report, Result, apply, check, validate
from penstock.manager.changes import DEFAULT_PROJECT, Action, Change, KeyChange, Plan, compare
from penstock.manager.cluster import Cluster, Running, read_cluster
from penstock.manager.connector import (
    MARKER,
    Connector,
    Connectors,
    Origin,
    Problem,
    ProblemsError,
)
from penstock.manager.exporting import Export, Format, SecretForm, export
from penstock.manager.files import connectors, load
from penstock.manager.waiting import Arrivals, Failure, wait
from penstock.manager.watching import Watch
from penstock.wire.states import Wanted

__all__ = [
    "DEFAULT_PROJECT",
    "MARKER",
    "Action",
    "Arrivals",
    "Change",
    "Cluster",
    "Connector",
    "Connectors",
    "Export",
    "Failure",
    "Format",
    "KeyChange",
    "Origin",
    "Outcome",
    "Plan",
    "Problem",
    "ProblemsError",
    "Report",
    "Result",
    "Running",
    "SecretForm",
    "Wanted",
    "Watch",
    "apply",
    "check",
    "compare",
    "connectors",
    "export",
    "load",
    "plan",
    "read_cluster",
    "validate",
    "wait",
]


def plan(
    client: Client,
    wanted: Connectors,
    *,
    project: str = DEFAULT_PROJECT,
    prune: bool = False,
    adopt: bool = False,
    only: Sequence[str] = (),
) -> Plan:
    """What has to change in a cluster; see `compare` for the options.

    Raises:
        ProblemsError: connectors of other projects, or hidden values that stand for nothing.
    """
    cluster = read_cluster(client, wanted.only(only).values())
    return compare(wanted, cluster, project=project, prune=prune, adopt=adopt, only=only)
