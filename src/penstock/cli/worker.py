"""`penstock up`, `distributed` and others: commands that run or examine a worker."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.pairs import pairs
from penstock.kernel.errors import ConfigError

app = typer.Typer(rich_markup_mode=None)

_DATA_DIR = typer.Option("--data-dir", help="Where Kafka keeps its data between runs.")
_KAFKA_PORT = typer.Option("--kafka-port", min=1, max=65535, help="Port of the embedded Kafka.")
_PROPERTY = typer.Option("--property", "-p", help="KEY=VALUE; repeatable.")


@app.command()
def standalone(
    worker: Annotated[Path, typer.Argument(metavar="WORKER.properties")],
    connectors: Annotated[
        list[Path] | None, typer.Argument(metavar="CONNECTOR.properties|.json")
    ] = None,
) -> None:
    """Run one worker that keeps its offsets in a file; connectors may be given as files."""
    from penstock.kernel.config.properties import load_properties

    properties = load_properties(worker)
    from penstock.worker.bootstrap import run_standalone

    raise typer.Exit(run_standalone(properties, list(connectors or [])))


@app.command()
def distributed(
    worker: Annotated[Path | None, typer.Argument(metavar="[WORKER.properties]")] = None,
) -> None:
    """Run a worker that keeps everything in Kafka.

    Without a file, the CONNECT_* environment variables are the properties.
    """
    from penstock.kernel.config.properties import load_properties
    from penstock.worker.settings import environment_properties

    properties = load_properties(worker) if worker else environment_properties(os.environ)
    if not worker and "bootstrap.servers" not in properties:
        raise ConfigError(
            "no worker properties: give a file, or set CONNECT_BOOTSTRAP_SERVERS and the other "
            "CONNECT_* variables"
        )
    from penstock.worker.bootstrap import run_distributed

    raise typer.Exit(run_distributed(properties))


@app.command()
def up(
    data_dir: Annotated[Path, _DATA_DIR] = Path("penstock-data"),
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the REST API.")] = 8083,
    kafka_port: Annotated[int, _KAFKA_PORT] = 9092,
    properties: Annotated[list[str] | None, _PROPERTY] = None,
) -> None:
    """Run an embedded Kafka and a worker until Ctrl-C; the data is kept for the next run."""
    from penstock.cli.local import run_up

    raise typer.Exit(run_up(data_dir, port, kafka_port, pairs(properties, "--property")))


@app.command()
def kafka(
    data_dir: Annotated[Path, _DATA_DIR] = Path("penstock-data"),
    port: Annotated[int, typer.Option("--port", "--kafka-port", min=1, max=65535)] = 9092,
    heap_mb: Annotated[int, typer.Option("--heap-mb", min=64, help="Its Java heap.")] = 256,
    properties: Annotated[list[str] | None, _PROPERTY] = None,
) -> None:
    """Run the embedded Kafka alone until Ctrl-C."""
    from penstock.cli.local import run_kafka

    raise typer.Exit(run_kafka(data_dir, port, heap_mb, pairs(properties, "--property")))


@app.command()
def doctor(
    worker: Annotated[Path | None, typer.Argument(metavar="[WORKER.properties]")] = None,
    spark: Annotated[bool, typer.Option(help="Start Spark and run a job on it.")] = True,
) -> None:
    """Check Java, jars, ports, broker and Spark; for each problem, say how to fix it."""
    from penstock.cli.doctor import examine
    from penstock.kernel.config.properties import load_properties

    raise typer.Exit(examine(load_properties(worker) if worker else {}, with_spark=spark))


@app.command()
def prepare(
    background: Annotated[
        bool, typer.Option("--background", hidden=True, help="Quietly, at low priority.")
    ] = False,
) -> None:
    """Fetch all jars and archive Java's classes now, so that starts are quick: for images."""
    from penstock.cli.preparing import run_prepare

    raise typer.Exit(run_prepare(background=background))


@app.command()
def plugins(
    worker: Annotated[Path | None, typer.Argument(metavar="[WORKER.properties]")] = None,
) -> None:
    """List the plugins of a worker; the status is 1 if one can't be loaded, with the reason."""
    from penstock.cli.plugins import list_plugins
    from penstock.kernel.config.properties import load_properties

    raise typer.Exit(list_plugins(load_properties(worker) if worker else {}))


@app.command()
def demo(
    exit_: Annotated[
        bool, typer.Option("--exit", help="End once 10,000 records have arrived, with status 0.")
    ] = False,
) -> None:
    """Show a pipeline at work: a growing file, a topic, another file."""
    from penstock.demo import run_demo

    raise typer.Exit(run_demo(leave=exit_))
