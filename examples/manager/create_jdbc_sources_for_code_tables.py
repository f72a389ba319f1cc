"""Bring the JDBC sources of the code tables to what config/code_tables.py says.

Sources of tables that are no longer listed there are deleted.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from penstock import manager
from penstock.client import Client

FILE = Path(__file__).parent / "config" / "code_tables.py"


def main() -> int:
    """Plan, show the plan, apply it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connect", default="http://localhost:8083", help="a worker's address")
    parser.add_argument("--dry-run", action="store_true", help="change nothing")
    arguments = parser.parse_args()
    with Client(arguments.connect) as client:
        wanted = manager.load(FILE)
        plan = manager.plan(client, wanted, project="code-tables", prune=True)
        for change in plan.pending:
            print(change.action, change.name)
        if arguments.dry_run:
            manager.validate(plan, client)
            return 0
        report = plan.apply(client)
    for outcome in report.of(manager.Result.FAILED):
        print(f"{outcome.change.name}: {outcome.error}", file=sys.stderr)
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
