"""`penstock produce`: writes records to a topic."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.completion import topic_names
from penstock.cli.formats import Output, OutputOption, show
from penstock.cli.kafka import FormName, Forms, KafkaCluster
from penstock.cli.options import grouped
from penstock.cli.output import err, say
from penstock.kernel.errors import ConfigError

if TYPE_CHECKING:
    from penstock.kafka.clients import Written
    from penstock.tools.broker.encodings import Encoder
    from penstock.tools.broker.registry_encodings import RegistryForms

app = typer.Typer(rich_markup_mode=None)

_EXAMPLES = """\b
Examples:
  penstock produce orders 'first' 'second' --key customer-7
  cat lines.txt | penstock produce orders
  echo 'customer-7:{"id": 1}' | penstock produce orders -K : --header source=me
  penstock consume orders -o json | penstock produce copies --json
  penstock produce orders '{"id": 1}' --value-format avro --value-schema order.avsc \\
      --schema-registry http://localhost:8081
  echo '["jdbc_src_1",{"query":"query"}]#' | penstock produce connect-offsets -Z -K '#' -p 5
"""


class Compression(StrEnum):
    """How batches are compressed."""

    NONE = "none"
    GZIP = "gzip"
    SNAPPY = "snappy"
    LZ4 = "lz4"
    ZSTD = "zstd"


_Schema = "FILE|ID"


@app.command(epilog=_EXAMPLES, context_settings={"max_content_width": 100})
@grouped
def produce(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", autocompletion=topic_names)],
    values: Annotated[
        list[str] | None, typer.Argument(metavar="VALUE", help="Default: lines of the input.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="Lines of a file; default: standard input.")
    ] = None,
    key: Annotated[str | None, typer.Option("--key", "-k", help="The key of all records.")] = None,
    key_separator: Annotated[
        str, typer.Option("--key-separator", "-K", help="Splits lines into key and value.")
    ] = "",
    header: Annotated[
        list[str] | None,
        typer.Option("--header", "-H", metavar="NAME=VALUE", help="Of all records; repeatable."),
    ] = None,
    partition: Annotated[
        int | None, typer.Option("--partition", "-p", min=0, help="Default: by the key.")
    ] = None,
    null_value: Annotated[
        bool, typer.Option("--null-value", "-Z", help="Empty values are null: tombstones.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help='Lines are {"key":…, "value":…, "headers":…, "partition":…, "timestamp":…}; --key'
            " and --partition override them.",
        ),
    ] = False,
    key_schema: Annotated[
        str, typer.Option("--key-schema", metavar=_Schema, help="Default: the latest of TOPIC-key.")
    ] = "",
    value_schema: Annotated[
        str, typer.Option("--value-schema", metavar=_Schema, help="Default: of TOPIC-value.")
    ] = "",
    compression: Annotated[Compression, typer.Option("--compression")] = Compression.NONE,
    *,
    forms: Forms,
    cluster: KafkaCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Write records to a topic; all replicas have them when the command ends.

    Each VALUE, or each line, is a record. With a schema, values are JSON.
    """
    from penstock.tools.broker.kcat import unescaped
    from penstock.tools.broker.lines import Lines

    if values and file:
        raise ConfigError("give values or --file, not both")
    if as_json and (key_separator or null_value):
        raise ConfigError("--json lines have their own keys and nulls; leave out -K and -Z")
    if key is not None and key_separator:
        raise ConfigError("give --key or --key-separator, not both")
    registry = forms.registry(cluster.target)
    lines = Lines(
        topic,
        _encoder(registry, forms.key_form, f"{topic}-key", key_schema, "--key-schema"),
        _encoder(registry, forms.value_form, f"{topic}-value", value_schema, "--value-schema"),
        key,
        unescaped(key_separator),
        [_header(text) for text in header or ()],
        partition,
        null_empty=null_value,
        is_json=as_json,
    )
    with cluster.broker() as broker:
        records = lines.records(values or _lines(file), f"{file}, " if file else "")
        written = broker.messages.write(topic, records, compression=compression.value)
    _report(topic, written, output)


def _header(text: str) -> tuple[str, bytes | None]:
    """As kcat has it: NAME=VALUE, or NAME alone for null."""
    name, equals, value = text.partition("=")
    if not name:
        raise ConfigError(f"--header needs NAME=VALUE, got {text!r}")
    return name, value.encode() if equals else None


def _lines(file: Path | None) -> Iterator[str]:
    """Lines without their ends; bytes that are not UTF-8 are kept."""
    if file is None and sys.stdin.isatty():
        err.print("A record a line; Ctrl-D ends.", style="dim")
    try:
        with sys.stdin.buffer if file is None else file.open("rb") as stream:
            yield from _texts(stream)
    except OSError as error:
        raise ConfigError(f"{file or 'standard input'} can't be read: {error}") from error


def _texts(stream: Iterable[bytes]) -> Iterator[str]:
    for line in stream:
        yield line.removesuffix(b"\n").decode("utf-8", "surrogateescape")


def _encoder(
    registry: RegistryForms | None, form: FormName, subject: str, schema: str, option: str
) -> Encoder:
    from penstock.tools.broker.encodings import REGISTRY_TYPES, Form, encoder

    kind = REGISTRY_TYPES.get(Form(form))
    if kind is None or registry is None:
        if schema:
            raise ConfigError(f"{option} is for the formats {', '.join(REGISTRY_TYPES)}")
        return encoder(Form(form))
    if not schema:
        found = registry.latest(subject)
    elif schema.isdecimal():
        found = registry.by_id(int(schema))
    else:
        found = registry.register(subject, kind, _text_of(Path(schema), option))
    if found.schema.type != kind:
        raise ConfigError(f"schema {found.id} is of type {found.schema.type}, not {kind}")
    return encoder(Form(form), registry.encoder(found))


def _text_of(file: Path, option: str) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{option}: {file} can't be read: {error}") from error


def _report(topic: str, written: list[Written], output: Output) -> None:
    rows: list[dict[str, Any]] = [
        {"topic": each.topic, "partition": each.partition, "records": each.count,
         "first": each.first, "last": each.last}
        for each in written
    ]  # fmt: skip
    if output is not Output.TABLE:
        show(rows, output)
        return
    count = sum(each.count for each in written)
    say(f"{count} {'record' if count == 1 else 'records'} written to {topic}.")
    for each in written:
        last = f" to {each.last}" if each.last != each.first else ""
        say(f"  partition {each.partition}: offset {each.first}{last}")
