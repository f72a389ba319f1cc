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
from penstock.cli.output import complain, err
from penstock.cli.shown import Output, OutputOption, show_document
from penstock.cli.target import Connect, ContextName, Target
from penstock.cli.waiting import patience
from penstock.errors import NotFoundError, PenstockError

if TYPE_CHECKING:
    from penstock.client import Client
    from penstock.manager import Plan

app = typer.Typer(rich_markup_mode=None, context_settings={"max_content_width": 100})

_Paths = Annotated[
    list[Path],
    typer.Argument(metavar="DIR|FILE...", help="Connector files, or directories of them."),
]
_Prune = Annotated[
    bool,
    typer.Option("--prune", help="Delete connectors of this project that no file has any more."),
]
_Project = Annotated[
    str,
    typer.Option(
        envvar="PENSTOCK_PROJECT", help="Whose connectors these are: only those are pruned."
    ),
]
_Adopt = Annotated[
    bool,
    typer.Option("--adopt", help="Take over connectors that nobody or another project manages."),
]
_Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        help="Only names like this: 'jdbc_*'. Repeatable.",
        autocompletion=connector_names,
    ),
]
_Parallel = Annotated[int, typer.Option(min=1, max=64, help="So many requests at once.")]
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
class _Scope:
    """What a command compares."""

    paths: list[Path]
    project: str
    prune: bool
    adopt: bool
    only: list[str]

    def plan(self, client: Client) -> Plan:
        from penstock import manager
        from penstock.manager.connector import unmatched

        wanted = manager.load(self.paths)
        found = manager.plan(
            client,
            wanted,
            project=self.project,
            prune=self.prune,
            adopt=self.adopt,
            only=self.only,
        )
        missing = unmatched(self.only, (each.name for each in found.changes))
        if missing:
            where = f"the files, or of the project {self.project}," if self.prune else "the files"
            raise NotFoundError(
                f"--only {' or '.join(missing)}: no connector of {where} is so named"
            )
        return found


@app.command()
def plan(
    paths: _Paths,
    connect: Connect = None,
    context: ContextName = None,
    prune: _Prune = False,
    project: _Project = "default",
    adopt: _Adopt = False,
    only: _Only = None,
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
    scope = _Scope(paths, project, prune, adopt, only or [])
    with _errors_end_with_1(), Target.of(connect, context).client() as client:
        from penstock.manager import check

        found = check(scope.plan(client), client, parallel=parallel, strict=strict)
    if output is not Output.TABLE:
        show_document(found.to_json(), output)
    else:
        from penstock.cli.manage.shown import print_plan

        print_plan(found, details=details)
    if found.problems:
        raise typer.Exit(1)
    if exit_code and found.pending:
        raise typer.Exit(_EXIT_CHANGES)


@app.command()
def apply(
    paths: _Paths,
    connect: Connect = None,
    context: ContextName = None,
    prune: _Prune = False,
    project: _Project = "default",
    adopt: _Adopt = False,
    only: _Only = None,
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
        bool, typer.Option("--fail-fast", help="Try nothing more after the first failure.")
    ] = False,
    strict: Strict = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before connectors are deleted.")
    ] = False,
) -> None:
    """Bring a cluster to what files say. All configs are validated before anything is changed.

    \b
    penstock apply connectors/ --wait
    penstock apply connectors/ --prune --project billing --yes
    penstock apply connectors/ --only 'jdbc_*' --dry-run
    """
    scope = _Scope(paths, project, prune, adopt, only or [])
    with _errors_end_with_1(), Target.of(connect, context).client() as client:
        seconds = patience(timeout, wait=wait, default=_WAIT_SECONDS)
        found = scope.plan(client)
        from penstock.cli.manage.run import run_plan
        from penstock.cli.manage.shown import print_plan

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
def export(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATTERN...]", help="Names like 'jdbc_*'.", autocompletion=connector_names
        ),
    ] = None,
    connect: Connect = None,
    context: ContextName = None,
    output_dir: Annotated[
        Path | None, typer.Option(help="A file for each connector, in this directory.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="All in this file; else they are shown.")
    ] = None,
    form: Annotated[
        ExportFormat, typer.Option("--format", help="Of the files.")
    ] = ExportFormat.YAML,
    secrets: Annotated[
        ExportSecrets,
        typer.Option(
            help="For passwords: [hidden], which keeps what the cluster has, ${env:…}, or clear."
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
    with _errors_end_with_1(), Target.of(connect, context).client() as client:
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
def watch(
    paths: _Paths,
    connect: Connect = None,
    context: ContextName = None,
    prune: _Prune = False,
    project: _Project = "default",
    adopt: _Adopt = False,
    only: _Only = None,
    interval: Annotated[
        float, typer.Option(min=0.1, help="Seconds between two looks at files and cluster.")
    ] = 10,
    parallel: _Parallel = 8,
) -> None:
    """Keep a cluster equal to its files until Ctrl-C or SIGTERM.

    A broken file changes nothing; it is told once, and again when it is mended.

    \b
    penstock watch connectors/ --prune --project billing
    penstock watch connectors/ --interval 60
    """
    with _errors_end_with_1(), Target.of(connect, context).client() as client:
        from penstock.cli.manage.run import run_watch

        run_watch(
            client,
            paths,
            interval,
            project=project,
            prune=prune,
            adopt=adopt,
            only=only or [],
            parallel=parallel,
        )


@contextmanager
def _errors_end_with_1() -> Iterator[None]:
    """2 means changes here, so even a wrong file ends with 1."""
    from penstock.manager import ProblemsError

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
