"""What each head of a real model does, as names that it has earned: measured on sentences and tokens made here.

Seven jobs are measured, each as a mean share of a head's attention, beside an even head and beside heads whose weights
are shuffled: the numbers of W_q and of W_k of the same layer in random places. A head earns the name of the first job
whose share reaches what its rule asks; where none does, it has no name. `measure_jobs` measures.

Reading order: the jobs (`Job`), what was found (`HeadJobs`), the texts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import Literal

from lessons.screen import Message, message

JobKey = Literal["it_to_noun", "name_again", "induction", "same", "previous", "punctuation", "first", "mixture"]


@dataclass(frozen=True)
class Job:
    """Something that a head may do: its name, and the least share of a head's attention that earns it.

    `title` completes “Head 13.8: …”.
    """

    key: JobKey
    name: Message
    title: Message
    least: float


JOBS = (
    Job("it_to_noun", message("“it” → a noun"), message("from “it” to a noun"), 0.4),
    Job("name_again", message("the repeated name"), message("the repeated name"), 0.5),
    Job("induction", message("what followed last time"), message("what followed last time"), 0.3),
    Job("same", message("the same token"), message("the same token"), 0.5),
    Job("previous", message("the previous token"), message("one token back"), 0.5),
    Job("punctuation", message("punctuation"), message("punctuation"), 0.5),
    Job("first", message("the first token"), message("back to the first token"), 0.5),
)
MIXTURE = Job("mixture", message("a mixture"), message("a mixture, no name earned"), 0.0)


# What was found.


@dataclass(frozen=True, eq=False)
class Share:
    """The mean share of its attention that each head puts on some keys, over `n` queries.

    The same of the heads with shuffled weights, and of one that spreads its attention evenly.
    """

    heads: Sequence[Sequence[float]]  # layers, heads
    shuffled: Sequence[Sequence[float]]
    even: float
    n: int

    @property
    def random_head(self) -> float:
        """What all shuffled heads put there, in the mean."""
        found = [share for layer in self.shuffled for share in layer]
        return sum(found) / len(found)


@dataclass(frozen=True, eq=False)
class HeadJobs:
    """All shares that were measured, by name: those of the jobs, and others that cards tell of."""

    shares: Mapping[str, Share]

    @property
    def all_heads(self) -> list[tuple[int, int]]:
        """Layer and head of every head, from 0."""
        layers = self.shares[JOBS[0].key].heads
        return [(layer, head) for layer, row in enumerate(layers) for head in range(len(row))]

    def share(self, name: str, layer: int, head: int) -> float:
        """What a head puts on the keys of this name."""
        return self.shares[name].heads[layer][head]

    def shuffled(self, name: str, layer: int, head: int) -> float:
        """What the head in the same place puts there, once the weights of its layer are shuffled."""
        return self.shares[name].shuffled[layer][head]

    @cached_property
    def jobs(self) -> dict[tuple[int, int], Job]:
        """The name that each head has earned, by layer and head."""
        return {
            place: next((job for job in JOBS if self.share(job.key, *place) >= job.least), MIXTURE)
            for place in self.all_heads
        }

    def job_of(self, layer: int, head: int) -> Job:
        """The name that a head has earned."""
        return self.jobs[layer, head]

    def count(self, job: Job) -> int:
        """How many heads have this name."""
        return list(self.jobs.values()).count(job)

    def by_chance(self, job: Job) -> int:
        """How many of as many heads with shuffled weights reach what the rule asks."""
        return sum(share >= job.least for layer in self.shares[job.key].shuffled for share in layer)

    def as_json(self) -> dict:
        """As it is kept: see `from_json`."""
        return {name: vars(share) for name, share in self.shares.items()}

    @classmethod
    def from_json(cls, kept: Mapping[str, Mapping]) -> "HeadJobs":
        """What was kept."""
        return cls({name: Share(**share) for name, share in kept.items()})


# The texts.

ANIMALS = ("cat", "dog", "horse", "bird", "child", "lion")
THINGS = ("mat", "table", "chair", "box", "wall", "bench")
WITH_IT = ("The {first} sat near the {second} because it was", "The {first} stood behind the {second} and it")
PEOPLE = ("Mary", "John", "Tom", "Anna")
WITH_NAMES = (
    "When {first} and {second} went to the store, {again} gave a drink to",
    "Then {first} and {second} had a long talk, and {again} said to",
)
SAID_TOGETHER = 4  # plain sentences, for what needs several
PLAIN = (
    "My sister bought a red bicycle and rode it to school every day.",
    "Rain fell on the old town while the baker opened his shop.",
    "Every morning two geese walk across our garden to the pond.",
    "A train left the station an hour late because of the snow.",
    "We cooked rice with beans, onions and a little pepper.",
    "Nobody in the village had seen the lighthouse after the storm.",
    "When the music stopped, people looked at each other and laughed.",
    "His grandmother kept letters in a blue box under the bed.",
    "Water boils at a lower temperature on a high mountain.",
    "In spring the river rises and covers the lower fields.",
    "Most students finished the exam before the bell rang.",
    "Our neighbour plays the violin badly but with great joy.",
)


@dataclass(frozen=True)
class SentenceWithIt:
    """A sentence with two nouns before its “it”."""

    text: str
    nouns: tuple[str, str]


def sentences_with_it() -> list[SentenceWithIt]:
    """Two sentences, filled with animals and things in either order, and with two animals."""
    made = []
    for firsts, seconds in ((ANIMALS, THINGS), (THINGS, ANIMALS), (ANIMALS, ANIMALS)):
        for sentence, (i, first), (j, second) in product(WITH_IT, enumerate(firsts), enumerate(seconds)):
            if (i + j) % 2 == 0 and first != second:
                made.append(SentenceWithIt(sentence.format(first=first, second=second), (first, second)))
    return made


@dataclass(frozen=True)
class SentenceWithNames:
    """A sentence with two names, one of which comes `again` before its last word."""

    text: str
    again: str


def sentences_with_names() -> list[SentenceWithNames]:
    """Two sentences, filled with any two people in either order, of whom the first or the second comes again."""
    return [
        SentenceWithNames(sentence.format(first=first, second=second, again=again), again)
        for sentence, (first, second) in product(WITH_NAMES, permutations(PEOPLE, 2))
        for again in (first, second)
    ]


def paragraphs() -> list[str]:
    """The plain sentences, a few at a time."""
    return [" ".join(PLAIN[at : at + SAID_TOGETHER]) for at in range(0, len(PLAIN), SAID_TOGETHER)]
