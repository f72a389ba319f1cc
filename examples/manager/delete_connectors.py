"""Delete the connectors whose names match: delete_connectors.py 'jdbc_code_*' lines."""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatchcase

from penstock.client import Client


def main() -> int:
    """Delete them one by one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="+", metavar="PATTERN", help="a name, or 'jdbc_*'")
    parser.add_argument("--connect", default="http://localhost:8083", help="a worker's address")
    parser.add_argument("--dry-run", action="store_true", help="only name them")
    arguments = parser.parse_args()
    with Client(arguments.connect) as client:
        for name in client.connectors():
            if any(fnmatchcase(name, pattern) for pattern in arguments.patterns):
                if not arguments.dry_run:
                    client.delete(name)
                print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
