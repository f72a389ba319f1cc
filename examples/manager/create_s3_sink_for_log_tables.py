"""One S3 sink over the topics that the sources of the log tables write.

The topics are taken from the sources' own file: a new log table needs no change here.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from penstock import manager
from penstock.client import Client
from penstock.manager import Connector, Connectors, ProblemsError

CONFIG = Path(__file__).parent / "config"


def sink() -> Connector:
    """The sink of the file, for the topics of the log tables."""
    [found] = manager.load(CONFIG / "s3_sink_log_tables.yaml").values()
    sources = manager.load(CONFIG / "log_tables.yaml").values()
    topics = ",".join(sorted(source.config["topic.prefix"] for source in sources))
    return Connector(found.name, {**found.config, "topics": topics}, origin=found.origin)


def main() -> int:
    """Plan and validate; apply unless asked not to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connect", default="http://localhost:8083", help="a worker's address")
    parser.add_argument("--dry-run", action="store_true", help="change nothing")
    arguments = parser.parse_args()
    with Client(arguments.connect) as client:
        plan = manager.plan(client, Connectors([sink()]), project="s3")
        for change in plan.pending:
            print(change.action, change.name, "for", change.config["topics"])
        try:
            manager.validate(plan, client)
        except ProblemsError as error:
            print(error, file=sys.stderr)
            return 1
        return 0 if arguments.dry_run or plan.apply(client).ok else 1


if __name__ == "__main__":
    sys.exit(main())
