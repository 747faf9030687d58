"""Where a running example comes from: what every source of it answers, and what is said of weights that are trained.

Reading order: what is chosen (`Chosen`), where attention begins (`ExampleInputs`), what a source answers (`Source`),
and what a layer of a trained model tells (`TrainedLayer`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.base.errors import Phrase
from attention_core.learning.tasks import Task
from attention_core.learning.training import TrainingSettings
from attention_core.model.transformer import Transformer
from attention_core.one_head.heads import MultiHeadAttention, SlicedHeads, thirds
from attention_core.one_head.masks import causal_mask
from attention_core.text.embeddings import Rotary
from attention_core.text.tokens import Unit
from lessons.example.edits import Edits
from lessons.example.real_model import RealModel
from lessons.screen import Limit, Message, Percent, format_value, message

WeightKind = Literal["normal", "small", "linear"]

DEFAULT_SENTENCE = "The cat sat on the mat"
MOST_UPDATES = 600  # that a model of the lessons is trained for


def first_shown(count: int) -> Message:
    """That of a long text only the first tokens are shown."""
    return message("The picture shows the first {most} tokens, so that every number can be read.", most=count)


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What the random numbers of an example depend on. `sentence_of_batch` counts from 1."""

    d_model: int = 4
    d_k: int = 2
    d_v: int = 2
    n_heads: int = 1
    seed: int = 42
    weight_kind: WeightKind = "normal"
    sentence_of_batch: int = 1


@dataclass(frozen=True, kw_only=True)
class Chosen(Sizes):
    """What the learner chose of an example.

    `source` names where it comes from. `text` is the sentence, where it can be typed; a model's own when it is empty.
    A small model is trained with these very sizes and seen after so many `updates`, in one `layer`, counted from 1;
    `train_mask` and `train_scaling` say how it is trained, `causal` and `scaling` how its weights are used. `own` is
    the visitor's run, `real_model` the language model, where it is on this machine, whose heads are shown `turned` for
    the text or as they are stored. `edits` are numbers set by hand in the place of others; they stay when anything else
    is chosen anew.
    """

    source: str = "journey"
    text: str = DEFAULT_SENTENCE
    unit: Unit = "words"
    causal: bool = True
    scaling: bool = True
    updates: int = MOST_UPDATES
    layer: int = 1
    train_mask: bool = True
    train_scaling: bool = True
    own: TrainingSettings | None = None
    real_model: RealModel | None = None
    turned: bool = True
    edits: Edits = ()

    def may_attend(self, n_tokens: int) -> Bool[Tensor, "tokens tokens"] | None:
        """The causal mask, where it is chosen."""
        return causal_mask(n_tokens) if self.causal else None


AnyChosen = TypeVar("AnyChosen", bound=Chosen)


@dataclass(frozen=True, eq=False)
class Drawn:
    """What attention starts from: one row of x for each token, and three maps, to be used as x @ W.

    A model may have positions that are not in x: `added` to what queries and keys are made of, or `rotary` ones, by
    which queries and keys are turned. A head of many features may be shown along other axes: `turn` is that of its
    queries and keys, `turn_v` that of its values, see `attention_core.one_head.turning`.
    """

    x: Float[Tensor, "tokens d_model"]
    W_q: Float[Tensor, "d_model all_d_k"]
    W_k: Float[Tensor, "d_model all_d_k"]
    W_v: Float[Tensor, "d_model all_d_v"]
    added: Float[Tensor, "tokens d_model"] | None = None
    rotary: Rotary | None = None
    turn: Float[Tensor, "heads d_k d_k"] | None = None
    turn_v: Float[Tensor, "heads d_v d_v"] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class ExampleInputs(Drawn):
    """Where an example begins: its choices with the sizes that are used, its tokens, its vectors and its maps.

    `row_ids` are equal for tokens that share one row of X. `notes` are sentences about what had to be changed in the
    text to make it fit. `trained` tells of the model that the weights belong to; None where they are random.
    """

    example: Chosen
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    row_ids: tuple[int, ...]
    notes: tuple[Message | Phrase, ...] = ()
    trained: "TrainedLayer | None" = None


def derived(tell: Callable[[Any], Any]) -> Any:
    """A property in the place of a value that others have written down."""
    return property(tell)


class Source(ABC):
    """One place that an example can come from; here what most of them answer.

    A link names it by its `key`, the menu by its `title`. The controls beside it are named: those of what a model
    `reads` and how far it is trained, what it `asks` besides, and what it asks in a fold (`more`).
    """

    key: str
    title: Message | str
    reads: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    begins: Mapping[str, Any] = {}  # what is chosen with it
    fixed: Sizes | None = None  # by a notebook
    limits: Mapping[str, Limit] = {}  # of sizes, where they differ from those of the others
    brings_sizes = False  # it is trained already: its sizes are its own, and no lesson gives it others
    needs_run = False  # it shows a run that only its visitor has
    takes_text = True  # no notebook has fixed the tokens
    cuts_text = False  # `tokenize` makes the tokens of the text
    cuts_words = False  # in pieces, where it does not know them
    writes_x = False  # somebody has written down X, which is neither drawn nor trained
    about_x: Message | None = None  # what such an X was written for, where no notebook says so
    first_head = 0  # that one looks at unless another is chosen
    causal = True  # its weights are used with the causal mask unless one asks for something else
    task: Task | None = None  # that its model learns
    asking: tuple[str, ...] = ()  # the tokens whose rows it is about; none where all are alike
    retired = False  # only a link opens it: it is not offered

    def of(self, run: TrainingSettings | None) -> "Source | None":
        """This source for a run of the visitor; None where it needs one and there is none."""
        return self

    @abstractmethod
    def inputs(self, example: Chosen) -> ExampleInputs:
        """Tokens, vectors and maps, and the choices as they were used."""

    def run(self, example: Chosen) -> TrainingSettings | None:
        """The run that trains the model of an example; None where nothing is trained."""
        return None

    def model(self, example: Chosen) -> Transformer | None:
        """The model of an example, as far as it is trained; None where the weights are random."""
        return None

    def with_model(self, example: Chosen, model: RealModel | None) -> Chosen:
        """The same example in a process that has this real model, or none."""
        return example

    def n_layers(self, example: Chosen) -> int:
        """How many layers of its model can be looked at."""
        model = self.model(example)
        return 1 if model is None else model.config.n_layers

    def attention(self, example: Chosen) -> MultiHeadAttention | None:
        """The heads of the layer that was chosen; None where no model has any."""
        model = self.model(example)
        return None if model is None else projected(model.layers[example.layer - 1].attention)

    def resized(self, example: AnyChosen, d_model: int, n_heads: int) -> AnyChosen:
        """The choices, with these sizes where the source trains its model with what is chosen."""
        return example

    def earlier(self, example: Chosen) -> Sequence[int]:
        """The updates before those of an example after which its model can be seen."""
        return ()

    def joined(self, tokens: Sequence[str]) -> str:
        """Tokens, written as one types them."""
        return " ".join(tokens)

    def together(self, first: ExampleInputs, second: ExampleInputs) -> tuple[tuple[int, ...], Tensor]:
        """The ids and the rows of X of two sentences, one after the other."""
        return first.ids + second.ids, torch.cat([first.x, second.x])


def projected(heads: MultiHeadAttention | SlicedHeads) -> MultiHeadAttention:
    """Heads with one packed map each for q, k and v. One that reads a slice has zeros where it reads nothing."""
    if not isinstance(heads, SlicedHeads):
        return heads
    W_q, W_k, W_v = (torch.block_diag(*W) for W in thirds(heads.W_qkv))
    return MultiHeadAttention(
        W_q=W_q, W_k=W_k, W_v=W_v, W_o=heads.W_o, b_o=heads.b_o, n_heads=heads.n_heads, rotary=heads.rotary
    )


NO_NAME_EARNED = message("no name")


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


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainedLayer(ABC):
    """One layer of a trained model, counted from 0, as it reads some tokens.

    `embedded` are the rows of its embedding table that the tokens fetch, before positions, norms and layers.
    """

    layer: int
    n_heads: int
    embedded: Float[Tensor, "tokens d_model"]

    @abstractmethod
    def origin(self) -> Message:
        """What made the weights, and how well they do."""

    @abstractmethod
    def job(self, head: int) -> Job | None:
        """What a head does best; None where that was not measured."""

    def label(self, head: int) -> Message:
        """What a head is called beside others of its layer: by the name that it has earned."""
        job = self.job(head)
        earned = NO_NAME_EARNED if job is None or not job.done else job.name
        return message("{head}: {name}", head=head + 1, name=earned)

    @property
    @abstractmethod
    def input_description(self) -> tuple[Message, ...]:
        """What the model makes of the rows of its embedding table before they enter this layer's heads."""

    @property
    def so_far(self) -> Message | None:
        """How good a model is by now that is being trained."""
        return None

    @property
    def untrained(self) -> bool:
        """True for a model that has had no training step yet."""
        return False

    @property
    def sliced(self) -> bool:
        """True where each head reads only a slice of X."""
        return False

    @property
    def best(self) -> Job:
        """What is done best in this layer: by a head that has earned a name, where one has."""
        jobs = (job for head in range(self.n_heads) if (job := self.job(head)) is not None)
        return max(jobs, key=lambda job: (job.done, job.share))

    def does(self, head: int) -> Message:
        """What a head has been measured to do."""
        job = self.job(head)
        if job is None:
            return NO_NAME_EARNED
        numbers = {"role": job.role, "share": Percent(job.share), "texts": job.texts}
        even = {"even": Percent(job.even)}
        alike = format_value(numbers["share"]) == format_value(even["even"])
        if job.done:
            return message(
                "This head has learned to {role}: in {texts}, {share} of its weight goes there. Spread evenly, "
                "it would be {even}.",
                **numbers,
                **even,
            )
        if self.untrained and alike:
            return message(
                "Untrained: in {texts}, {share} of its weight falls where a head trained to {role} would put "
                "it, just as if it were spread evenly.",
                **numbers,
            )
        if self.untrained:
            return message(
                "Untrained: in {texts}, {share} of its weight falls where a head trained to {role} would put "
                "it. Spread evenly, it would be {even}.",
                **numbers,
                **even,
            )
        if alike:
            return message(
                "This head has not learned to {role}: in {texts}, {share} of its weight goes there, just as if "
                "it were spread evenly.",
                **numbers,
            )
        return message(
            "This head has not learned to {role}: in {texts}, {share} of its weight goes there. Spread evenly, "
            "it would be {even}.",
            **numbers,
            **even,
        )
