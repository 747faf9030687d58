"""A model that learns what pronouns stand for, one of its predictions, and every gradient of it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float

from attention_core.base.randomness import generator
from attention_core.base.traced import Written
from attention_core.learning.evaluation import evaluate
from attention_core.learning.tasks import NO_TARGET, Batch
from attention_core.learning.training import HELD_OUT, TrainingSettings, held_out_batch
from attention_core.model.small_model import model_with
from attention_core.model.transformer import Transformer
from attention_core.one_head.masks import causal_mask
from attention_core.text.embeddings import embed
from lessons.example.example import Example, learnt_example, model_settings
from lessons.example.task_models import TASK_SOURCES, recorded
from lessons.learning.backward.way_back import WayBack, go_back, names_on_the_way
from lessons.screen import Message, Percent, Token, message, names
from lessons.trace.computation import Computation
from lessons.trace.story import Names

PRONOUNS = TASK_SOURCES["pronouns"].task
PRONOUN_WORDS = PRONOUNS.vocabulary.tokens
WORD_TOKENS = names(PRONOUN_WORDS)
UPDATES = (0, 20, 40, 60, 80, 100, 200, 300)


@dataclass(frozen=True, eq=False)
class Learner:
    """A model after so many updates. The weights are in double precision, so that differences can be measured."""

    settings: TrainingSettings
    updates: int
    weights: Float[np.ndarray, " parameters"]

    @cached_property
    def model(self) -> Transformer:
        """The model with these weights."""
        return model_with(self.settings.model, self.weights)

    @cached_property
    def accuracy(self) -> float:
        """The share of newly drawn sentences that it gets right."""
        return evaluate(self.settings.task.goal, self.model, held_out_batch(self.settings).in_numpy()).accuracy


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
        "Trained to find the word that a pronoun stands for, {updates} training steps from seed {seed}: right on "
        "{share} of "
        "{count} newly drawn sentences.",
        updates=learner.updates,
        seed=seed,
        share=Percent(learner.accuracy),
        count=HELD_OUT,
    )


def sentence_with_pronoun(number: int) -> Batch:
    """The sentence of this number: seven words, and the answer at the last."""
    return PRONOUNS.batch(1, generator(number, "sentence with a pronoun")).in_numpy()


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a model said of one sentence, how wrong it was, and every gradient of the loss."""

    learner: Learner
    batch: Batch  # the sentence alone

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The words of the sentence."""
        return tuple(PRONOUN_WORDS[i] for i in self.batch.inputs[0].tolist())

    @cached_property
    def names(self) -> tuple[Token, ...]:
        """The tokens as sentences name them."""
        return names(self.tokens)

    @cached_property
    def asked(self) -> list[int]:
        """The positions whose predictions count in the loss."""
        return [position for position, target in enumerate(self.batch.targets[0].tolist()) if target != NO_TARGET]

    @cached_property
    def inputs(self) -> dict[str, Any]:
        """What `go_back` is given."""
        model, ids = self.learner.model, self.batch.inputs[0]
        heads, config = model.layers[0].attention, model.config
        return {
            "x": embed(ids, model.token_table),
            **{name: getattr(heads, name) for name in ("W_q", "W_k", "W_v", "W_o")},
            "W_unembed": model.W_unembed,
            "b_unembed": model.b_unembed,
            "targets": self.batch.targets[0],
            "may_attend": causal_mask(len(ids)).numpy() if config.causal else None,
            "scale": Written(1 / math.sqrt(config.query_features), f"1 ÷ {self.divisor}") if config.scaling else 1.0,
        }

    def compute(self, function: Callable[..., Any], names: Names, **others: Any) -> Computation:
        """A view's function on this sentence, with `others` that it takes."""
        return Computation(function, {**others, **self.inputs}, names)

    def called(self, **sentences: Message) -> Names:
        """What a reader calls the numbers of this sentence, with a view's own `sentences`."""
        return names_on_the_way(self.names, WORD_TOKENS, len(self.asked), self.divisor, **sentences)

    @cached_property
    def computation(self) -> Computation:
        """Forwards to the loss, and back."""
        return self.compute(go_back, self.called())

    @property
    def way(self) -> WayBack:
        """Every matrix, and its gradient."""
        return self.computation.result

    @cached_property
    def everywhere(self) -> "Prediction":
        """This sentence with an answer at every position: the word that comes next, as language models learn."""
        inputs, targets = self.batch.inputs, self.batch.targets
        return Prediction(self.learner, Batch(inputs, np.concatenate([inputs[:, 1:], targets[:, -1:]], axis=1)))

    @property
    def model_inputs(self) -> dict[str, Any]:
        """All that the whole model is run on."""
        return {"config": self.learner.settings.model, "weights": self.learner.weights, "batch": self.batch}

    @property
    def divisor(self) -> str | None:
        """What the scores are divided by, as it is written; None where nothing is."""
        config = self.learner.settings.model
        return f"√{config.query_features}" if config.scaling else None

    @property
    def loss(self) -> float:
        """The loss of the prediction, in nats."""
        return float(self.way.loss.loss)

    @property
    def right(self) -> int:
        """The right word at the last position that counts."""
        return int(self.batch.targets[0, self.asked[-1]])

    @property
    def probabilities(self) -> Float[np.ndarray, " vocabulary"]:
        """The probabilities that the model gave the words at the position asked."""
        return self.way.loss.probabilities[self.asked[-1]]

    @property
    def lengths_of_maps(self) -> Float[np.ndarray, " maps"]:
        """How long the gradients of W_q, W_k and W_v are."""
        return np.array([np.linalg.norm(getattr(self.way, f"d_W_{role}")) for role in "qkv"])


@lru_cache(maxsize=128)
def predict_one(settings: TrainingSettings, updates: int, number: int) -> Prediction:
    """The model's answer at the pronoun of one sentence, and what it is to learn from it."""
    return Prediction(learner_after(settings, updates), sentence_with_pronoun(number))


def word_of(index: int) -> Token:
    """A word of the vocabulary, as sentences name it."""
    return WORD_TOKENS[index]
