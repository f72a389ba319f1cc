"""Options that several commands share, as one parameter of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from penstock.cli.options import Options, grouped


@dataclass(frozen=True, slots=True)
class Place(Options):
    host: Annotated[str, typer.Option("--host", "-h", help="Where it is.")] = "localhost"
    port: Annotated[int, typer.Option(min=1)] = 80


app = typer.Typer()


@app.command()
@grouped
def go(
    name: Annotated[str, typer.Argument()],
    place: Place,
    loud: Annotated[bool, typer.Option("--loud")] = False,
) -> None:
    """Go there."""
    typer.echo(f"{name} {place.host}:{place.port} {loud}")


def run(*arguments: str) -> str:
    return CliRunner().invoke(app, arguments).output


def test_the_fields_are_options_of_the_command() -> None:
    assert run("me").strip() == "me localhost:80 False"
    assert run("me", "-h", "there", "--port", "8080", "--loud").strip() == "me there:8080 True"


def test_they_are_checked_and_described_as_options() -> None:
    assert "Invalid value for '--port'" in run("me", "--port", "0")
    described = run("--help")
    assert "Where it is." in described
    assert described.index("--host") < described.index("--port") < described.index("--loud")
    assert "Go there." in described
