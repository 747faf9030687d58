"""The running example: a few choices from which everything on the lesson pages is computed.

Reading order: what can be chosen (`Example`), what follows from it (`ExampleTrace`, `run_example`), and whose weights
they are. Where it comes from, its source says (`SOURCES`).
"""

import functools
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.base.errors import TechnicalError
from attention_core.base.randomness import MAX_SEED
from attention_core.learning.training import TrainingSettings
from attention_core.model.small_model import check_range
from attention_core.one_head.attention import AttentionTrace
from attention_core.one_head.head import one_head
from attention_core.one_head.heads import sets_of_keys, split_heads
from attention_core.one_head.masks import causal_mask
from attention_core.one_head.turning import turn_for_scores, turn_for_values
from lessons.example.edits import LETTER_OF, Edits, apply_edits, waiting_notes
from lessons.example.presets import EVERY_PRESET, RandomSource
from lessons.example.real_layer import LayerOfRealModel, RealModelSource
from lessons.example.real_model import head_name
from lessons.example.source import MOST_UPDATES, Chosen, Drawn, ExampleInputs, Source
from lessons.example.task_models import EVERY_TASK, TASK_SOURCES, OwnRun, TaskSource
from lessons.screen import Limit, Message, Token, message, names

SourceKey = RandomSource | TaskSource | Literal["language", "mine"]
SOURCES: dict[str, Source] = {
    source.key: source for source in (*EVERY_PRESET, *EVERY_TASK, RealModelSource(), OwnRun())
}

MOST_TRACES = 8
MOST_FEATURES = 16  # that are shown one by one


LIMITS = {
    "d_model": Limit(1, 12),
    "d_k": Limit(1, 8),
    "d_v": Limit(1, 8),
    "n_heads": Limit(1, 4),
    "seed": Limit(0, MAX_SEED),
    "sentence_of_batch": Limit(1, 2),
}


@dataclass(frozen=True, kw_only=True)
class Example(Chosen):
    """What the learner chose. Raises InputError for a source there is not, and for a size outside its limits.

    Some notebooks fix all sizes; what is chosen here then has no effect, and those sizes may lie outside the limits.
    """

    source: SourceKey = "journey"

    def __post_init__(self):
        if self.source not in SOURCES or SOURCES[self.source].of(self.own) is None:
            known = ", ".join(key for key, source in SOURCES.items() if not source.needs_run)
            raise TechnicalError("source is one of {known}, but got {source}", known=known, source=self.source)
        if self.given_by.brings_sizes:
            return
        for name, limit in (LIMITS | dict(self.given_by.limits)).items():
            value = getattr(self, name)
            if value != getattr(self.given_by.fixed, name, None):
                check_range(name, value, limit.least, limit.most)
        check_range("updates", self.updates, 0, MOST_UPDATES)

    @property
    def given_by(self) -> Source:
        """Where its tokens, vectors and weights come from."""
        source = SOURCES[self.source]
        return source.of(self.own) or source


def learnt_example(source: TaskSource, **choices: Any) -> Example:
    """The example of a small model, with the sizes that learn its task where nothing else is chosen."""
    usual: dict[str, Any] = {"source": source, "text": "", **TASK_SOURCES[source].sizes}
    return Example(**usual | choices)


@dataclass(frozen=True, eq=False, kw_only=True)
class ExampleTrace(ExampleInputs):
    """Everything that follows from an example, in the order in which it is computed.

    `heads` has the axis of the heads first, also when there is one head. `notes` tell of edits that find no place, too.
    """

    example: Example
    scale: float
    heads: AttentionTrace

    @property
    def fetched(self) -> Float[Tensor, "tokens d_model"]:
        """The rows that the tokens fetch from the embedding table; X itself unless a model adds something to them."""
        return self.x if self.trained is None or self.row_ids == self.ids else self.trained.embedded

    @cached_property
    def names(self) -> tuple[Token, ...]:
        """The tokens as sentences name them."""
        return names(self.tokens)

    @cached_property
    def kv_heads(self) -> int:
        """How many heads have keys and values of their own."""
        return sets_of_keys(self.W_k, self.W_v, self.example.n_heads)

    def called(self, head: int) -> int | str:
        """What sentences call a head: by layer and head in a real model, both from 0; else by its number, from 1."""
        return head_name(self.trained.layer, head) if isinstance(self.trained, LayerOfRealModel) else head + 1


LOOKS_BACK_AT = 3  # tokens at least, where one asks that has something to say


def first_query(trace: ExampleTrace, head: int = 0) -> int:
    """The token that asks until another is chosen, counted from 0: the last of those that its source is about.

    Where it is about none of the tokens, that whose weight is spread most among three or more, by the entropy of its
    causal row: a switch of the mask, or a number changed by hand, leaves the choice as it is. The last token is not
    chosen where another can be: no mask and nothing that comes later ever changes its row.
    """
    places = range(len(trace.tokens))
    about = [place for place in places if trace.tokens[place].strip() in trace.example.given_by.asking]
    if about:
        return ([place for place in about if place != places[-1]] or about)[-1]
    several = places[LOOKS_BACK_AT - 1 : -1]
    if not several:
        return places[-1]
    scores = unedited(trace).heads.scaled[head].masked_fill(~causal_mask(len(places)), -math.inf)
    entropies = torch.special.entr(scores.softmax(dim=-1)).sum(dim=-1)
    return max(several, key=lambda place: float(entropies[place]))


def projection_of(trace: ExampleTrace, role: str, head: int) -> Float[Tensor, "d_model d_head"]:
    """The columns of W_q, W_k or W_v (role "q", "k" or "v") that belong to one head."""
    packed = getattr(trace, f"W_{role}")
    return packed.unflatten(-1, (trace.heads.q.shape[0], -1))[:, head]


def whose_weights(trace: ExampleTrace) -> Message:
    """What made the weights of this example: chance or training, and where there are some, the learner's edits."""
    if trace.trained is not None:
        return by_hand(trace.trained.origin()) if trace.example.edits else trace.trained.origin()
    if trace.example.edits:
        return message(
            "Untrained: random weights (seed {seed}), some of them changed by hand.", seed=trace.example.seed
        )
    return message("Untrained: random weights (seed {seed}).", seed=trace.example.seed)


def whose_vectors(trace: ExampleTrace) -> Message | None:
    """What made the rows of X, where no notebook did."""
    edited = any(edit.matrix == "x" for edit in trace.example.edits)
    if trace.trained is not None:
        return by_hand(trace.trained.origin()) if edited else trace.trained.origin()
    if trace.example.given_by.writes_x:
        about = trace.example.given_by.about_x
        return by_hand(about) if about and edited else about
    if edited:
        return message(
            "Untrained: random vectors (seed {seed}), some of them changed by hand.", seed=trace.example.seed
        )
    return message("Untrained: random vectors (seed {seed}).", seed=trace.example.seed)


def by_hand(whose: Message) -> Message:
    """A sentence about whose weights these are, where some of the numbers are the learner's."""
    return message("{whose} Some numbers have been changed by hand since.", whose=whose)


@functools.lru_cache(maxsize=MOST_TRACES)
@torch.inference_mode(False)  # it is kept, so it must be fit for every use
def run_example(example: Example) -> ExampleTrace:
    """Compute the whole example: tokens, vectors, projections and attention.

    The example in the trace has the sizes that were used: those of the notebook where it fixes them. The sidebar and
    the page ask for the same one, so the last few are kept, for all visitors: never change one.
    """
    return run_afresh(example)


def run_afresh(example: Example) -> ExampleTrace:
    """Run an example without keeping the result."""
    given = example.given_by.inputs(example)
    used = given.example
    drawn, waiting = with_edits(given, used.edits, given.row_ids)
    heads = heads_of(used, drawn)
    if used.turned and heads.q.shape[-1] > MOST_FEATURES:
        drawn = turned(drawn, heads)
        heads = heads_of(used, drawn)
    inputs: dict[str, Any] = vars(drawn) | {"notes": (*given.notes, *waiting)}
    return ExampleTrace(**inputs, scale=scale_of(used), heads=heads)


def turned(drawn: Drawn, heads: AttentionTrace) -> Drawn:
    """The same, each head seen along the axes in which few features tell most of these scores and values."""
    turns = [turn_for_scores(q, k) for q, k in zip(heads.q, heads.k, strict=True)]
    return replace(drawn, turn=torch.stack(turns), turn_v=torch.stack([turn_for_values(v) for v in heads.v]))


def as_stored(trace: ExampleTrace) -> ExampleTrace:
    """The same example along the axes in which its model keeps its heads."""
    return trace if trace.turn is None else run_example(replace(trace.example, turned=False))


def scale_of(example: Chosen) -> float:
    """What the scores are multiplied by."""
    return 1 / math.sqrt(example.d_k) if example.scaling else 1.0


def heads_of(example: Chosen, drawn: Drawn) -> AttentionTrace:
    """Every head on these vectors with these maps."""
    # Each by itself, as its lesson computes it: not even a last digit differs.
    return AttentionTrace.stack(one_head(**inputs_of_head(example, drawn, head)) for head in range(example.n_heads))


def inputs_of_head(example: Chosen, drawn: Drawn, head: int) -> dict[str, Any]:
    """What one head is computed from, by the names of `one_head`; what it does not have is left out, but for a mask."""
    maps = {f"W_{role}": split_heads(getattr(drawn, f"W_{role}"), example.n_heads)[head] for role in "qkv"}
    inputs = {"x": drawn.x, **maps, "may_attend": example.may_attend(len(drawn.x)), "scale": scale_of(example)}
    inputs |= {"positions": drawn.added, "rotary": drawn.rotary}
    if drawn.turn is not None and drawn.turn_v is not None:
        inputs |= {"turn": drawn.turn[head], "turn_v": drawn.turn_v[head]}
    return {name: value for name, value in inputs.items() if value is not None or name == "may_attend"}


def model_settings(example: Example) -> TrainingSettings:
    """The run that trains the model of an example with these sizes."""
    return example.given_by.run(example)  # pyright: ignore[reportReturnType]  # asked only where one is trained


def unedited(trace: ExampleTrace) -> ExampleTrace:
    """An example without the numbers changed by hand."""
    return run_example(replace(trace.example, edits=())) if trace.example.edits else trace


def with_edits(drawn: Drawn, edits: Edits, ids: tuple[int, ...]) -> tuple[Drawn, tuple[Message, ...]]:
    """The numbers set by hand in the place of those drawn, and notes on those that find no place."""
    if not edits:
        return drawn, ()
    matrices = {name: getattr(drawn, name) for name in LETTER_OF}
    return replace(drawn, **apply_edits(matrices, edits, ids)), waiting_notes(matrices, edits)
