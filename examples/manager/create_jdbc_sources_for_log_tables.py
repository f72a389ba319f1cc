"""Bring the JDBC sources of the log tables to what config/log_tables.yaml says; see them run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from penstock import manager
from penstock.client import Client
from penstock.manager import Wanted

FILE = Path(__file__).parent / "config" / "log_tables.yaml"


def main() -> int:
    """Apply the file, and wait until its connectors are in their states."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connect", default="http://localhost:8083", help="a worker's address")
    parser.add_argument("--seconds", type=float, default=60, help="how long to wait")
    arguments = parser.parse_args()
    wanted = manager.load(FILE)
    with Client(arguments.connect) as client:
        report = manager.plan(client, wanted, project="log-tables").apply(client)
        states = {each.name: each.target or Wanted.RUNNING for each in wanted.values()}
        found = manager.wait(client, states, arguments.seconds)
    for outcome in report.of(manager.Result.FAILED):
        print(f"{outcome.change.name}: {outcome.error}", file=sys.stderr)
    for failure in found.failures:
        print(f"{failure.name}: {failure.message}", file=sys.stderr)
    for name in sorted(found.arrived):
        print(name, states[name])
    return 0 if report.ok and not found.failures else 1


if __name__ == "__main__":
    sys.exit(main())
