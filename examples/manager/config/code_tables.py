"""One JDBC source for each code table: they are small, so all of each is read every time.

The SQL is written once; one more table is one more line in TABLES.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

DATABASE = os.environ.get("SHOP_DATABASE", "jdbc:postgresql://localhost:5432/shop")
TABLES = ("country", "currency", "order_status")
SQL = """\
SELECT code, label
FROM {table}
WHERE label IS NOT NULL
"""


def connectors() -> Iterator[dict[str, Any]]:
    """What Penstock asks this file for."""
    for table in TABLES:
        yield {
            "name": f"jdbc_code_{table}",
            "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
            "connection.url": DATABASE,
            "mode": "bulk",
            "query": SQL.format(table=table),
            "topic.prefix": f"code_{table}",
            "poll.interval.ms": 3_600_000,
            "tasks.max": 1,
        }
