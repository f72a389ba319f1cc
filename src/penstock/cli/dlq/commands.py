"""`penstock dlq`: dead letters listed, shown and written back. Light: commands import the rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.confirmation import confirm
from penstock.cli.dlq.stages import stage_named
from penstock.cli.formats import Output, OutputOption, show_document
from penstock.cli.options import Options, grouped
from penstock.cli.output import err, say
from penstock.cli.target import CommandConfig, Connect, ContextName, Servers, Target
from penstock.kernel.errors import NotFoundError, SetupError

if TYPE_CHECKING:
    from collections import Counter

    from penstock.cli.dlq.letters import LetterFilter, Tally
    from penstock.cli.dlq.replay import Replay
    from penstock.cli.dlq.topics import Letters, LetterTopic

_EXAMPLES = """\b
Examples:
  penstock dlq list                                   what the worker at localhost:8083 has
  penstock dlq list --topic dead-orders --bootstrap-server kafka:9092 -o json
  penstock dlq show --topic dead-orders --stage TASK_PUT --limit 5
  penstock dlq show --connector orders-sink --error "violates check"
  penstock dlq replay --connector orders-sink --dry-run
  penstock dlq replay --topic dead-orders --yes       back to where the records came from
  penstock dlq replay --topic dead-orders --to orders-mended
"""
app = typer.Typer(
    name="dlq",
    help="Dead letters: records that a connector with errors.tolerance=all could not process.",
    epilog=_EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"max_content_width": 100},
)

_Json = Annotated[bool, typer.Option("--json", help="As -o json.")]


@dataclass(frozen=True, slots=True)
class Place(Options):
    """Where to look."""

    topic: Annotated[
        list[str] | None,
        typer.Option("--topic", "-t", help="Default: the topics that the connectors name."),
    ] = None
    connect: Connect = None
    context: ContextName = None
    servers: Servers = None
    command_config: CommandConfig = None
    timeout: Annotated[
        float, typer.Option(min=1, help="Seconds for each call to Kafka or a worker.")
    ] = 30

    @property
    def target(self) -> Target:
        return Target.of(self.connect, self.context, self.servers, self.command_config)

    def client(self) -> dict[str, str]:
        """Properties of a Kafka client."""
        return {**self.target.kafka(), "client.id": "penstock-dlq"}

    def named(self) -> dict[str, list[str]]:
        """Dead letter topics, each with the connectors that name it, if known."""
        if self.topic:
            return {topic: [] for topic in self.topic}
        from penstock.cli.dlq.topics import topics_of

        try:
            with self.target.client(timeout=self.timeout) as client:
                found = topics_of(client.infos())
        except SetupError as error:
            raise SetupError(f"{error}, or name the topic with --topic") from error
        if not found:
            raise NotFoundError(
                f"no connector of {self.target.name} has errors.deadletterqueue.topic.name; name a"
                " topic with --topic"
            )
        return found

    @contextmanager
    def letters(self) -> Iterator[Letters]:
        from penstock.cli.dlq.topics import Letters

        with closing(Letters(self.client(), self.timeout)) as letters:
            yield letters

    def existing(self, letters: Letters) -> Iterator[LetterTopic]:
        """The topics that exist; one that a config names may not exist yet."""
        for name in self.named():
            if self.topic or letters.exists(name):
                yield letters.topic(name)


@dataclass(frozen=True, slots=True)
class Choice(Options):
    """Which letters."""

    connector: Annotated[str, typer.Option(help="Only letters of this connector.")] = ""
    stage: Annotated[
        str,
        typer.Option(
            callback=stage_named,
            help="Only letters of this step: KEY_CONVERTER, VALUE_CONVERTER, TRANSFORMATION,"
            " TASK_PUT, or another of Kafka Connect's.",
        ),
    ] = ""
    original_topic: Annotated[
        str, typer.Option("--original-topic", help="Only letters whose record was in this topic.")
    ] = ""
    error: Annotated[str, typer.Option(help="Only letters whose error has this text in it.")] = ""

    @property
    def wanted(self) -> LetterFilter:
        from penstock.cli.dlq.letters import LetterFilter

        return LetterFilter(self.connector, self.stage, self.original_topic, self.error)


@app.command("list")
@grouped
def list_letters(
    place: Place,
    output: OutputOption = Output.TABLE,
    as_json: _Json = False,
) -> None:
    """Dead letter topics, and their letters by connector, original topic, step and error."""
    from penstock.cli.dlq import letter_views
    from penstock.cli.dlq.letters import Tally

    tally = Tally()
    topics: list[dict[str, Any]] = []
    with place.letters() as letters:
        for name, connectors in place.named().items():
            there = letters.topic(name) if place.topic or letters.exists(name) else None
            entry = {"topic": name, "connectors": connectors, "exists": there is not None}
            topics.append({**entry, **_counts(letters, there, tally)})
    form = Output.JSON if as_json else output
    if form is not Output.TABLE:
        groups = [letter_views.group_json(each) for each in tally.groups]
        show_document({"topics": topics, "groups": groups}, form)
        return
    letter_views.print_topics(topics)
    if tally.groups:
        say("")
        letter_views.print_groups(tally.groups)


def _counts(letters: Letters, topic: LetterTopic | None, tally: Tally) -> dict[str, int]:
    count = replayed = 0
    for letter in () if topic is None else letters.read(topic):
        tally.add(letter)
        count += 1
        replayed += topic is not None and topic.was_replayed(letter)
    return {"letters": count, "replayed": replayed}


@app.command()
@grouped
def show(
    place: Place,
    choice: Choice,
    limit: Annotated[int, typer.Option(min=1, help="Number of letters to show.")] = 20,
    offset: Annotated[int, typer.Option(min=0, help="Number of letters to skip first.")] = 0,
    output: OutputOption = Output.TABLE,
    as_json: _Json = False,
) -> None:
    """The letters: their origin and error, key, value and headers."""
    from penstock.cli.dlq import letter_views

    wanted = choice.wanted
    form = Output.JSON if as_json else output
    with place.letters() as letters:
        matching = (
            letter
            for each in place.existing(letters)
            for letter in letters.read(each)
            if letter in wanted
        )
        found = islice(matching, offset, offset + limit)
        if form is not Output.TABLE:
            show_document([letter_views.letter_json(letter) for letter in found], form)
        elif not letter_views.print_letters(found):
            say("There are no such letters.")


@app.command()
@grouped
def replay(
    place: Place,
    choice: Choice,
    to: Annotated[str, typer.Option(help="Write to this topic, not to the original one.")] = "",
    again: Annotated[
        bool, typer.Option("--again", help="Also letters that were replayed before.")
    ] = False,
    batch: Annotated[
        int,
        typer.Option(
            min=1,
            max=10_000,
            help="Letters in memory; they are written, confirmed and marked together.",
        ),
    ] = 500,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be written.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before writing.")] = False,
) -> None:
    """Write letters back to the topics they came from, as they were before they failed.

    Key, value and headers are those of the record, byte for byte; the context headers are removed.
    Replayed letters are marked by offsets of the consumer group penstock-dlq-TOPIC.
    """
    from penstock.cli.dlq.replay import Replay

    wanted = choice.wanted
    with place.letters() as letters:
        for each in list(place.existing(letters)):
            task = Replay(each, wanted, to, again, batch)
            _replay_topic(letters, place, task, ask=not yes, dry=dry_run)


def _replay_topic(letters: Letters, place: Place, task: Replay, *, ask: bool, dry: bool) -> None:
    from penstock.cli.dlq.letter_views import counted

    name = task.topic.name
    targets = task.survey(task.chosen(letters))
    if not targets:
        say(f"{name}: there is nothing to replay.")
        return
    letters.check(list(targets))
    for target, count in sorted(targets.items()):
        say(f"{name}: {counted(count)} to {target}")
    if dry:
        return
    if ask:
        confirm("Write it?" if targets.total() == 1 else "Write them?")
    _write(letters, place, task, targets)


def _write(letters: Letters, place: Place, task: Replay, targets: Counter[str]) -> None:
    from rich.progress import Progress

    from penstock.cli.dlq.letter_views import counted
    from penstock.cli.dlq.replay import run

    with Progress(console=err, transient=True) as progress:
        bar = progress.add_task(task.topic.name, total=targets.total())
        count = run(
            task,
            letters,
            place.client(),
            targets,
            on_batch=lambda written: progress.advance(bar, written),
        )
    say(f"{task.topic.name}: {counted(count)} {'was' if count == 1 else 'were'} replayed.")
