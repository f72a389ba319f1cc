"""The `penstock` command. Nothing heavy is imported before the command that needs it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from penstock import __version__
from penstock.cli import manage
from penstock.cli.dlq.commands import app as dlq
from penstock.cli.output import complain, say
from penstock.errors import ConfigError, PenstockError

_EXAMPLES = """\b
Examples:
  penstock up                               a real Kafka and a worker on this machine
  penstock distributed worker.properties    a worker, with the file you have for Connect
  CONNECT_BOOTSTRAP_SERVERS=localhost:9092 CONNECT_GROUP_ID=... penstock distributed
                                            the same, from a docker image's variables
  penstock standalone worker.properties source.json sink.properties
                                            one process, connectors from files
  penstock preview connector.json           what its transforms make of records
  penstock doctor worker.properties         what is wrong with this machine
  penstock plugins worker.properties        what is on its plugin.path, and what is broken there
  penstock plan connectors/                 what connector files would change in a cluster
  penstock apply connectors/                change it; see also export and watch
  penstock dlq list                         records that connectors could not process
  curl localhost:8083/connectors            talk to the worker
"""

app = typer.Typer(
    name="penstock",
    help="Kafka Connect in Python, with Apache Spark as the engine.",
    epilog=_EXAMPLES,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.add_typer(dlq)
manage.register(app)

_DATA_DIR = typer.Option("--data-dir", help="Where Kafka keeps its data between runs.")
_KAFKA_PORT = typer.Option("--kafka-port", min=1, max=65535, help="Port of the embedded Kafka.")
_PROPERTY = typer.Option("--property", "-p", help="KEY=VALUE, may be given several times.")


def main() -> None:
    """Run the command; an expected error becomes one line and a status, not a trace."""
    try:
        app()
    except ConfigError as error:
        complain(str(error))
        sys.exit(2)
    except PenstockError as error:
        complain(str(error))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"penstock {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Kafka Connect in Python, with Apache Spark as the engine."""


@app.command()
def standalone(
    worker: Annotated[Path, typer.Argument(metavar="WORKER.properties")],
    connectors: Annotated[
        list[Path] | None, typer.Argument(metavar="CONNECTOR.properties|.json")
    ] = None,
) -> None:
    """Run one worker that keeps its offsets in a file; connectors may be given as files."""
    from penstock.config.properties import load_properties

    properties = load_properties(worker)
    from penstock.bootstrap import run_standalone

    raise typer.Exit(run_standalone(properties, list(connectors or [])))


@app.command()
def distributed(
    worker: Annotated[Path | None, typer.Argument(metavar="[WORKER.properties]")] = None,
) -> None:
    """Run a worker that keeps everything in Kafka.

    Without a file, the CONNECT_* environment variables are the properties.
    """
    from penstock.cli.environment import worker_properties
    from penstock.config.properties import load_properties

    properties = load_properties(worker) if worker else worker_properties(os.environ)
    if not worker and "bootstrap.servers" not in properties:
        raise ConfigError(
            "no worker properties: give a file, or set CONNECT_BOOTSTRAP_SERVERS and the other "
            "CONNECT_* variables"
        )
    from penstock.bootstrap import run_distributed

    raise typer.Exit(run_distributed(properties))


@app.command()
def up(
    data_dir: Annotated[Path, _DATA_DIR] = Path("penstock-data"),
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the REST API.")] = 8083,
    kafka_port: Annotated[int, _KAFKA_PORT] = 9092,
    properties: Annotated[list[str] | None, _PROPERTY] = None,
) -> None:
    """Run an embedded Kafka and a worker until Ctrl-C; the data stays for the next time."""
    from penstock.cli.local import run_up

    raise typer.Exit(run_up(data_dir, port, kafka_port, _pairs(properties)))


@app.command()
def kafka(
    data_dir: Annotated[Path, _DATA_DIR] = Path("penstock-data"),
    port: Annotated[int, typer.Option("--port", "--kafka-port", min=1, max=65535)] = 9092,
    heap_mb: Annotated[int, typer.Option("--heap-mb", min=64, help="Its Java heap.")] = 256,
    properties: Annotated[list[str] | None, _PROPERTY] = None,
) -> None:
    """Run the embedded Kafka alone until Ctrl-C."""
    from penstock.cli.local import run_kafka

    raise typer.Exit(run_kafka(data_dir, port, heap_mb, _pairs(properties)))


@app.command()
def doctor(
    worker: Annotated[Path | None, typer.Argument(metavar="[WORKER.properties]")] = None,
    spark: Annotated[bool, typer.Option(help="Start Spark and run a job on it.")] = True,
) -> None:
    """Check Java, jars, ports, broker and Spark: what is wrong, and what to do about it."""
    from penstock.cli.doctor import examine
    from penstock.config.properties import load_properties

    raise typer.Exit(examine(load_properties(worker) if worker else {}, with_spark=spark))


@app.command()
def preview(
    connector: Annotated[Path, typer.Argument(metavar="CONNECTOR.json|.properties")],
    records: Annotated[
        Path | None,
        typer.Option(help="Records to use: a JSON list, or one on each line. Else its own."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many of its own.")] = 5,
    url: Annotated[str, typer.Option(help="The worker to ask.")] = "http://localhost:8083",
    schemas: Annotated[bool, typer.Option("--schemas", help="Show schemas too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Show the worker's answer.")] = False,
) -> None:
    """Show what a connector makes of records, after each transform; nothing is written.

    \b
    penstock preview orders-sink.json
    penstock preview orders-source.json --records samples.json
    echo '{"topic": "orders", "value": {"id": 1}}' | penstock preview sink.json --records /dev/stdin
    """
    from penstock.cli.preview import run_preview

    code = run_preview(connector, records, limit, url, schemas=schemas, as_json=as_json)
    raise typer.Exit(code)


@app.command()
def plugins(
    worker: Annotated[Path | None, typer.Argument(metavar="[WORKER.properties]")] = None,
) -> None:
    """List the plugins a worker finds; those that can't be loaded with the reason, and status 1."""
    from penstock.cli.plugins import list_plugins
    from penstock.config.properties import load_properties

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


def _pairs(properties: list[str] | None) -> dict[str, str]:
    pairs = [text.partition("=") for text in properties or []]
    for name, equals, _ in pairs:
        if not equals or not name.strip():
            raise ConfigError(f"--property needs KEY=VALUE, got {name!r}")
    return {name.strip(): value.strip() for name, _, value in pairs}
