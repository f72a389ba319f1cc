"""Writing letters back to where their records came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from penstock.cli.dlq.letters import Letter
from penstock.cli.dlq.marks import Replayed
from penstock.cli.dlq.topics import Letters, LetterTopic
from penstock.data.record import TopicPartition
from penstock.errors import BadRequestError
from penstock.kafka.clients import NewRecord, TopicWriter

_CHUNK: Final = 500


@dataclass(frozen=True, slots=True)
class Replay:
    """Letters of one topic, and what is to be written for each."""

    topic: LetterTopic
    letters: Sequence[Letter]
    to: str = ""

    @property
    def targets(self) -> Counter[str]:
        """How many letters go to which topic."""
        return Counter(self.to or letter.original_topic for letter in self.letters)

    def check(self) -> None:
        """Raises BadRequestError if a letter can't be written back, or not there."""
        if self.to == self.topic.name:
            raise BadRequestError(f"{self.to} is the dead letter topic itself; see --to")
        if self.to:
            return
        for letter in self.letters:
            if not letter.original_topic:
                raise BadRequestError(
                    f"{letter.place}: it has no context headers, so nobody knows where it came"
                    " from; name a topic with --to. (The connector writes them with"
                    " errors.deadletterqueue.context.headers.enable=true.)"
                )
            if letter.of_source:
                raise BadRequestError(
                    f"{letter.place}: it is from the source {letter.connector}, and is JSON of the"
                    f" record before its transforms and converters, so it can't be written to"
                    f" {letter.original_topic} as it is; name a topic for it with --to, which a"
                    " connector with JsonConverter can read. Leave such letters out with"
                    " --connector"
                )

    def record(self, letter: Letter, partitions: Mapping[str, int]) -> NewRecord:
        """The record as it was; in its own partition, if it goes back and that is still there."""
        topic = self.to or letter.original_topic
        partition = None if self.to else letter.original_partition
        if partition is not None and partition >= partitions.get(topic, 0):
            partition = None
        return NewRecord(topic, letter.key, letter.value, letter.headers, partition)


def run(
    replay: Replay,
    letters: Letters,
    properties: Mapping[str, str],
    *,
    again: bool,
    told: Callable[[int], None],
) -> None:
    """Write the letters, a chunk after another; each is marked once it is written.

    Args:
        replay: what to write.
        letters: where the marks go.
        properties: those of a Kafka client.
        again: letters that were replayed before are among them; marks stay as they are.
        told: gets the number of letters of each chunk that is written.
    """
    letters.check(list(replay.targets))
    partitions = {topic: letters.partitions(topic) for topic in replay.targets}
    replayed = dict(replay.topic.replayed)
    for each in _marked(replayed, replay.letters).values():
        if not again:
            each.check()
    with closing(TopicWriter(properties)) as writer:
        for chunk in _chunks(replay.letters):
            records = (replay.record(letter, partitions) for letter in chunk)
            writer.write(records, letters.deadline())
            if not again:
                replayed = _marked(replayed, chunk)
                letters.mark(replay.topic.name, replayed)
            told(len(chunk))


def _marked(
    replayed: Mapping[TopicPartition, Replayed], letters: Sequence[Letter]
) -> dict[TopicPartition, Replayed]:
    offsets: dict[int, list[int]] = {}
    for letter in letters:
        offsets.setdefault(letter.partition, []).append(letter.offset)
    return {
        partition: before.after(offsets.get(partition.partition, ()))
        for partition, before in replayed.items()
    }


def _chunks(letters: Sequence[Letter]) -> Iterator[Sequence[Letter]]:
    for start in range(0, len(letters), _CHUNK):
        yield letters[start : start + _CHUNK]
