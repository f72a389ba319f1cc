"""`penstock topics used`: the topics that connectors have read or written."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.connectors.choice import Names, choose
from penstock.cli.connectors.results import Results
from penstock.cli.formats import Output, OutputOption, show
from penstock.cli.options import grouped
from penstock.cli.target import ConnectCluster


@grouped
def used(
    names: Names,
    reset: Annotated[bool, typer.Option("--reset", help="Forget them.")] = False,
    *,
    cluster: ConnectCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Show the topics that connectors have used since they were created, or since a reset.

    \b
    penstock topics used orders-sink
    penstock topics used '*' -o json
    penstock topics used orders-sink --reset
    """
    results = Results(output, "reset" if reset else "shown")
    with cluster.client() as client:
        chosen = choose(client, names)
        if reset:
            for name in results.attempt(chosen.names, client.reset_topics):
                results.ok(name, "its topics were reset")
            results.missing(chosen.missing)
            results.finish()
        rows = [{"connector": name, "topics": client.topics(name)} for name in chosen.names]
    if output is Output.TABLE:
        rows = [{**row, "topics": ", ".join(row["topics"]) or "none"} for row in rows]
    if rows or output is not Output.TABLE:
        show(rows, output)
    chosen.finish()
