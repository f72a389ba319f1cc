"""Kill -9, at random: exactly once is exactly once, and nothing is missing without it."""

from __future__ import annotations

import random
import threading
import time
import uuid
from dataclasses import dataclass

from penstock.kernel.errors import SetupError
from penstock.testing.databases import FreshDatabase
from penstock.testing.processes import await_end, descendants
from penstock.testing.waiting import patient
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics
from tests.cluster.jdbc_records import CONVERTERS, encoded, key
from tests.shared.sizes import Size

SEED = 20
#: The worker is killed within that time after records begin to come.
AT_MOST_SECONDS = 2.5


@dataclass(frozen=True)
class Target:
    """A sink and how its table must end."""

    name: str
    database: FreshDatabase
    keys: dict[str, str]
    may_repeat: bool = False

    @property
    def table(self) -> str:
        return self.name.replace("-", "_")

    def config(self, topic: str) -> dict[str, str]:
        return {
            "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
            "topics": topic,
            "auto.create": "true",
            "table.name.format": self.table,
            "consumer.override.max.poll.records": "5000",
            **self.database.config,
            **CONVERTERS,
            **self.keys,
        }

    def sums(self) -> tuple[int, int, int]:
        """How many rows there are, how many of them are different, and the sum of those."""
        right = "CASE WHEN name = CONCAT('n', id) THEN id END"
        sums = f"COUNT(*), COUNT(DISTINCT {right}), COALESCE(SUM(DISTINCT {right}), 0)"
        query = f"SELECT {sums} FROM {self.table}"
        [(rows, different, total)] = self.database.rows(query)
        return int(rows), int(different), int(total)

    def count(self) -> int:
        try:
            return int(self.database.rows(f"SELECT COUNT(*) FROM {self.table}")[0][0])
        except SetupError as error:
            if "exist" not in str(error):
                raise
            return 0  # There is no table before the first batch.


def test_kills_at_random(
    mortal: PenstockWorker,
    kafka: str,
    mariadb: FreshDatabase,
    postgresql: FreshDatabase,
    size: Size,
) -> None:
    once = {"exactly.once": "true"}
    upsert = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id"}
    targets = [
        Target("once-postgresql", postgresql, once),
        Target("once-mariadb", mariadb, once),
        Target("upsert-mariadb", mariadb, upsert),
        Target("insert-postgresql", postgresql, {}, may_repeat=True),
    ]
    topic = f"killed-{uuid.uuid4().hex[:8]}"
    topics.create(kafka, topic, partitions=2)
    for target in targets:
        mortal.rest.create_running(target.name, target.config(topic))

    chance = random.Random(SEED)
    kills, rows = size.kills, size.kill_rows
    # Half of them end the worker, the others its Spark alone.
    ends_worker = [number % 2 == 0 for number in range(kills)]
    chance.shuffle(ends_worker)
    portion = rows // (kills + 1)
    for number in range(kills):
        with _producing(kafka, topic, number * portion, (number + 1) * portion):
            time.sleep(chance.uniform(0, AT_MOST_SECONDS))
            _kill(mortal, worker=ends_worker[number])
        # Somebody works again: the next kill is one in the middle of work too.
        _await(mortal, targets[number % len(targets)], (number + 1) * portion)
    with _producing(kafka, topic, kills * portion, rows):
        pass
    for target in targets:
        _await(mortal, target, rows)
    for target in targets:
        found, different, _ = target.sums()
        assert different == rows
        assert found == rows or target.may_repeat


def _await(mortal: PenstockWorker, target: Target, rows: int) -> None:
    mortal.rest.eventually(target.count, lambda found: found >= rows, seconds=300)
    wanted = (rows, sum(range(rows)))
    mortal.rest.eventually(target.sums, lambda found: found[1:] == wanted, seconds=300)


class _producing:  # noqa: N801 - it reads as a statement
    """Rows of these numbers, on their way while the block runs."""

    def __init__(self, kafka: str, topic: str, start: int, end: int) -> None:
        rows = ({"id": number, "name": f"n{number}"} for number in range(start, end))
        self._thread = threading.Thread(
            target=topics.produce,
            args=(kafka, topic, encoded(rows)),
            kwargs={"key": lambda number: key(start + number)},
        )

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._thread.join(patient())
        assert not self._thread.is_alive()


def _kill(mortal: PenstockWorker, *, worker: bool) -> None:
    if not worker and mortal.spark_pid is not None:
        mortal.kill_spark()
        return
    family = descendants(mortal.child.pid)
    mortal.kill()
    await_end(family)
    mortal.start()
