"""A model that learns what pronouns stand for, one of its predictions, and every gradient of it."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from jaxtyping import Float

from attention_core.attention import AttentionTrace
from attention_core.backward import loss_backward, model_backward
from attention_core.evaluation import evaluate
from attention_core.gradients import ModelGradients
from attention_core.losses import CrossEntropyTrace
from attention_core.model import ModelTrace, TinyTransformer
from attention_core.randomness import generator
from attention_core.tasks import NO_TARGET, Batch, PronounTask
from attention_core.training import HELD_OUT, TrainingSettings, held_out_batch, predict
from attention_core.weights import model_with
from lessons.example.example import Example, learnt_example, model_settings
from lessons.example.task_models import TASK_SOURCES, recorded
from lessons.screen.format import names
from lessons.screen.message import Message, Percent, Token, message

PRONOUNS: PronounTask = TASK_SOURCES["pronouns"].task
PRONOUN_WORDS = PRONOUNS.vocabulary.tokens
UPDATES = (0, 20, 40, 60, 80, 100, 200, 300)

FORWARD_NAMES = ("q", "k", "v", "scores", "scaled", "masked", "weights", "output")
NumbersByName = dict[str, list[list[float]]]


@dataclass(frozen=True, eq=False)
class Learner:
    """A model after so many updates. The weights are in double precision, so that differences can be measured."""

    settings: TrainingSettings
    updates: int
    weights: Float[np.ndarray, " parameters"]

    @cached_property
    def model(self) -> TinyTransformer:
        """The model with these weights."""
        return model_with(self.settings.model, self.weights)

    @cached_property
    def accuracy(self) -> float:
        """The share of newly drawn sentences that it gets right."""
        return evaluate(self.settings.task, self.model, in_numpy(held_out_batch(self.settings))).accuracy


def settings_of_learner(example: Example) -> TrainingSettings:
    """The model with which the lessons open, whose sizes are so small that every number can be followed.

    Seed, mask and scaling are those of the running example.
    """
    return model_settings(
        learnt_example("pronouns", seed=example.seed, train_mask=example.causal, train_scaling=example.scaling)
    )


@lru_cache(maxsize=64)
def learner_after(settings: TrainingSettings, updates: int) -> Learner:
    """The model after so many updates, one of UPDATES. Everybody who asks for the same gets the same."""
    return Learner(settings, updates, recorded(settings, updates).weights[updates].astype(np.float64))


def whose_gradients(learner: Learner) -> Message:
    """What made these weights: chance, or training, and how well it has done."""
    seed = learner.settings.seed
    if learner.updates == 0:
        return message("Untrained: random weights (seed {seed}).", seed=seed)
    return message(
        "Trained to find the word that a pronoun stands for, {updates} updates from seed {seed}: right on {share} of "
        "{count} newly drawn sentences.",
        updates=learner.updates,
        seed=seed,
        share=Percent(learner.accuracy),
        count=HELD_OUT,
    )


def in_numpy(batch: Batch) -> Batch:
    """The sentences and answers of a batch in NumPy's arrays."""
    return Batch(batch.inputs.numpy(), batch.targets.numpy())


def sentence_with_pronoun(number: int) -> Batch:
    """The sentence of this number: seven words, and the answer at the last."""
    return in_numpy(PRONOUNS.batch(1, generator(number, "sentence with a pronoun")))


def next_words(batch: Batch) -> Batch:
    """The same sentence with an answer at every position: the word that comes next, as language models learn."""
    return Batch(batch.inputs, np.concatenate([batch.inputs[:, 1:], batch.targets[:, -1:]], axis=1))


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a model said of some sentences, how wrong it was, and every gradient of the loss."""

    learner: Learner
    batch: Batch
    trace: ModelTrace
    loss: CrossEntropyTrace
    gradients: ModelGradients

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The words of the first sentence."""
        return tuple(PRONOUN_WORDS[i] for i in self.batch.inputs[0].tolist())

    @cached_property
    def names(self) -> tuple[Token, ...]:
        """As sentences name them."""
        return names(self.tokens)

    @cached_property
    def asked(self) -> list[int]:
        """The positions of the first sentence whose predictions count in the loss."""
        return [position for position, target in enumerate(self.batch.targets[0].tolist()) if target != NO_TARGET]

    @cached_property
    def attention(self) -> AttentionTrace:
        """The one head of the one layer, on the first sentence."""
        return self.trace.layers[0].attention.heads.select(0).select(0)

    @cached_property
    def numbers(self) -> NumbersByName:
        """Every matrix of the first sentence, and under d_… its gradient."""
        block, back = self.trace.layers[0], self.gradients.layers[0]
        heads, attention = self.learner.model.layers[0].attention, back.attention.attention
        projections = back.attention.projections
        arrays = {
            "x": block.x[0],
            "W_o": heads.W_o,
            "W_unembed": self.learner.model.W_unembed,
            "b_unembed": self.learner.model.b_unembed[None],
            "after": block.output[0],
            "logits": self.trace.logits[0],
            "probabilities": self.loss.probabilities[0],
            "targets": self.loss.targets[0],
            "d_logits": self.gradients.d_logits[0],
            "d_after": back.d_output[0],
            "d_x": back.d_x[0],
            **{name: getattr(self.attention, name) for name in FORWARD_NAMES},
            **{f"W_{role}": getattr(heads, f"W_{role}") for role in "qkv"},
            **{f"d_W_{role}": getattr(projections, f"d_W_{role}") for role in "qkv"},
            **{
                name: getattr(attention, name)[0, 0]
                for name in ("d_output", "d_weights", "d_scores", "d_q", "d_k", "d_v")
            },
        }
        return {name: array.tolist() for name, array in arrays.items()}

    @property
    def divisor(self) -> str | None:
        """What the scores are divided by, as it is written; None where nothing is."""
        config = self.learner.settings.model
        return f"√{config.query_features}" if config.scaling else None

    @property
    def vector(self) -> Float[np.ndarray, " parameters"]:
        """The gradients of all weights one after the other."""
        return self.gradients.vector()


def correct(learner: Learner, batch: Batch) -> Prediction:
    """Run the model and go back through it."""
    trace, loss = predict(learner.model, batch)
    return Prediction(learner, batch, trace, loss, model_backward(learner.model, trace, loss_backward(loss)))


@lru_cache(maxsize=128)
def predict_one(settings: TrainingSettings, updates: int, number: int) -> Prediction:
    """The model's answer at the pronoun of one sentence, and what it is to learn from it."""
    return correct(learner_after(settings, updates), sentence_with_pronoun(number))
