"""Topics and groups of a real broker, through the library and the commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.broker import Broker
from penstock.cli.main import app
from penstock.kafka.clients import GroupConsumer, NewRecord, TopicWriter
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import (
    BadRequestError,
    ConfigError,
    ConflictError,
    ForbiddenError,
    GroupActiveError,
    NotFoundError,
    PenstockError,
)
from penstock.machine.free_ports import free_port
from penstock.testing.oracle import CONSUMER_GROUPS, run_tool
from penstock.testing.waiting import eventually
from penstock.tools.broker import goals
from penstock.tools.broker.reset_files import from_csv, to_csv

Unique = Callable[[str], str]
START_MS = 1_700_000_000_000
IN_EACH = 20


@pytest.fixture(scope="module")
def broker(kafka: str) -> Iterator[Broker]:
    with Broker({"bootstrap.servers": kafka}) as broker:
        yield broker


@pytest.fixture(autouse=True)
def _here(kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions and commands find the broker; contexts of the machine do not matter."""
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", kafka)
    monkeypatch.setenv("PENSTOCK_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def orders(kafka: str, broker: Broker, unique: Unique) -> str:
    """A topic of three partitions, with a record each minute in each of the first two."""
    name = unique("orders")
    # The records are old: with the broker's retention they would soon be gone.
    broker.topics.create(name, partitions=3, settings={"retention.ms": "-1"})
    records = [
        NewRecord(name, None, b"%d" % n, partition=p, timestamp=START_MS + n * 60_000)
        for p in (0, 1)
        for n in range(IN_EACH)
    ]
    writer = TopicWriter({"bootstrap.servers": kafka})
    writer.write(records, Deadline.after(30))
    return name


def run(*arguments: str, status: int = 0, stdin: str = "") -> str:
    done = CliRunner().invoke(app, arguments, input=stdin)
    if isinstance(done.exception, PenstockError):
        raise done.exception
    assert done.exit_code == status, done.output
    return done.stdout


# ------------------------------------------------------------------------------------- topics


def test_a_topic_is_made_looked_at_changed_and_deleted(broker: Broker, unique: Unique) -> None:
    name = unique("t")
    assert broker.topics.create(name, partitions=2, settings={"retention.ms": "60000"})
    topic = broker.topics.describe(name)
    assert (len(topic.partitions), topic.replication, topic.records) == (2, 1, 0)
    assert (topic.partitions[1].leader, topic.partitions[1].in_sync) == (1, (1,))
    broker.topics.alter(
        name, partitions=3, settings={"cleanup.policy": "compact"}, remove=["retention.ms"]
    )
    eventually(lambda: len(broker.topics.describe(name).partitions) == 3)
    own = [each for each in broker.topics.settings(name) if each.source == "topic"]
    assert [(each.name, each.value) for each in own] == [("cleanup.policy", "compact")]
    assert broker.topics.delete(name) == [name]
    eventually(lambda: name not in broker.topics.names())


def test_what_topics_refuse(broker: Broker, orders: str, unique: Unique) -> None:
    with pytest.raises(ConflictError, match="exists already"):
        broker.topics.create(orders)
    assert not broker.topics.create(orders, if_not_exists=True)
    with pytest.raises(NotFoundError, match="there is no topic nowhere"):
        broker.topics.describe("nowhere")
    with pytest.raises(BadRequestError, match="has 3 partitions, and Kafka can't remove any"):
        broker.topics.alter(orders, partitions=2)
    with pytest.raises(BadRequestError, match="topics have no setting retention; there are:"):
        broker.topics.alter(orders, settings={"retention": "1"})
    with pytest.raises(BadRequestError, match="Invalid value soon for configuration"):
        broker.topics.alter(orders, settings={"retention.ms": "soon"})
    with pytest.raises(BadRequestError, match="both set and removed"):
        broker.topics.alter(orders, settings={"retention.ms": "1"}, remove=["retention.ms"])
    with pytest.raises(PenstockError, match="replication factor of 3 cannot be reached"):
        broker.topics.create(unique("t"), replication=3)


def test_patterns_do_not_reach_internal_topics(broker: Broker, unique: Unique) -> None:
    name = unique("__internal")
    broker.topics.create(name)
    assert name not in broker.topics.names()
    assert name in broker.topics.names(internal=True)
    assert broker.topics.describe(name).internal
    with pytest.raises(ForbiddenError, match=name):
        broker.topics.delete(name)
    with pytest.raises(NotFoundError, match="no topic matches"):
        broker.topics.delete(f"{name[:-3]}*")
    with pytest.raises(NotFoundError, match="no topic matches"):
        run("topics", "delete", f"{name[:-3]}*", "--force", "--yes")
    assert broker.topics.delete(name, force=True) == [name]


def test_the_commands_for_topics(
    orders: str, unique: Unique, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = unique("t")
    made = run("topics", "create", name, "-p", "2", "--config", "cleanup.policy=compact")
    assert made == f"Topic {name} was created, with 2 partitions.\n"
    again = run("topics", "create", name, "--if-not-exists")
    assert again == f"Topic {name} exists already, with 2 partitions.\n"
    rows = json.loads(run("topics", "list", orders, f"{name[:-2]}*", "-o", "json"))
    assert {row["topic"]: (row["partitions"], row["records"]) for row in rows} == {
        orders: (3, 2 * IN_EACH),
        name: (2, 0),
    }
    (found,) = json.loads(run("topics", "describe", orders, "-o", "json"))
    assert [(each["start"], each["end"]) for each in found["partitions"]] == [
        (0, IN_EACH),
        (0, IN_EACH),
        (0, 0),
    ]
    run(
        "topics",
        "alter",
        name,
        "--config",
        "retention.ms=5000",
        "--delete-config",
        "cleanup.policy",
    )
    shown = run("topics", "describe", name)
    assert "retention.ms=5000\n" in shown
    assert "cleanup.policy" not in shown
    assert "cleanup.policy=delete  (default)" in run("topics", "describe", name, "--all-settings")
    with pytest.raises(ConfigError, match="no terminal to ask on; give --yes"):
        run("topics", "delete", name, stdin="y\n")
    monkeypatch.setattr("penstock.cli.confirmation.has_terminal", lambda: True)
    run("topics", "delete", name, status=1, stdin="n\n")
    assert name in run("topics", "list")
    assert run("topics", "delete", name, stdin="y\n").endswith(f"Deleted: {name}\n")
    run("topics", "alter", orders, status=2)


# ------------------------------------------------------------------------------------- groups


@pytest.mark.parametrize(("protocol", "assignor"), [("classic", "range"), ("consumer", "uniform")])
def test_a_group_is_described_with_members_and_lag(
    kafka: str, broker: Broker, orders: str, unique: Unique, protocol: str, assignor: str
) -> None:
    group = unique("g")
    broker.resets.execute(broker.resets.plan(group, goals.to_offset(5), [f"{orders}:0"]))
    consumer = GroupConsumer({
        "bootstrap.servers": kafka, "group.id": group, "client.id": "reader-7",
        "group.protocol": protocol,
    })  # fmt: skip
    try:
        consumer.subscribe([orders], _Nothing())
        eventually(lambda: _is_stable(consumer, broker, group))
        found = broker.groups.describe(group)
        assert [
            (each.partition, each.current, each.end, each.lag) for each in found.partitions
        ] == [
            (0, 5, IN_EACH, IN_EACH - 5),
            (1, None, IN_EACH, IN_EACH),
            (2, None, 0, 0),
        ]
        assert (found.state, found.lag, len(found.members)) == ("Stable", 2 * IN_EACH - 5, 1)
        member = found.members[0]
        assert (member.client_id, member.host) == ("reader-7", "127.0.0.1")
        assert found.partitions[2].member == member
        (row,) = json.loads(run("groups", "list", group, "-o", "json"))
        assert (row["state"], row["members"], row["type"]) == ("Stable", 1, protocol)
        assert "reader-7" in run("groups", "describe", group, "--members")
        (row,) = json.loads(run("groups", "describe", group, "--members", "-o", "json"))
        assert (row["client"], row["partitions"]) == (
            "reader-7",
            [f"{orders}-{number}" for number in range(3)],
        )
        assert assignor in run("groups", "describe", group, "--state")
        (row,) = json.loads(run("groups", "describe", group, "--state", "-o", "json"))
        assert (row["assignor"], row["members"]) == (assignor, 1)
        with pytest.raises(ConfigError, match="--members or --state"):
            run("groups", "describe", group, "--state", "--members")
        assert f"{group} is Stable; {2 * IN_EACH - 5} records behind." in run(
            "groups", "describe", group
        )
        plan = broker.resets.plan(group, goals.to_earliest, all_topics=True)
        for refused in (
            lambda: broker.resets.execute(plan),
            lambda: broker.groups.delete(group),
            lambda: broker.groups.delete_offsets(group, [orders]),
        ):
            with pytest.raises(GroupActiveError):
                refused()
        assert "reader-7 at 127.0.0.1); stop them first" in broker.resets.obstacle(group)
    finally:
        consumer.close(Deadline.after(10))
    broker.resets.execute(plan)
    assert broker.groups.offsets(group)[TopicPartition(orders, 0)] == 0


def _is_stable(consumer: GroupConsumer, broker: Broker, group: str) -> bool:
    consumer.consume(1, 0.1)
    state = broker.groups.state(group)
    return state.state == "Stable" and len(state.members[0].partitions) == 3


class _Nothing:
    def assigned(self, partitions: object) -> None: ...

    def revoked(self, partitions: object) -> None: ...

    def lost(self, partitions: object) -> None: ...


def test_the_shell_completes_topics_and_groups(
    broker: Broker, orders: str, unique: Unique, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = unique("g")
    broker.resets.execute(broker.resets.plan(group, goals.to_latest, [orders]))

    def completed(line: str) -> list[str]:
        monkeypatch.setenv("_PENSTOCK_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        return CliRunner().invoke(app, [], prog_name="penstock").stdout.split()

    assert completed(f"penstock consume {orders[:-1]}") == [orders]
    assert completed(f"penstock topics describe {orders[:-1]}") == [orders]
    assert completed(f"penstock topics describe {orders} {orders[:-1]}") == []
    assert completed(f"penstock groups reset {group[:-1]}") == [group]
    assert completed(f"penstock groups reset {group} --topic {orders[:-1]}") == [orders]
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", f"127.0.0.1:{free_port()}")
    assert completed("penstock consume ") == []


def test_offsets_and_groups_are_forgotten(broker: Broker, orders: str, unique: Unique) -> None:
    group = unique("g")
    broker.resets.execute(broker.resets.plan(group, goals.to_latest, [orders]))
    with pytest.raises(NotFoundError, match="has committed no offset for elsewhere"):
        broker.groups.delete_offsets(group, ["elsewhere"])
    for command in (["delete-offsets", group, "-t", orders], ["delete", group]):
        with pytest.raises(ConfigError, match="no terminal to ask on; give --yes"):
            run("groups", *command, stdin="y\n")
    run("groups", "delete-offsets", group, "-t", f"{orders}:0,2", "--yes")
    assert broker.groups.offsets(group) == {TopicPartition(orders, 1): IN_EACH}
    run("groups", "delete", group, "--yes")
    assert group not in broker.groups.names()
    with pytest.raises(NotFoundError, match=f"there is no group {group}"):
        broker.groups.describe(group)


def test_a_reset_shows_what_it_means_and_waits_for_execute(
    broker: Broker, orders: str, unique: Unique
) -> None:
    group = unique("g")
    broker.resets.execute(broker.resets.plan(group, goals.to_offset(15), [orders]))
    arguments = ("groups", "reset", group, "--topic", f"{orders}:0", "--shift-by", "-10")
    (row,) = json.loads(run(*arguments, "-o", "json"))
    assert (row["old"], row["new"], row["read_again"], row["skipped"]) == (15, 5, 10, 0)
    assert row["first"] == "2023-11-14T22:18:20.000Z"
    assert row["last"] == "2023-11-14T22:27:20.000Z"
    assert "Nothing was changed" in run(*arguments)
    first = TopicPartition(orders, 0)
    assert broker.groups.offsets(group)[first] == 15
    assert "Done: 10 records will be read again" in run(*arguments, "--execute")
    assert broker.groups.offsets(group)[first] == 5


def test_offsets_are_exported_and_taken_back(
    broker: Broker, orders: str, unique: Unique, tmp_path: Path
) -> None:
    group, file = unique("g"), tmp_path / "before.csv"
    broker.resets.execute(broker.resets.plan(group, goals.to_offset(7), [orders]))
    file.write_text(run("groups", "reset", group, "--all-topics", "--to-current", "--export"))
    kept = tmp_path / "kept.csv"
    forward = ("groups", "reset", group, "--topic", orders, "--to-latest")
    run(*forward, "--execute", "--backup", str(kept))
    assert sorted(broker.groups.offsets(group).values()) == [0, IN_EACH, IN_EACH]
    assert sorted(kept.read_text().splitlines()) == sorted(file.read_text().splitlines())
    run("groups", "reset", group, "--from-file", str(kept), "--execute")
    assert sorted(broker.groups.offsets(group).values()) == [0, 7, 7]
    with pytest.raises(ConfigError, match="File exists"):
        run(*forward, "--execute", "--backup", str(kept))
    assert sorted(broker.groups.offsets(group).values()) == [0, 7, 7]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "give exactly one of --to-earliest"),
        (("--topic", "t", "--to-latest", "--to-offset", "0"), "got --to-latest, --to-offset"),
        (("--to-latest",), "give --topic, or --all-topics"),
        (("--topic", "t", "--all-topics", "--to-latest"), "--all-topics can't both be given"),
        (("--topic", "t", "--to-latest", "--execute", "--dry-run"), "can't both be given"),
        (("--topic", "t", "--from-file", "f"), "leave out --topic"),
        (("--topic", "t", "--to-latest", "--backup", "f"), "--backup goes with --execute"),
        (("--topic", "t", "--to-latest", "--export", "-o", "json"), "leave out --output"),
        (("--all-topics", "--to-datetime", "noon"), "'noon' is not a time"),
        (("--all-topics", "--by-duration", "noon"), "'noon' is not a duration"),
        (("--from-file", "nowhere.csv"), "nowhere.csv can't be read"),
        (("--all-topics", "--to-latest"), "has committed no offsets, or does not exist"),
        (("--topic", "nowhere", "--to-latest"), "there is no topic nowhere"),
    ],
)
def test_what_a_reset_refuses(arguments: tuple[str, ...], problem: str, unique: Unique) -> None:
    with pytest.raises(PenstockError, match=problem):
        run("groups", "reset", unique("g"), *arguments)


def test_resets_are_those_of_kafkas_own_tool(
    kafka: str, broker: Broker, orders: str, unique: Unique, tmp_path: Path
) -> None:
    """The plan of each option, beyond the ends too, and with a partition nothing is known of."""
    group = unique("g")
    broker.resets.execute(broker.resets.plan(group, goals.to_offset(12), [f"{orders}:0,1"]))
    asked = [
        ("--topic", orders, "--to-earliest"),
        ("--topic", orders, "--to-latest"),
        ("--topic", orders, "--to-current"),
        ("--topic", orders, "--to-offset", "17"),
        ("--topic", orders, "--to-datetime", "2023-11-14T22:23:00.000"),
        ("--topic", orders, "--by-duration", "P1D"),
        ("--all-topics", "--to-offset", "99"),
        # To before the beginning, from where it stands: nowhere in the last partition.
        ("--topic", f"{orders}:0,1", "--shift-by", "-50"),
    ]

    def theirs(options: tuple[str, ...]) -> set[str]:
        common = ("--bootstrap-server", kafka, "--group", group)
        done = run_tool(
            CONSUMER_GROUPS, [*common, "--reset-offsets", "--dry-run", "--export", *options]
        )
        lines = (line.replace('"', "") for line in done.stdout.splitlines())
        return {line for line in lines if line.startswith(orders)}

    with ThreadPoolExecutor(2) as pool:
        expected = list(pool.map(theirs, asked))
    for options, lines in zip(asked, expected, strict=True):
        assert lines, options
        printed = run("groups", "reset", group, *options, "--dry-run", "--export")
        assert set(printed.splitlines()) == lines, options
    # Files go both ways.
    file = tmp_path / "offsets.csv"
    file.write_text(to_csv(broker.resets.plan(group, goals.to_offset(3), [f"{orders}:0,1"])))
    common = ("--bootstrap-server", kafka, "--group", group, "--reset-offsets")
    done = run_tool(CONSUMER_GROUPS, [*common, "--from-file", str(file), "--export", "--execute"])
    assert set(broker.groups.offsets(group).values()) == {3}, done.stderr
    exported = from_csv(done.stdout, [group], "its output")
    assert exported == {group: broker.groups.offsets(group)}
    described = run_tool(CONSUMER_GROUPS, [*common[:4], "--describe"]).stdout
    rows = [line.split()[1:6] for line in described.splitlines() if line.startswith(group)]
    ours_now = broker.groups.describe(group).partitions
    assert sorted(rows) == [
        [each.topic, str(each.partition), str(each.current), str(each.end), str(each.lag)]
        for each in ours_now
        if each.current is not None
    ]


def test_a_topic_that_was_just_deleted_is_not_there(
    broker: Broker, unique: Unique, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = unique("gone")
    # What a broker lists is a little late.
    monkeypatch.setattr(broker.topics, "deletable", lambda *_, **__: [name])
    with pytest.raises(NotFoundError, match=f"there is no topic {name}"):
        broker.topics.delete(name)
