"""Writing letters back to where their records came from, a batch after another.

The letters are read twice: first to count them and to see that each can be written, then to write
them. So at most one batch is in memory, however many there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final

from penstock.cli.dlq.letters import Letter, LetterFilter
from penstock.cli.dlq.marks import Replayed
from penstock.cli.dlq.topics import Letters, LetterTopic
from penstock.kafka.clients import NewRecord, TopicWriter
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import BadRequestError

BATCH: Final = 500
MOST_BYTES: Final = 16 * 1024 * 1024
#: Topics that letters of one dead letter topic may go back to.
MOST_TARGETS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Replay:
    """Which letters of a topic to write, where to, and how many at a time."""

    topic: LetterTopic
    wanted: LetterFilter = field(default_factory=LetterFilter)
    to: str = ""
    again: bool = False
    batch: int = BATCH

    def chosen(self, letters: Letters) -> Iterator[Letter]:
        """The letters, as they are read."""
        edges = self.topic.edges if self.again else self.topic.behind_the_floor
        return (letter for letter in letters.read(self.topic, edges) if self.takes(letter))

    def takes(self, letter: Letter) -> bool:
        return letter in self.wanted and (self.again or not self.topic.was_replayed(letter))

    def target(self, letter: Letter) -> str:
        """The topic it goes to.

        Raises:
            BadRequestError: it can't be written back, or not to that topic.
        """
        if self.to == self.topic.name:
            raise BadRequestError(
                f"{self.to} is the dead letter topic itself; name another with --to"
            )
        if self.to:
            return self.to
        if not letter.original_topic:
            raise BadRequestError(
                f"{letter.place}: it has no context headers, so its origin is unknown; name"
                " a topic with --to. (The connector writes them with"
                " errors.deadletterqueue.context.headers.enable=true.)"
            )
        if letter.of_source:
            raise BadRequestError(
                f"{letter.place}: it can't be written to {letter.original_topic}: it is from the"
                f" source {letter.connector}, and is JSON of the record before its transforms and"
                " converters; name another topic with --to, which a connector with JsonConverter"
                " can read. Leave such letters out with"
                " --connector"
            )
        return letter.original_topic

    def survey(self, chosen: Iterable[Letter]) -> Counter[str]:
        """How many letters go to which topic.

        Raises:
            BadRequestError: one of them can't be written back.
            ConflictError: they are too scattered to be marked.
        """
        targets: Counter[str] = Counter()
        replayed = self.topic.replayed
        for batch in batches(chosen, self.batch):
            targets.update(self.target(letter) for letter in batch)
            if len(targets) > MOST_TARGETS:
                raise BadRequestError(
                    f"the letters came from more than {MOST_TARGETS} topics; choose some with"
                    " --original-topic or --connector, or name one topic with --to"
                )
            replayed = self.marked(replayed, batch)
        return targets

    def record(self, letter: Letter, partitions: Mapping[str, int]) -> NewRecord:
        """The original record; in its own partition, if it goes back and that still exists."""
        topic = self.target(letter)
        partition = None if self.to else letter.original_partition
        if partition is not None and partition >= partitions.get(topic, 0):
            partition = None
        return NewRecord(topic, letter.key, letter.value, letter.headers, partition)

    def marked(
        self, replayed: Mapping[TopicPartition, Replayed], batch: Sequence[Letter]
    ) -> Mapping[TopicPartition, Replayed]:
        """The marks after a batch is written; unchanged with `again`, which marks nothing.

        Raises:
            ConflictError: they would be longer than brokers take.
        """
        if self.again:
            return replayed
        offsets: dict[int, list[int]] = {}
        for letter in batch:
            offsets.setdefault(letter.partition, []).append(letter.offset)
        found = {
            partition: before.after(offsets.get(partition.partition, ()))
            for partition, before in replayed.items()
        }
        for each in found.values():
            each.check()
        return found


def run(
    replay: Replay,
    letters: Letters,
    properties: Mapping[str, str],
    targets: Iterable[str],
    on_batch: Callable[[int], None],
) -> int:
    """Write the letters, and mark each batch once it is written. Returns how many there were.

    Args:
        replay: what to write.
        letters: where they are, and where the marks go.
        properties: those of a Kafka client.
        targets: the topics that they go to.
        on_batch: gets the number of letters of each batch that is written.
    """
    partitions = letters.partitions(list(targets))
    replayed = replay.topic.replayed
    count = 0
    with closing(TopicWriter(properties)) as writer:
        for batch in batches(replay.chosen(letters), replay.batch):
            # A batch that could not be marked is not written.
            replayed = replay.marked(replayed, batch)
            records = (replay.record(letter, partitions) for letter in batch)
            writer.write(records, letters.deadline())
            if not replay.again:
                letters.mark(replay.topic.name, replayed)
            count += len(batch)
            on_batch(len(batch))
    return count


def batches(letters: Iterable[Letter], most: int) -> Iterator[list[Letter]]:
    """The letters in lists of at most so many, or fewer if they are large."""
    batch: list[Letter] = []
    size = 0
    for letter in letters:
        batch.append(letter)
        size += letter.size
        if len(batch) >= most or size >= MOST_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
