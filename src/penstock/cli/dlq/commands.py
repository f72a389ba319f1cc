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
from penstock.cli.output import err, say
from penstock.cli.shown import Output, OutputOption, show_document
from penstock.cli.target import CommandConfig, Connect, ContextName, Servers, Target
from penstock.errors import NotFoundError, SetupError

if TYPE_CHECKING:
    from collections import Counter

    from penstock.cli.dlq.letters import Tally
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

_Topic = Annotated[
    list[str] | None,
    typer.Option("--topic", "-t", help="A dead letter topic; else those the connectors name."),
]
_Timeout = Annotated[float, typer.Option(min=1, help="Seconds for each call to Kafka or a worker.")]
_Json = Annotated[bool, typer.Option("--json", help="As -o json.")]
_Connector = Annotated[str, typer.Option(help="Only letters of this connector.")]
_Stage = Annotated[
    str,
    typer.Option(
        callback=stage_named,
        help="Only letters of this step: KEY_CONVERTER, VALUE_CONVERTER, TRANSFORMATION, TASK_PUT"
        " or, of other Connect clusters, one more of theirs.",
    ),
]
_From = Annotated[
    str, typer.Option("--original-topic", help="Only letters whose record was in this topic.")
]
_Error = Annotated[str, typer.Option(help="Only letters whose error has this text in it.")]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where to look."""

    topics: list[str] | None
    target: Target
    seconds: float

    def client(self) -> dict[str, str]:
        """Properties of a Kafka client."""
        return {**self.target.kafka(), "client.id": "penstock-dlq"}

    def named(self) -> dict[str, list[str]]:
        """Topics, with the connectors that name them as far as that is known."""
        if self.topics:
            return {topic: [] for topic in self.topics}
        from penstock.cli.dlq.topics import topics_of

        try:
            with self.target.client(timeout=self.seconds) as client:
                found = topics_of(client.infos())
        except SetupError as error:
            raise SetupError(f"{error}; or name the topic with --topic") from error
        if not found:
            raise NotFoundError(
                f"no connector of {self.target.name} has errors.deadletterqueue.topic.name; name a"
                " topic with --topic"
            )
        return found

    @contextmanager
    def letters(self) -> Iterator[Letters]:
        from penstock.cli.dlq.topics import Letters

        with closing(Letters(self.client(), self.seconds)) as letters:
            yield letters

    def existing(self, letters: Letters) -> Iterator[LetterTopic]:
        """The topics as they are; those only named in a config need not be there yet."""
        for name in self.named():
            if self.topics or letters.exists(name):
                yield letters.topic(name)


@app.command("list")
def list_letters(
    topic: _Topic = None,
    connect: Connect = None,
    context: ContextName = None,
    servers: Servers = None,
    command_config: CommandConfig = None,
    timeout: _Timeout = 30,
    output: OutputOption = Output.TABLE,
    as_json: _Json = False,
) -> None:
    """Dead letter topics, and their letters by connector, original topic, step and error."""
    from penstock.cli.dlq import shown
    from penstock.cli.dlq.letters import Tally

    place = _Place(topic, Target.of(connect, context, servers, command_config), timeout)
    tally = Tally()
    topics: list[dict[str, Any]] = []
    with place.letters() as letters:
        for name, connectors in place.named().items():
            there = letters.topic(name) if topic or letters.exists(name) else None
            entry = {"topic": name, "connectors": connectors, "exists": there is not None}
            topics.append({**entry, **_counts(letters, there, tally)})
    form = Output.JSON if as_json else output
    if form is not Output.TABLE:
        groups = [shown.group_json(each) for each in tally.groups]
        show_document({"topics": topics, "groups": groups}, form)
        return
    shown.print_topics(topics)
    if tally.groups:
        say("")
        shown.print_groups(tally.groups)


def _counts(letters: Letters, topic: LetterTopic | None, tally: Tally) -> dict[str, int]:
    count = replayed = 0
    for letter in () if topic is None else letters.read(topic):
        tally.add(letter)
        count += 1
        replayed += topic is not None and topic.was_replayed(letter)
    return {"letters": count, "replayed": replayed}


@app.command()
def show(
    topic: _Topic = None,
    connect: Connect = None,
    context: ContextName = None,
    servers: Servers = None,
    command_config: CommandConfig = None,
    timeout: _Timeout = 30,
    connector: _Connector = "",
    stage: _Stage = "",
    original_topic: _From = "",
    error: _Error = "",
    limit: Annotated[int, typer.Option(min=1, help="At most so many letters.")] = 20,
    offset: Annotated[int, typer.Option(min=0, help="Pass over so many first.")] = 0,
    output: OutputOption = Output.TABLE,
    as_json: _Json = False,
) -> None:
    """The letters: where each was, what went wrong, key, value and headers."""
    from penstock.cli.dlq import shown
    from penstock.cli.dlq.letters import Wanted

    place = _Place(topic, Target.of(connect, context, servers, command_config), timeout)
    wanted = Wanted(connector, stage, original_topic, error)
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
            show_document([shown.letter_json(letter) for letter in found], form)
        elif not shown.print_letters(found):
            say("There are no such letters.")


@app.command()
def replay(
    topic: _Topic = None,
    connect: Connect = None,
    context: ContextName = None,
    servers: Servers = None,
    command_config: CommandConfig = None,
    timeout: _Timeout = 30,
    connector: _Connector = "",
    stage: _Stage = "",
    original_topic: _From = "",
    error: _Error = "",
    to: Annotated[str, typer.Option(help="Write to this topic, not where they came from.")] = "",
    again: Annotated[
        bool, typer.Option("--again", help="Also letters that were replayed before.")
    ] = False,
    batch: Annotated[
        int,
        typer.Option(
            min=1,
            max=10_000,
            help="Letters in memory; they are written, confirmed and remembered together.",
        ),
    ] = 500,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be written.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before writing.")] = False,
) -> None:
    """Write letters back to the topics they came from, as they were before they failed.

    Key, value and headers are those of the record, byte for byte; the context headers stay behind.
    Letters that were written are remembered as offsets of the consumer group penstock-dlq-TOPIC.
    """
    from penstock.cli.dlq.letters import Wanted
    from penstock.cli.dlq.replay import Replay

    place = _Place(topic, Target.of(connect, context, servers, command_config), timeout)
    wanted = Wanted(connector, stage, original_topic, error)
    with place.letters() as letters:
        for each in list(place.existing(letters)):
            task = Replay(each, wanted, to, again, batch)
            _replay_topic(letters, place, task, ask=not yes, dry=dry_run)


def _replay_topic(letters: Letters, place: _Place, task: Replay, *, ask: bool, dry: bool) -> None:
    from penstock.cli.dlq.shown import counted

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


def _write(letters: Letters, place: _Place, task: Replay, targets: Counter[str]) -> None:
    from rich.progress import Progress

    from penstock.cli.dlq.replay import run
    from penstock.cli.dlq.shown import counted

    with Progress(console=err, transient=True) as progress:
        bar = progress.add_task(task.topic.name, total=targets.total())
        count = run(
            task,
            letters,
            place.client(),
            targets,
            told=lambda written: progress.advance(bar, written),
        )
    say(f"{task.topic.name}: {counted(count)} {'was' if count == 1 else 'were'} replayed.")
