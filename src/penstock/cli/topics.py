"""`penstock topics`: the topics of a Kafka cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from penstock.cli.completion import topic_names
from penstock.cli.confirmation import confirm
from penstock.cli.connectors.used_topics import used
from penstock.cli.formats import Output, OutputOption, show, show_document
from penstock.cli.kafka import KafkaCluster, Yes
from penstock.cli.options import grouped
from penstock.cli.output import say
from penstock.cli.pairs import pairs

if TYPE_CHECKING:
    from penstock.tools.broker import Partition, Topic, TopicSetting

_USED: Final = "used"
_EXAMPLES = """\b
Examples:
  penstock topics list                                all but Kafka's own
  penstock topics list 'jdbc_*' -o json
  penstock topics create orders --partitions 6 --config retention.ms=86400000
  penstock topics describe orders
  penstock topics alter orders --partitions 12 --config cleanup.policy=compact
  penstock topics alter orders --delete-config retention.ms
  penstock topics delete 'test-*' --yes
  penstock topics used orders-sink                    those a connector has read or written
"""


class TopicsGroup(TyperGroup):
    """An unknown subcommand is a connector's name: `topics NAME` is `topics used NAME`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments name, and the rest of them."""
        if args and args[0] not in self.commands and _USED in self.commands:
            return super().resolve_command(ctx, [_USED, *args])
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="topics",
    cls=TopicsGroup,
    help="The topics of a Kafka cluster: list, create, describe, change, delete.",
    epilog=_EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"max_content_width": 100},
)

app.command(_USED)(used)

_Name = Annotated[str, typer.Argument(metavar="TOPIC", autocompletion=topic_names)]
_Patterns = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TOPIC|PATTERN", help="As orders or 'jdbc_*'.", autocompletion=topic_names
    ),
]
_Topics = Annotated[list[str], typer.Argument(metavar="TOPIC|PATTERN", autocompletion=topic_names)]
_Config = Annotated[
    list[str] | None, typer.Option("--config", metavar="KEY=VALUE", help="A setting; repeatable.")
]


@app.command("list")
@grouped
def list_topics(
    patterns: _Patterns = None,
    internal: Annotated[
        bool, typer.Option("--internal", help="Also topics of Kafka itself and of services.")
    ] = False,
    *,
    cluster: KafkaCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Topics with their partitions, replicas and sizes.

    A size is the number of offsets between the first record and the end.
    """
    with cluster.broker() as broker:
        topics = broker.topics.find(*patterns or (), internal=internal)
    show([_row(topic) for topic in topics], output)


def _row(topic: Topic) -> dict[str, Any]:
    return {
        "topic": topic.name,
        "partitions": len(topic.partitions),
        "replication": topic.replication,
        "records": topic.records,
        "under_replicated": topic.under_replicated,
    }


@app.command()
@grouped
def create(
    topic: Annotated[str, typer.Argument(metavar="TOPIC")],
    partitions: Annotated[
        int | None, typer.Option("--partitions", "-p", min=1, help="Default: the broker's.")
    ] = None,
    replication: Annotated[
        int | None,
        typer.Option(
            "--replication", "--replication-factor", "-r", min=1, help="Default: the broker's."
        ),
    ] = None,
    config: _Config = None,
    if_not_exists: Annotated[
        bool, typer.Option("--if-not-exists", help="No error if it exists; it is not changed.")
    ] = False,
    *,
    cluster: KafkaCluster,
) -> None:
    """Create a topic; it can be used when the command ends."""
    settings = pairs(config, "--config")
    with cluster.broker() as broker:
        created = broker.topics.create(
            topic,
            partitions=partitions,
            replication=replication,
            settings=settings,
            if_not_exists=if_not_exists,
        )
        count = len(broker.topics.describe(topic).partitions)
    state = "was created" if created else "exists already"
    say(f"Topic {topic} {state}, with {count} {'partition' if count == 1 else 'partitions'}.")


@app.command()
@grouped
def describe(
    patterns: _Topics,
    all_settings: Annotated[
        bool, typer.Option("--all-settings", help="Also settings at their defaults.")
    ] = False,
    *,
    cluster: KafkaCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Each partition with leader, replicas, offsets; and the settings that were changed."""
    with cluster.broker() as broker:
        topics = broker.topics.find(*patterns)
        settings = {topic.name: broker.topics.settings(topic.name) for topic in topics}
    found = [
        (topic, [each for each in settings[topic.name] if all_settings or _own(each)])
        for topic in topics
    ]
    if output is not Output.TABLE:
        show_document([_document(topic, own) for topic, own in found], output)
        return
    for number, (topic, own) in enumerate(found):
        if number:
            say("")
        _describe(topic, own)


def _own(setting: TopicSetting) -> bool:
    return setting.source != "default"


def _document(topic: Topic, settings: list[TopicSetting]) -> dict[str, Any]:
    return {
        **_row(topic),
        "internal": topic.internal,
        "partitions": [_partition(each) for each in topic.partitions],
        "settings": [
            {"name": each.name, "value": each.value, "source": each.source} for each in settings
        ],
    }


def _partition(each: Partition) -> dict[str, Any]:
    return {
        "partition": each.number,
        "leader": each.leader,
        "replicas": list(each.replicas),
        "in_sync": list(each.in_sync),
        "start": each.start,
        "end": each.end,
        "records": each.records,
    }


def _describe(topic: Topic, settings: list[TopicSetting]) -> None:
    say(
        f"Topic {topic.name}: {len(topic.partitions)} partitions, {topic.replication} replicas,"
        f" {topic.records} records"
    )
    for setting in settings:
        origin = "" if setting.source == "topic" else f"  ({setting.source})"
        say(f"  {setting.name}={'(hidden)' if setting.value is None else setting.value}{origin}")
    rows = []
    for each in topic.partitions:
        row = _partition(each)
        row["leader"] = "none" if each.leader is None else each.leader
        row["replicas"] = ",".join(map(str, each.replicas))
        row["in_sync"] = ",".join(map(str, each.in_sync))
        rows.append(row)
    show(rows, Output.TABLE)


@app.command()
@grouped
def delete(
    patterns: _Topics,
    yes: Yes = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also named topics that Kafka or its services need.")
    ] = False,
    *,
    cluster: KafkaCluster,
) -> None:
    """Delete topics and all their records. Asks first."""
    with cluster.broker() as broker:
        names = broker.topics.deletable(*patterns, force=force)
        if not yes:
            for name in names:
                say(f"  {name}")
            confirm(f"Delete {_count(names)} with all records?")
        broker.topics.delete(*names, force=force)
    say(f"Deleted: {', '.join(names)}")


def _count(names: list[str]) -> str:
    return "this topic" if len(names) == 1 else f"these {len(names)} topics"


@app.command()
@grouped
def alter(
    topic: _Name,
    partitions: Annotated[
        int | None, typer.Option("--partitions", "-p", min=1, help="The new total; only more.")
    ] = None,
    config: _Config = None,
    delete_config: Annotated[
        list[str] | None,
        typer.Option("--delete-config", metavar="KEY", help="Back to the default; repeatable."),
    ] = None,
    *,
    cluster: KafkaCluster,
) -> None:
    """Give a topic more partitions, or other settings.

    With more partitions, new records of a key may go to another partition than its old ones.
    """
    settings = pairs(config, "--config")
    if partitions is None and not settings and not delete_config:
        raise typer.BadParameter("give --partitions, --config or --delete-config")
    with cluster.broker() as broker:
        broker.topics.alter(
            topic, partitions=partitions, settings=settings, remove=delete_config or ()
        )
    say(f"Topic {topic} was changed.")
