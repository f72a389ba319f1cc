"""`penstock plan`, `apply`, `export` and `watch`: connectors from files. Light, as all commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.completion import connector_names
from penstock.cli.confirmation import confirm
from penstock.cli.connectors.given import Strict
from penstock.cli.formats import Output, OutputOption, show_document
from penstock.cli.options import Options, grouped
from penstock.cli.output import complain, err
from penstock.cli.target import ConnectCluster
from penstock.cli.wait_options import patience
from penstock.kernel.errors import ConfigError, NotFoundError, PenstockError

if TYPE_CHECKING:
    from penstock.tools.client import Client
    from penstock.tools.manager import Plan

app = typer.Typer(rich_markup_mode=None, context_settings={"max_content_width": 100})

_Paths = Annotated[
    list[Path],
    typer.Argument(metavar="DIR|FILE...", help="Connector files, or directories of them."),
]
_Parallel = Annotated[int, typer.Option(min=1, max=64, help="Requests at a time.")]
_EXIT_CHANGES = 2
_WAIT_SECONDS = 120.0


class ExportFormat(StrEnum):
    """The formats of `penstock export`."""

    YAML = "yaml"
    JSON = "json"


class ExportSecrets(StrEnum):
    """What `penstock export` writes in place of secrets."""

    HIDDEN = "hidden"
    ENV = "env"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class Scope(Options):
    """Which connectors a command is about."""

    prune: Annotated[
        bool,
        typer.Option("--prune", help="Delete connectors of this project that are in no file."),
    ] = False
    project: Annotated[
        str,
        typer.Option(
            envvar="PENSTOCK_PROJECT", help="The project that owns these connectors; for --prune."
        ),
    ] = "default"
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Take over connectors of no or another project.")
    ] = False
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            help="Only names like this: 'jdbc_*'. Repeatable.",
            autocompletion=connector_names,
        ),
    ] = None

    def plan(self, client: Client, paths: list[Path]) -> Plan:
        from penstock.tools import manager
        from penstock.tools.manager.connector import unmatched

        wanted = manager.load(paths)
        found = manager.plan(
            client,
            wanted,
            project=self.project,
            prune=self.prune,
            adopt=self.adopt,
            only=self.only or [],
        )
        missing = unmatched(self.only or [], (each.name for each in found.changes))
        if missing:
            where = f"the files, or of the project {self.project}," if self.prune else "the files"
            raise NotFoundError(
                f"--only {' or '.join(missing)}: no connector of {where} has this name"
            )
        return found


@app.command()
@grouped
def plan(
    paths: _Paths,
    *,
    cluster: ConnectCluster,
    scope: Scope,
    details: Annotated[
        bool, typer.Option("--details", help="All keys of connectors that would be created.")
    ] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with 2 if there is something to change.")
    ] = False,
    strict: Strict = False,
    parallel: _Parallel = 8,
    output: OutputOption = Output.TABLE,
) -> None:
    """Show what `apply` would change in a cluster; nothing is changed.

    The cluster checks what would be written; the status is 1 if it finds errors.

    \b
    penstock plan connectors/
    penstock plan connectors/ --prune --exit-code       in CI: 0 nothing, 2 changes, 1 errors
    penstock plan orders.yaml --connect http://connect:8083 -o json
    """
    with _errors_end_with_1(), cluster.client() as client:
        from penstock.tools.manager import check

        found = check(scope.plan(client, paths), client, parallel=parallel, strict=strict)
    if output is not Output.TABLE:
        show_document(found.to_json(), output)
    else:
        from penstock.cli.manage.plan_views import print_plan

        print_plan(found, details=details)
    if found.problems:
        raise typer.Exit(1)
    if exit_code and found.pending:
        raise typer.Exit(_EXIT_CHANGES)


@app.command()
@grouped
def apply(
    paths: _Paths,
    *,
    cluster: ConnectCluster,
    scope: Scope,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Plan and validate, and change nothing.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until what was changed runs, or has failed.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Seconds to wait at most, with --wait.",
            show_default=f"{_WAIT_SECONDS:g}",
        ),
    ] = None,
    parallel: _Parallel = 8,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop after the first failure.")
    ] = False,
    strict: Strict = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before connectors are deleted.")
    ] = False,
) -> None:
    """Change a cluster to match files. All configs are validated before anything is changed.

    \b
    penstock apply connectors/ --wait
    penstock apply connectors/ --prune --project billing --yes
    penstock apply connectors/ --only 'jdbc_*' --dry-run
    """
    seconds = patience(timeout, wait=wait, default=_WAIT_SECONDS)
    with _errors_end_with_1(), cluster.client() as client:
        found = scope.plan(client, paths)
        from penstock.cli.manage.plan_views import print_plan
        from penstock.cli.manage.run import run_plan

        print_plan(found)
        if not yes and not dry_run and any(each.action == "delete" for each in found.pending):
            confirm("Delete them?")
        ok = run_plan(
            found,
            client,
            dry_run=dry_run,
            wait_seconds=seconds,
            parallel=parallel,
            fail_fast=fail_fast,
            strict=strict,
        )
    raise typer.Exit(0 if ok else 1)


@app.command()
@grouped
def export(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATTERN...]", help="Names like 'jdbc_*'.", autocompletion=connector_names
        ),
    ] = None,
    *,
    cluster: ConnectCluster,
    output_dir: Annotated[
        Path | None, typer.Option(help="A file for each connector, in this directory.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="All in this file; default: standard output.")
    ] = None,
    form: Annotated[
        ExportFormat, typer.Option("--format", help="Of the files.")
    ] = ExportFormat.YAML,
    secrets: Annotated[
        ExportSecrets,
        typer.Option(
            help="Passwords as [hidden], which keeps the cluster's, as ${env:…}, or clear."
        ),
    ] = ExportSecrets.HIDDEN,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that exist, with --output-dir or --file.")
    ] = False,
) -> None:
    """Write a cluster's connectors to files that plan as unchanged.

    \b
    penstock export --output-dir connectors/
    penstock export 'jdbc_*' --format json --file jdbc.json
    penstock export --secrets env > connectors.yaml
    """
    if output_dir is not None and file is not None:
        raise ConfigError("give --output-dir or --file, not both")
    if force and output_dir is None and file is None:
        raise ConfigError("--force replaces files: give --output-dir or --file")
    with _errors_end_with_1(), cluster.client() as client:
        from penstock.cli.manage.export import run_export

        run_export(
            client,
            patterns or [],
            output_dir,
            file,
            form=form.value,
            secrets=secrets.value,
            force=force,
        )


@app.command()
@grouped
def watch(
    paths: _Paths,
    *,
    cluster: ConnectCluster,
    scope: Scope,
    interval: Annotated[
        float, typer.Option(min=0.1, help="Seconds between two checks of files and cluster.")
    ] = 10,
    parallel: _Parallel = 8,
) -> None:
    """Keep a cluster equal to its files until Ctrl-C or SIGTERM.

    A broken file changes nothing; it is reported once, and once more when it is fixed.

    \b
    penstock watch connectors/ --prune --project billing
    penstock watch connectors/ --interval 60
    """
    with _errors_end_with_1(), cluster.client() as client:
        from penstock.cli.manage.run import run_watch

        run_watch(
            client,
            paths,
            interval,
            project=scope.project,
            prune=scope.prune,
            adopt=scope.adopt,
            only=scope.only or [],
            parallel=parallel,
        )


@contextmanager
def _errors_end_with_1() -> Iterator[None]:
    """2 means changes for `plan`, so even a wrong file ends with 1, in all of these commands."""
    from penstock.tools.manager import ProblemsError

    try:
        yield
    except ProblemsError as error:
        for problem in error.problems:
            err.print(str(problem), style="red", markup=False)
        count = len(error.problems)
        complain(f"{count} problem{'' if count == 1 else 's'}; nothing was changed")
        raise typer.Exit(1) from error
    except PenstockError as error:
        complain(str(error))
        raise typer.Exit(1) from error
