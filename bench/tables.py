"""The databases of the JDBC cases, and the tables they read."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from bench.lab import Lab
from penstock.testing.databases import DatabaseServer, FreshDatabase, MariaDb, PostgreSql

KINDS: dict[str, type[DatabaseServer]] = {"mariadb": MariaDb, "postgresql": PostgreSql}


@dataclass(frozen=True, slots=True)
class Table:
    """A table that fills itself. Rows are made from the numbers 1 to n, which are `seq`."""

    name: str
    columns: dict[str, str]
    values: dict[str, str]

    def create(self, database: FreshDatabase, rows: int) -> None:
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns.items())
        database.sql(f"DROP TABLE IF EXISTS {self.name}; CREATE TABLE {self.name} ({columns})")
        self.add(database, 1, rows)

    def add(self, database: FreshDatabase, first: int, last: int) -> None:
        values = ", ".join(self.values[name] for name in self.columns)
        database.sql(f"INSERT INTO {self.name} SELECT {values} FROM seq_{first}_to_{last}")


USERS = Table(
    "users",
    {
        "id": "INT NOT NULL PRIMARY KEY",
        "user_id": "VARCHAR(20)",
        "pwd": "VARCHAR(20)",
        "name": "VARCHAR(20)",
        "created_at": "DATETIME",
    },
    {
        "id": "seq",
        "user_id": "concat('user', seq)",
        "pwd": "lpad(seq * 7919 % 1000003, 8, '0')",
        "name": "elt(seq % 4 + 1, 'kim', 'lee', 'park', 'choi')",
        "created_at": "'2021-12-05 06:00:00' + INTERVAL seq SECOND",
    },
)

_MIXED = (
    ("BIGINT", "seq * 1000003"),
    ("DOUBLE", "seq / 7"),
    ("DECIMAL(12,2)", "seq / 100"),
    ("VARCHAR(40)", "concat('text number ', seq)"),
    ("DATE", "DATE '2020-01-01' + INTERVAL seq % 1000 DAY"),
    ("DATETIME(3)", "'2021-12-05 06:00:00.123' + INTERVAL seq SECOND"),
    ("SMALLINT", "seq % 30000"),
    ("TINYINT", "seq % 100"),
    ("FLOAT", "seq % 1000 / 4"),
    ("VARCHAR(40)", "nullif(concat('maybe ', seq), concat('maybe ', seq - seq % 3))"),
)
_WIDE = {f"c{number:02d}": _MIXED[number % len(_MIXED)] for number in range(19)}

WIDE = Table(
    "wide",
    {"id": "INT NOT NULL PRIMARY KEY", **{name: kind for name, (kind, _) in _WIDE.items()}},
    {"id": "seq", **{name: value for name, (_, value) in _WIDE.items()}},
)


@contextmanager
def database(lab: Lab, kind: str) -> Iterator[FreshDatabase]:
    """A server of its own, with an empty database."""
    directory = lab.directory / kind
    directory.mkdir(exist_ok=True)
    with KINDS[kind](directory) as server:
        server.create_database("bench")
        yield FreshDatabase(server, "bench")


@contextmanager
def statements(where: FreshDatabase) -> Iterator[IO[str]]:
    """MariaDB's client, which runs and commits each statement as soon as its line is written."""
    client = ["mariadb", "--no-defaults", "--host=127.0.0.1", f"--port={where.server.port}"]
    client += [f"--user={where.server.user}", where.name]
    with subprocess.Popen(client, stdin=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        yield process.stdin
        process.stdin.close()
        process.wait(30)


def count_of(where: FreshDatabase, table: str) -> int:
    """How many rows it has."""
    return int(where.sql(f"SELECT count(*) FROM {table}"))
