"""The running example: a few choices from which everything on the lesson pages is computed.

Reading order: what can be chosen (`Example`), what follows from it (`ExampleTrace`, `run_example`), and whose weights
they are. Random numbers come from `notebooks`, trained ones from `trained`.
"""

import functools
import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace, attend
from attention_core.embeddings import rotate
from attention_core.errors import Phrase
from attention_core.heads import Heads, MultiHeadAttention, SlicedHeads, split_heads, thirds
from attention_core.language_model import language_model
from attention_core.masks import causal_mask
from attention_core.model import TinyTransformer
from attention_core.randomness import MAX_SEED
from attention_core.tokens import Unit, Vocabulary, clean_text, tokenize
from attention_core.training import TrainingSettings
from lessons.example.edits import LETTER_OF, Edits, apply_edits, waiting_notes
from lessons.example.language_model_layer import LANGUAGE, SENTENCE_READ, LayerOfReader
from lessons.example.language_model_text import shown
from lessons.example.presets import PRESETS, Drawn, RandomSource, Sizes
from lessons.example.task_models import TASK_SOURCES, LearntExample, TaskSource, Trained, example_of_run, recorded
from lessons.example.trained_layer import TrainedLayer
from lessons.screen.choice import Limit
from lessons.screen.format import names
from lessons.screen.message import Message, Token, message

MINE = "mine"
Source = RandomSource | TaskSource | Literal["language", "mine"]

MAX_TOKENS = 12
FIRST_SHOWN = message("The picture shows the first {most} tokens, so that every number can be read.", most=MAX_TOKENS)
MOST_TRACES = 8
DEFAULT_SENTENCE = "The cat sat on the mat"


LIMITS = {
    "d_model": Limit(1, 12),
    "d_k": Limit(1, 8),
    "d_v": Limit(1, 8),
    "n_heads": Limit(1, 4),
    "seed": Limit(0, MAX_SEED),
    "sentence_of_batch": Limit(1, 2),
}
LIMITS_OF_MODELS = dict.fromkeys(("d_model", "d_k", "d_v", "n_heads"), Limit(1, 16))  # as the lesson on heads has them
MOST_UPDATES = max(learnt.training["steps"] for learnt in TASK_SOURCES.values())


@dataclass(frozen=True, kw_only=True)
class Example(Sizes):
    """What the learner chose. Raises ValueError for a source there is not, and for a size outside its limits.

    `source` names one of the `PRESETS`, whose weights are random: an example of a notebook, or a sentence of one's
    own. Or it names one of the `TASK_SOURCES`: a small model that is trained with these very sizes, seen after so
    many `updates`, in one `layer`, counted from 1; `train_mask` and `train_scaling` say how it is trained, `causal`
    and `scaling` how its weights are used. Or it is LANGUAGE: one layer of the language model; or MINE: one
    of the run `own`. `text` is the sentence, where it can be typed; the model's own when it is empty. Some notebooks
    fix all sizes; what is chosen here then has no effect, and those sizes may lie outside the limits. `edits` are
    numbers set by hand in the place of others; they stay when anything else is chosen anew.
    """

    source: Source = "journey"
    text: str = DEFAULT_SENTENCE
    unit: Unit = "words"
    causal: bool = True
    scaling: bool = True
    updates: int = MOST_UPDATES
    layer: int = 1
    train_mask: bool = True
    train_scaling: bool = True
    own: TrainingSettings | None = None
    edits: Edits = ()

    def __post_init__(self):
        if self.brings_sizes:
            return
        if self.source not in PRESETS and self.source not in TASK_SOURCES:
            raise ValueError(
                f"source is one of {', '.join([*PRESETS, *TASK_SOURCES, LANGUAGE])}, but got {self.source}"
            )
        learnt = self.source in TASK_SOURCES
        fixed = None if learnt else PRESETS[self.source].fixed
        for name, limit in (LIMITS | (LIMITS_OF_MODELS if learnt else {})).items():
            value = getattr(self, name)
            if not limit.least <= value <= limit.most and value != getattr(fixed, name, None):
                raise ValueError(f"{name} goes from {limit.least} to {limit.most}, but got {value}")
        if not 0 <= self.updates <= MOST_UPDATES:
            raise ValueError(f"updates go from 0 to {MOST_UPDATES}, but got {self.updates}")

    @property
    def brings_sizes(self) -> bool:
        """True for a model that is trained already: its sizes are its own, and no lesson gives it others."""
        return self.source == LANGUAGE or (self.source == MINE and self.own is not None)


def learnt_example(source: TaskSource, **choices: object) -> Example:
    """The example of a small model, with the sizes that learn its task where nothing else is chosen."""
    return Example(**{"source": source, "text": ""} | dict(TASK_SOURCES[source].sizes) | choices)


@dataclass(frozen=True, eq=False, kw_only=True)
class ExampleTrace(Drawn):
    """Everything that follows from an example, in the order in which it is computed.

    `heads` has the axis of the heads first, also when there is one head. `notes` are sentences
    about what had to be changed in the text to make it fit, and about edits that find no place. `row_ids` are equal
    for tokens that share one row of X. `trained` tells of the model that the weights belong to; None where they are
    random.
    """

    example: Example
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    scale: float
    heads: AttentionTrace
    row_ids: tuple[int, ...]
    notes: tuple[Message | Phrase, ...] = ()
    trained: TrainedLayer | None = None

    @property
    def fetched(self) -> Float[Tensor, "tokens d_model"]:
        """The rows that the tokens fetch from the embedding table; X itself unless a model adds something to them."""
        return self.x if self.row_ids == self.ids else self.trained.embedded

    @cached_property
    def names(self) -> tuple[Token, ...]:
        """The tokens as sentences name them."""
        return names(self.tokens)


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
    """What made the rows of X, where no notebook wrote them down."""
    edited = any(edit.matrix == "x" for edit in trace.example.edits)
    if trace.trained is not None:
        return by_hand(trace.trained.origin()) if edited else trace.trained.origin()
    if trace.example.source == "journey":
        return None
    if edited:
        return message(
            "Untrained: random vectors (seed {seed}), some of them changed by hand.", seed=trace.example.seed
        )
    return message("Untrained: random vectors (seed {seed}).", seed=trace.example.seed)


def by_hand(whose: Message) -> Message:
    """The same where some of the numbers are the learner's."""
    return message("{whose} Some numbers have been changed by hand since.", whose=whose)


@dataclass(frozen=True, eq=False)
class ExampleInputs:
    """Where an example begins: its choices with the sizes that are used, its tokens, its vectors and its maps."""

    example: Example
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    row_ids: tuple[int, ...]
    drawn: Drawn
    notes: tuple[Message | Phrase, ...]
    trained: TrainedLayer | None = None


@functools.lru_cache(maxsize=MOST_TRACES)
@torch.inference_mode(False)  # it is kept, so it must be fit for every use
def run_example(example: Example) -> ExampleTrace:
    """Compute the whole example: tokens, vectors, projections and attention.

    The example in the trace has the sizes that were used: those of the notebook where it fixes them. The sidebar and
    the page ask for the same one, so the last few are kept, for all visitors: never change one.
    """
    return run_afresh(example)


def run_afresh(example: Example) -> ExampleTrace:
    """The same, which nobody keeps."""
    given_by = language_model_inputs if example.source == LANGUAGE else trained_inputs
    given = random_inputs(example) if example.source in PRESETS else given_by(example)
    example = given.example
    drawn, waiting = with_edits(given.drawn, example.edits, given.row_ids)
    return ExampleTrace(
        **vars(drawn),
        example=example,
        tokens=given.tokens,
        ids=given.ids,
        row_ids=given.row_ids,
        scale=scale_of(example),
        heads=heads_of(example, drawn),
        notes=(*given.notes, *waiting),
        trained=given.trained,
    )


def scale_of(example: Example) -> float:
    """What the scores are multiplied by."""
    return 1 / math.sqrt(example.d_k) if example.scaling else 1.0


def heads_of(example: Example, drawn: Drawn) -> AttentionTrace:
    """Every head on these vectors with these maps."""
    asking = drawn.x if drawn.added is None else drawn.x + drawn.added
    q, k, v = (
        split_heads(x @ W, example.n_heads) for x, W in ((asking, drawn.W_q), (asking, drawn.W_k), (drawn.x, drawn.W_v))
    )
    if drawn.rotary:
        q, k = rotate(q), rotate(k)
    may_attend = causal_mask(len(drawn.x)) if example.causal else None
    return attend(q, k, v, may_attend, scale=scale_of(example))


def random_inputs(example: Example) -> ExampleInputs:
    """Random numbers: those of a notebook, or drawn from the seed for a sentence."""
    preset = PRESETS[example.source]
    if preset.fixed:
        own = {"sentence_of_batch": example.sentence_of_batch}  # the only choice that a notebook leaves
        example = replace(example, **{f.name: getattr(preset.fixed, f.name) for f in fields(Sizes)} | own)
    tokens, notes = (preset.tokens, ()) if preset.tokens else sentence_tokens(example)
    ids = preset.ids or tuple(Vocabulary.in_order_of_appearance(tokens).encode(tokens))
    return ExampleInputs(example, tokens, ids, ids, preset.draw(example, ids), notes)


def trained_inputs(example: Example) -> ExampleInputs:
    """What enters one layer of a small model after so many updates, and that layer's maps."""
    learnt = learnt_by(example)
    tokens, notes = learnt.tokens(example.text or learnt.sentence)
    recording = recorded(model_settings(example), example.updates)
    model = recording.model(example.updates)
    ids = torch.tensor(learnt.task.vocabulary.encode(tokens))
    layer = min(example.layer, len(model.layers)) - 1
    x, maps = model(ids).layers[layer].normed, projected(model.layers[layer].attention)
    updates = recording.reached(example.updates)
    trained = Trained(
        source=learnt,
        recording=recording,
        updates=updates,
        layer=layer,
        n_heads=example.n_heads,
        vocabulary=learnt.task.vocabulary,
        table=model.table,
        embedded=model.table[ids],
    )
    sizes = learnt.sizes if example.source == MINE else {}
    unit = "words" if learnt.words else "characters"
    example = replace(example, updates=updates, layer=layer + 1, unit=unit, **sizes)
    added = model.positions(len(tokens))[1]
    drawn = Drawn(x, maps.W_q, maps.W_k, maps.W_v, added=added, rotary=maps.rotary is not None)
    whole = torch.equal(x, trained.embedded) and drawn.added is None and not drawn.rotary  # the token alone makes x
    ids = tuple(ids.tolist())
    return ExampleInputs(example, tokens, ids, ids if whole else tuple(range(len(ids))), drawn, notes, trained)


def learnt_by(example: Example) -> LearntExample:
    """The task that the model of an example learns."""
    return example_of_run(example.own) if example.source == MINE else TASK_SOURCES[example.source]


def projected(heads: Heads) -> MultiHeadAttention:
    """Heads with one packed map each for q, k and v. One that reads a slice has zeros where it reads nothing."""
    if not isinstance(heads, SlicedHeads):
        return heads
    W_q, W_k, W_v = (torch.block_diag(*W) for W in thirds(heads.W_qkv))
    return MultiHeadAttention(
        W_q=W_q, W_k=W_k, W_v=W_v, W_o=heads.W_o, b_o=heads.b_o, n_heads=heads.n_heads, rotary=heads.rotary
    )


def model_of(example: Example) -> TinyTransformer:
    """The model of an example, as far as it is trained."""
    if example.source == LANGUAGE:
        return language_model().model
    return recorded(model_settings(example), example.updates).model(example.updates)


def language_model_inputs(example: Example) -> ExampleInputs:
    """What enters one layer of the language model as it reads a text, and that layer's maps."""
    reader, clean = language_model(), clean_text(example.text or SENTENCE_READ)
    encoded, config = reader.encode(clean.text), reader.model.config
    ids, layer = encoded.ids[:MAX_TOKENS], min(example.layer, config.n_layers) - 1
    notes = list(clean.notes)
    if len(encoded.ids) > MAX_TOKENS:
        notes.append(FIRST_SHOWN)
    x, maps = reader.trace(ids).layers[layer].normed, reader.model.layers[layer].attention
    example = replace(
        example,
        layer=layer + 1,
        d_model=config.d_model,
        d_k=config.query_features,
        d_v=config.value_features,
        n_heads=config.n_heads,
    )
    trained = LayerOfReader(
        layer=layer,
        n_heads=config.n_heads,
        vocabulary=Vocabulary(reader.pieces.tokens),
        table=reader.model.table,
        embedded=reader.model.table[list(ids)],
    )
    drawn = Drawn(x, maps.W_q, maps.W_k, maps.W_v, rotary=maps.rotary is not None)
    return ExampleInputs(
        example,
        tuple(map(shown, encoded.tokens[:MAX_TOKENS])),
        ids,
        tuple(range(len(ids))),
        drawn,
        tuple(notes),
        trained,
    )


def n_layers_of(example: Example) -> int:
    """How many layers the model of an example has."""
    if example.source == LANGUAGE:
        return language_model().model.config.n_layers
    return 1 if example.source in PRESETS else model_settings(example).model.n_layers


def model_settings(example: Example) -> TrainingSettings:
    """The run that trains the model of an example with these sizes."""
    if example.source == MINE:
        return example.own
    learnt = TASK_SOURCES[example.source]
    return learnt.settings(example, causal=example.train_mask, scaling=example.train_scaling)


def unedited(trace: ExampleTrace) -> ExampleTrace:
    """The same example without the numbers changed by hand."""
    return run_example(replace(trace.example, edits=())) if trace.example.edits else trace


def sentence_tokens(example: Example) -> tuple[tuple[str, ...], tuple[Message | Phrase, ...]]:
    """The learner's tokens, at most MAX_TOKENS, and notes on what was changed. There is always at least one."""
    clean = clean_text(example.text)
    tokens, notes = tokenize(clean.text, example.unit), list(clean.notes)
    if not tokens:
        notes.append(
            message(
                "There is no word to show yet: type a sentence. Until then this is “{sentence}”.",
                sentence=DEFAULT_SENTENCE,
            )
        )
        tokens = tokenize(DEFAULT_SENTENCE, example.unit)
    elif len(tokens) > MAX_TOKENS:
        notes.append(FIRST_SHOWN)
    return tuple(tokens[:MAX_TOKENS]), tuple(notes)


def with_edits(drawn: Drawn, edits: Edits, ids: tuple[int, ...]) -> tuple[Drawn, tuple[Message, ...]]:
    """The numbers set by hand in the place of those drawn, and notes on those that find no place."""
    if not edits:
        return drawn, ()
    matrices = {name: getattr(drawn, name) for name in LETTER_OF}
    return replace(drawn, **apply_edits(matrices, edits, ids)), waiting_notes(matrices, edits)
