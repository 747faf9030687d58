"""Whose weights a head of the lessons has, when they are trained: what the lessons and the sidebar say of it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from attention_core.tokens import Vocabulary
from lessons.screen.format import format_value
from lessons.screen.message import Message, Percent, message

NO_NAME_EARNED = message("no name earned")


@dataclass(frozen=True)
class Job:
    """One thing that a head may do, and the share of its weight that it was measured to put there.

    `name` is what a head is called that does it, `role` completes “learnt to …”; `even` is the share of even attention.
    All was measured in `texts`.
    """

    name: Message
    role: Message
    share: float
    even: float
    done: bool  # the head has earned the name
    texts: Message

    @property
    def label(self) -> Message:
        """The name that a head has earned, with its share."""
        return message("{name}, {share}", name=self.name, share=Percent(self.share)) if self.done else NO_NAME_EARNED


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainedLayer(ABC):
    """One layer of a trained model, counted from 0, as it reads some tokens.

    `embedded` are the rows of its embedding `table` that the tokens fetch, before positions, norms and layers.
    """

    layer: int
    n_heads: int
    vocabulary: Vocabulary
    table: Float[Tensor, "vocabulary d_model"]
    embedded: Float[Tensor, "tokens d_model"]

    @abstractmethod
    def origin(self) -> Message:
        """What made the weights, and how well they do."""

    @abstractmethod
    def job(self, head: int) -> Job:
        """What a head does best."""

    @property
    @abstractmethod
    def input_description(self) -> tuple[Message, ...]:
        """What the model makes of the rows of its embedding table before they enter this layer's heads."""

    @property
    def untrained(self) -> bool:
        """True for a model that has had no update yet."""
        return False

    @property
    def sliced(self) -> bool:
        """True where each head reads only a slice of X."""
        return False

    @property
    def best(self) -> Job:
        """What is done best in this layer: by a head that has earned a name, where one has."""
        return max((self.job(head) for head in range(self.n_heads)), key=lambda job: (job.done, job.share))

    def does(self, head: int) -> Message:
        """What a head has been measured to do."""
        job = self.job(head)
        numbers = {"role": job.role, "share": Percent(job.share), "texts": job.texts}
        even = {"even": Percent(job.even)}
        alike = format_value(numbers["share"]) == format_value(even["even"])
        if job.done:
            return message(
                "This head has learnt to {role}: in {texts} {share} of its weight goes there. Spread evenly it "
                "would be {even}.",
                **numbers,
                **even,
            )
        if self.untrained and alike:
            return message(
                "Untrained: in {texts} {share} of its weight is where it would have to be to {role}, as if it "
                "were spread evenly.",
                **numbers,
            )
        if self.untrained:
            return message(
                "Untrained: in {texts} {share} of its weight is where it would have to be to {role}. Spread "
                "evenly it would be {even}.",
                **numbers,
                **even,
            )
        if alike:
            return message(
                "This head has not learnt to {role}: in {texts} {share} of its weight goes there, as if it were "
                "spread evenly.",
                **numbers,
            )
        return message(
            "This head has not learnt to {role}: in {texts} {share} of its weight goes there. Spread evenly it "
            "would be {even}.",
            **numbers,
            **even,
        )
