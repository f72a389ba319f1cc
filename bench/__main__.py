"""Runs the cases asked for, or all, and writes what they found."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console

from bench import (
    batches,
    chain,
    handwritten,
    idle,
    jdbc_sink,
    jdbc_source,
    latency,
    manager,
    start,
    throughput,
)
from bench.lab import JAVA, PENSTOCK, BenchError, Lab, Options
from bench.processes import load
from bench.report import Result, save, show

CASES: Mapping[str, Callable[[Lab], Result]] = {
    "start": start.start,
    "source-json": throughput.source_json,
    "source-string": throughput.source_string,
    "sink-json": throughput.sink_json,
    "sink-string": throughput.sink_string,
    "chain-source": chain.chain_source,
    "chain-sink": chain.chain_sink,
    "chain-sink-schemaless": chain.chain_sink_schemaless,
    "latency": latency.latency,
    "batches": batches.batches,
    "idle": idle.idle,
    "manager": manager.many_connectors,
    "overhead-source": handwritten.overhead_source,
    "overhead-sink": handwritten.overhead_sink,
    "jdbc-source": jdbc_source.jdbc_source,
    "jdbc-source-wide": jdbc_source.jdbc_source_wide,
    "jdbc-latency": jdbc_source.jdbc_latency,
    "jdbc-idle": jdbc_source.jdbc_idle,
    "jdbc-load": jdbc_source.jdbc_load,
    "jdbc-sink-postgresql": jdbc_sink.jdbc_sink_postgresql,
    "jdbc-sink-postgresql-upsert": jdbc_sink.jdbc_sink_postgresql_upsert,
    "jdbc-sink-mariadb": jdbc_sink.jdbc_sink_mariadb,
    "jdbc-sink-mariadb-upsert": jdbc_sink.jdbc_sink_mariadb_upsert,
}


def main() -> int:
    arguments = _parser().parse_args()
    console = Console()
    options = Options(
        size_mb=arguments.size,
        rounds=arguments.rounds or 3,
        starts=arguments.rounds or 5,
        heap_mb=arguments.heap,
        seconds=arguments.seconds,
        records=arguments.records,
        rows=arguments.rows,
        workers=(PENSTOCK,) if arguments.penstock_only else (PENSTOCK, JAVA),
        spark=dict(pair.split("=", 1) for pair in arguments.spark),
    )
    results = []
    with tempfile.TemporaryDirectory(prefix="bench-", dir=arguments.directory) as directory:
        lab = Lab(Path(directory), options)
        with lab.broker:
            for name in arguments.cases or CASES:
                console.print(f"{name} (load {load()})", style="dim")
                try:
                    results.append(CASES[name](lab))
                except BenchError as error:
                    console.print(f"{name}: {error}", style="red", markup=False)
                    results.append(Result(name, str(error)))
                    results[-1].at_least("completed", 0, 1)
                show(results[-1], console)
    console.print(f"Written to {save(results)}")
    return 0 if all(check.met for each in results for check in each.checks) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    add = parser.add_argument
    add("cases", nargs="*", metavar="CASE", help=f"one of {', '.join(CASES)}; all if none is given")
    add("--size", type=int, default=1000, metavar="MB", help="of the file of lines (1000)")
    add("--rounds", type=int, help="runs of each worker, in turn (3), or starts of each kind (5)")
    add("--heap", type=int, default=512, metavar="MB", help="of Penstock's Spark (512)")
    add("--seconds", type=float, default=60, help="how long idle workers are watched (60)")
    add("--records", type=int, default=300, help="records of the latency measurement (300)")
    add("--rows", type=int, default=2_000_000, help="rows of the JDBC cases (2000000)")
    add("--penstock-only", action="store_true", help="leave the real Kafka Connect out")
    add("--spark", action="append", default=[], metavar="KEY=VALUE", help="a property of Penstock")
    add("--directory", default=None, help="where the data goes; needs five times the size")
    return parser


if __name__ == "__main__":
    sys.exit(main())
