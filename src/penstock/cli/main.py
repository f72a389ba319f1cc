"""The `penstock` command. Nothing heavy is imported before the command that needs it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from penstock import __version__
from penstock.cli.command_table import LazyGroup
from penstock.cli.output import complain, say
from penstock.kernel.errors import ConfigError, PenstockError

_EXAMPLES = """\b
Examples:
  penstock up                               a real Kafka and a worker on this machine
  penstock distributed worker.properties    a worker, with the file you have for Connect
  CONNECT_BOOTSTRAP_SERVERS=localhost:9092 CONNECT_GROUP_ID=... penstock distributed
                                            the same, from a docker image's variables
  penstock standalone worker.properties source.json sink.properties
                                            one process, connectors from files
  penstock create connector.json --wait     a connector from a file, until it runs
  penstock get --failed                     which connectors have failed
  penstock restart 'jdbc_*' --failed        restart their failed connectors and tasks
  penstock logs orders-sink --follow        what a connector logs
  penstock plan connectors/                 what connector files would change in a cluster
  penstock apply connectors/ --wait         change it, and wait until everything runs
  penstock context set production --connect https://connect.example.com
                                            another cluster, for --context production
  penstock preview connector.json           what its transforms do to records
  penstock dlq list                         records that connectors could not process
  penstock doctor worker.properties         what is wrong with this machine
  penstock plugins worker.properties        what is on its plugin.path, and what is broken there
  curl localhost:8083/connectors            talk to the worker
"""

app = typer.Typer(
    name="penstock",
    cls=LazyGroup,
    help="Kafka Connect in Python, with Apache Spark as the engine.",
    epilog=_EXAMPLES,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def main() -> None:
    """Run the command; an expected error prints one line and sets the status, without a trace."""
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
