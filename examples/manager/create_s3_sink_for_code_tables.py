"""One S3 sink over the topics of all code tables.

A cluster that has no S3 sink is shown what would be created, and nothing more.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from penstock import manager
from penstock.client import Client

FILE = Path(__file__).parent / "config" / "s3_sink_code_tables.json"


def main() -> int:
    """Plan, and apply where the plugin is installed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connect", default="http://localhost:8083", help="a worker's address")
    arguments = parser.parse_args()
    wanted = manager.load(FILE)
    with Client(arguments.connect) as client:
        plan = manager.plan(client, wanted, project="s3")
        for change in plan.pending:
            print(change.action, change.name, "for", change.config["topics"])
        installed = {plugin.class_name for plugin in client.plugins()}
        missing = {each.plugin for each in wanted.values()} - installed
        if missing:
            print(f"not created: {', '.join(missing)} is not installed there", file=sys.stderr)
            return 1
        report = plan.apply(client)
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
