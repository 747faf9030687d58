"""The task of predicting each next character of a text from those before it."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import torch
from jaxtyping import Int
from torch import Tensor

from attention_core.base.errors import InputError, TechnicalError
from attention_core.learning.batches import Batch
from attention_core.learning.tasks.base import (
    ENOUGH_RIGHT,
    MAX_VOCABULARY,
    Baseline,
    Task,
    TaskExample,
    conditional_entropy,
    guessing,
)
from attention_core.model.small_model import ModelConfig
from attention_core.text.tokens import Vocabulary, tokenize

MAX_WINDOW = 64
HOUSE = (
    "this is the house that jack built. this is the malt that lay in the house that jack built. "
    "this is the rat that ate the malt that lay in the house that jack built. "
    "this is the cat that killed the rat that ate the malt that lay in the house that jack built. "
)


@dataclass(frozen=True)
class CharacterTask(Task):
    """A text, cut into windows, in which each next character is to be predicted.

    `held_out_share` of the text, its end, is kept apart to see whether what was learnt holds there. Raises InputError
    when there is nothing to learn from the text: fewer characters than one window and its answer, a single distinct
    one, or too many distinct ones; and for a window or a share that cannot be.
    """

    key = "characters"
    source = "text"
    unit = "characters"
    draws_afresh = False  # the text is all there is: what it is measured on is a part of it
    model = MappingProxyType({"d_model": 32, "n_heads": 4, "embedding_std": 0.3})
    training = MappingProxyType({"learning_rate": 0.003, "steps": 600, "batch_size": 16})

    text: str = HOUSE
    window: int = 8
    held_out_share: float = 0.0

    def __post_init__(self):
        if not 1 <= self.window <= MAX_WINDOW:
            raise TechnicalError(
                "a window goes from 1 to {most} characters, but got {window}", most=MAX_WINDOW, window=self.window
            )
        n, distinct = len(self.tokens), len(self.vocabulary)
        if n < self.window + 1:
            raise InputError(
                "the text is too short, of length {n}: a window of {window} and the character after it need "
                "at least {needed}; type a longer text or choose a shorter window",
                n=n,
                window=self.window,
                needed=self.window + 1,
            )
        if distinct < 2:
            raise InputError(
                "the text repeats a single character, {character}, so there is nothing to predict; use "
                "at least two different ones",
                character=repr(self.tokens[0]),
            )
        if not 0 <= self.held_out_share <= 0.5:
            raise TechnicalError(
                "the share that is kept apart goes from 0 to 0.5, but got {share}", share=self.held_out_share
            )
        if self.held_out_share and min(self.n_trained, n - self.n_trained) < self.window + 1:
            raise InputError(
                "with {share} of {n} characters held out, one part is shorter than a window of {window} and "
                "the character after it; type a longer text or choose a shorter window",
                share=f"{self.held_out_share:.0%}",
                n=n,
                window=self.window,
            )
        if distinct > MAX_VOCABULARY:
            raise InputError(
                "the text has {distinct} different characters and this small model takes at most {most}; "
                "use a text with fewer",
                distinct=distinct,
                most=MAX_VOCABULARY,
            )

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The characters of the text, in order."""
        return tuple(tokenize(self.text, "characters"))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The different characters, in alphabetical order."""
        return Vocabulary.in_alphabetical_order(self.tokens)

    @cached_property
    def n_trained(self) -> int:
        """The number of characters of the text that are trained on; the others are kept apart."""
        return len(self.tokens) - round(self.held_out_share * len(self.tokens))

    @cached_property
    def windows(self) -> Int[Tensor, "windows tokens"]:
        """Every window of the text that is trained on, together with the one character after it."""
        with torch.inference_mode(False):  # they are kept, so they must be fit for every use
            return self.windows_of(self.tokens[: self.n_trained])

    def windows_of(self, characters: tuple[str, ...]) -> Int[Tensor, "windows tokens"]:
        """Return every window of some characters, each with the character after it."""
        return torch.tensor(self.vocabulary.encode(characters)).unfold(0, self.window + 1, 1)

    @cached_property
    def unseen_windows(self) -> Int[Tensor, "windows tokens"]:
        """The windows of the held-out part whose characters are those of no window trained on."""
        trained = set(map(tuple, self.windows[:, :-1].tolist()))
        with torch.inference_mode(False):  # they are kept, so they must be fit for every use
            apart = self.windows_of(self.tokens[self.n_trained :]) if self.held_out_share else self.windows
            return apart[torch.tensor([tuple(window[:-1]) not in trained for window in apart.tolist()])]

    def held_out(self, size: int, generator: torch.Generator) -> Batch | None:
        """Return at most `size` evenly spaced windows that are never trained on; if there are none, trained ones.

        The loss on many trained windows is steadier than that of a batch, but says nothing about other texts.
        """
        windows = self.unseen_windows if len(self.unseen_windows) else self.windows
        chosen = windows[:: max(1, -(-len(windows) // size))]
        return Batch(chosen[:, :-1], chosen[:, 1:])

    @cached_property
    def example(self) -> TaskExample:
        """The first window of the text."""
        with torch.inference_mode(False):  # it is kept, so it must be fit for every use
            return self.name(Batch(self.windows[:1, :-1], self.windows[:1, 1:]))

    @property
    def enough_right(self) -> float:
        """The share of right answers that is enough: nearly as many as all that is visible allows."""
        return ENOUGH_RIGHT * self.best_accuracy

    @cached_property
    def best_accuracy(self) -> float:
        """The share of characters that even the best guess from all that is visible gets right."""
        followed = Counter((tuple(row[:i]), row[i]) for row in self.windows.tolist() for i in range(1, len(row)))
        best: Counter = Counter()
        for (seen, _), times in followed.items():
            best[seen] = max(best[seen], times)
        return sum(best.values()) / sum(followed.values())

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Draw `size` windows, each from all windows with equal chance."""
        starts = torch.randint(len(self.windows), (size,), generator=generator)
        drawn = self.windows[starts]
        return Batch(drawn[:, :-1], drawn[:, 1:])

    def baselines(self) -> list[Baseline]:
        """Return the losses of guesses that know nothing, the frequencies, the character before, and all visible."""
        rows = self.windows.tolist()
        targets = [(i, row) for row in rows for i in range(1, len(row))]
        return [
            guessing(len(self.vocabulary)),
            Baseline("frequency", conditional_entropy(("", row[i]) for i, row in targets)),
            Baseline("letter_before", conditional_entropy((row[i - 1], row[i]) for i, row in targets)),
            Baseline("all_visible", conditional_entropy((tuple(row[:i]), row[i]) for i, row in targets)),
        ]


def notebook_model(vocabulary: int) -> ModelConfig:
    """Return the model that the “hello world” notebook trains: sliced heads, and no other part in its layer."""
    return ModelConfig(
        vocabulary=vocabulary, context=8, d_model=16, n_heads=2, heads="sliced", residual=False, embedding_std=1.0
    )
