"""How large the tests are that prove something: thin in `make test`, in full in `make proofs`.

Both run the same code and look for the same things; tests/proofs takes the tests from their files.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """Amounts of data, faults and patience.

    Attributes:
        lines: of a file, under way when a process dies.
        broker_away_seconds: how long there is no broker, for a worker.
        client_away_seconds: how long there is none, for a client alone.
        hang_seconds: how long a broker says nothing on open connections.
        kills: of a worker or its Spark, at random moments.
        kill_rows: rows that are under way meanwhile.
        database_away_seconds: how long there is no database.
        outage_rows: rows that are under way meanwhile.
        load_rows: rows of a first load that a dying database interrupts.
        chunk_rows: rows of a first load during which the worker dies.
        records: of a batch with bad ones among them.
        backlog: waiting records; from 10,000 on Spark's own reader takes them.
        idle_seconds: how long connectors without work are watched.
        requests: generated requests of each operation of the REST API.
        mixtures: of good, bad and any records, for each converter and target.
    """

    lines: int
    broker_away_seconds: float
    client_away_seconds: float
    hang_seconds: float
    kills: int
    kill_rows: int
    database_away_seconds: float
    outage_rows: int
    load_rows: int
    chunk_rows: int
    records: int
    backlog: int
    idle_seconds: float
    requests: int
    mixtures: int


THIN = Size(
    lines=100_000,
    broker_away_seconds=4,
    client_away_seconds=3,
    hang_seconds=4,
    kills=2,
    kill_rows=30_000,
    database_away_seconds=4,
    outage_rows=40_000,
    load_rows=100_000,
    chunk_rows=400_000,
    records=25_000,
    backlog=25_000,
    idle_seconds=5,
    requests=8,
    mixtures=2,
)
FULL = Size(
    lines=200_000,
    broker_away_seconds=30,
    client_away_seconds=20,
    hang_seconds=10,
    kills=20,
    kill_rows=1_000_000,
    database_away_seconds=30,
    outage_rows=400_000,
    load_rows=300_000,
    chunk_rows=1_200_000,
    records=100_000,
    backlog=60_000,
    idle_seconds=10,
    requests=300,
    mixtures=50,
)
