"""Many connectors from files: read them, see what would change, change it.

>>> from penstock import manager
>>> from penstock.tools.client import Client
>>> client = Client("http://localhost:8083")
>>> wanted = manager.load("connectors/")
>>> plan = manager.plan(client, wanted, prune=True)
>>> report = manager.apply(plan, client)
>>> report.ok
True
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.kernel.wire.states import Wanted
from penstock.tools.client import Client
from penstock.tools.manager.applying import Outcome, Report, Result, apply, check, validate
from penstock.tools.manager.arrivals import Arrivals, Failure, wait
from penstock.tools.manager.changes import DEFAULT_PROJECT, Action, Change, KeyChange, Plan, compare
from penstock.tools.manager.cluster import Cluster, Running, read_cluster
from penstock.tools.manager.connector import (
    MARKER,
    Connector,
    Connectors,
    Origin,
    Problem,
    ProblemsError,
)
from penstock.tools.manager.exporting import Export, Format, SecretForm, export
from penstock.tools.manager.files import connectors, load
from penstock.tools.manager.watching import Watch

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
        ProblemsError: connectors of other projects, or [hidden] for values the cluster lacks.
    """
    cluster = read_cluster(client, wanted.only(only).values())
    return compare(wanted, cluster, project=project, prune=prune, adopt=adopt, only=only)
