"""From the scores that a model gives each token to the token that comes next.

The steps are, in this order: temperature, top-k, top-p, draw. After each cut the rest is renormalised, so that top-p
measures shares of what top-k has kept. (Fan et al. 2018, https://arxiv.org/abs/1805.04833, for top-k; Holtzman et al.
2020, https://arxiv.org/abs/1904.09751, for top-p.)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_core.base.errors import InputError, TechnicalError
from attention_core.base.inputs import check_whole, is_float, is_number, is_whole, shown
from attention_core.model.cache import present, read_newest
from attention_core.model.transformer import Transformer

SMALLEST_TEMPERATURE = 1e-30  # float32 cannot divide by much less


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampling:
    """The settings by which the next token is drawn. Raises InputError for values that cannot be.

    Temperature 0 is the limit in which the likeliest token is always drawn. `top_k` None keeps all tokens, and so does
    `top_p` 1.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def __post_init__(self):
        check_temperature(self.temperature)
        check_top_k(self.top_k)
        check_top_p(self.top_p)


@dataclass(frozen=True, eq=False)
class TokenDraw:
    """Every step from the scores of a model to the token drawn, in the order in which it is computed."""

    logits: Float[Tensor, " vocabulary"]
    probabilities: Float[Tensor, " vocabulary"]  # softmax of the logits, at temperature 1
    tempered: Float[Tensor, " vocabulary"]  # after the temperature
    kept_by_top_k: Bool[Tensor, " vocabulary"]
    kept: Bool[Tensor, " vocabulary"]  # by top-k and by top-p
    final: Float[Tensor, " vocabulary"]  # what the token was drawn from
    uniform: float  # the random number from 0 to 1 that decided
    token: int


def draw_token(logits: Float[Tensor, " vocabulary"], sampling: Sampling, generator: torch.Generator) -> TokenDraw:
    """Draw the next token: temperature, top-k, top-p, one random number.

    Raises InputError for logits that are not all finite numbers.
    """
    logits = logits.double()
    probabilities = next_token_probabilities(logits)
    tempered = next_token_probabilities(logits, sampling.temperature)
    kept_by_top_k = keep_top_k(logits, sampling.top_k)
    shares = renormalise(tempered, kept_by_top_k)
    kept = kept_by_top_k & keep_top_p(shares, sampling.top_p)
    final = renormalise(tempered, kept)
    uniform = uniform_number(generator)
    token = int(pick(final, uniform))
    return TokenDraw(logits, probabilities, tempered, kept_by_top_k, kept, final, uniform, token)


def next_token_probabilities(
    logits: Float[Tensor, "*runs vocabulary"], temperature: float = 1.0
) -> Float[Tensor, "*runs vocabulary"]:
    """Compute softmax(logits / temperature): below 1 likely tokens become likelier, at 0 only the likeliest is left.

    Raises InputError for a negative temperature, or for numbers that are not finite.
    """
    check_logits(logits)
    check_temperature(temperature)
    if temperature < SMALLEST_TEMPERATURE:
        return torch.nn.functional.one_hot(ranked(logits)[..., 0], logits.shape[-1]).to(logits.dtype)
    return ((logits - logits.amax(dim=-1, keepdim=True)) / temperature).softmax(dim=-1)


def ranked(values: Float[Tensor, "*runs vocabulary"]) -> Int[Tensor, "*runs vocabulary"]:
    """Return the indices of the values, the largest first; of equal values the one earlier in the vocabulary first."""
    return values.argsort(descending=True, stable=True)


def keep_top_k(logits: Float[Tensor, " vocabulary"], k: int | None) -> Bool[Tensor, " vocabulary"]:
    """Return True for the k tokens with the largest scores: exactly k, as `ranked` decides between equal scores.

    None, or a k beyond the vocabulary, keeps all. Raises InputError for k below 1.
    """
    check_top_k(k)
    check_logits(logits)
    kept = torch.zeros_like(logits, dtype=torch.bool)
    kept[ranked(logits)[:k]] = True
    return kept


def keep_top_p(probabilities: Float[Tensor, " vocabulary"], p: float) -> Bool[Tensor, " vocabulary"]:
    """Return True for the fewest tokens, likeliest first, whose probabilities together reach p.

    The token that reaches p is kept, so there is always one; `ranked` decides between equal probabilities. Raises
    InputError for p outside (0, 1].
    """
    check_top_p(p)
    if p == 1:  # rounding must not cut off an unlikely tail
        return torch.ones_like(probabilities, dtype=torch.bool)
    order = ranked(probabilities)
    likelier = probabilities[order].cumsum(dim=0).roll(1)
    likelier[0] = 0
    kept = torch.zeros_like(probabilities, dtype=torch.bool)
    kept[order[likelier < p]] = True
    return kept


def renormalise(
    probabilities: Float[Tensor, " vocabulary"], kept: Bool[Tensor, " vocabulary"]
) -> Float[Tensor, " vocabulary"]:
    """Scale the kept probabilities to the sum 1, with 0 for the others. Raises InputError where nothing is kept."""
    left = probabilities * kept
    if not left.sum() > 0:
        raise TechnicalError("one token at least is kept, with a probability above 0, but nothing is left")
    return left / left.sum()


def uniform_number(generator: torch.Generator) -> float:
    """Draw a random number from 0 to 1, the 1 excluded."""
    return float(torch.rand((), generator=generator, dtype=torch.float64))


def pick(probabilities: Float[Tensor, "*runs vocabulary"], uniform: float) -> Int[Tensor, "*runs"]:
    """Return the token into whose interval the number falls, when intervals as long as probabilities fill 0 to 1.

    A token of probability 0 is never picked. Raises InputError for a number below 0, or not below 1.
    """
    if not (is_number(uniform) and 0 <= uniform < 1):
        raise TechnicalError("a token is picked by a number from 0 to below 1, but got {number}", number=shown(uniform))
    ends = probabilities.double().cumsum(dim=-1)  # in single precision a number just below 1 would be beyond all
    return (ends > uniform * ends[..., -1:]).int().argmax(dim=-1)


def continue_text(
    model: Transformer,
    start: list[int],
    n_new: int,
    *,
    temperature: float = 1.0,
    generator: torch.Generator,
    cached: bool = False,
) -> Int[Tensor, "*runs tokens"]:
    """Return `start` and `n_new` more ids, each drawn after reading the last `context` ids before it.

    The ids are those that `draw_token` draws where nothing is cut off; runs side by side have the same random numbers.
    With `cached`, keys and values are kept, which takes less time and, up to the context, changes nothing; beyond it
    see `cache`. Raises InputError when there is nothing to start from.
    """
    check_start(start)
    check_whole("n_new", n_new, least=0)
    ids, past = torch.tensor(start).expand(*model.table.shape[:-2], len(start)), ()
    for _ in range(n_new):
        trace = read_newest(model, ids, past)
        past = present(trace) if cached else ()
        logits = torch.as_tensor(trace.logits[..., -1, :]).double()
        token = pick(next_token_probabilities(logits, temperature), uniform_number(generator))
        ids = torch.cat([ids, token[..., None]], dim=-1)
    return ids


def check_start(start: Sequence[object]) -> None:
    """Raise InputError for a text without tokens, which cannot be continued."""
    if not len(start):
        raise TechnicalError("a text needs at least one token to go on from")


def check_logits(logits: Float[Tensor, "*runs vocabulary"]) -> None:
    """Raise InputError without a score, or where one is infinite or not a number, as after steps too large."""
    if not (logits.shape[-1:] and logits.shape[-1] and is_float(logits)):
        raise TechnicalError(
            "there is a score, a floating-point number, for each token of a vocabulary, but got {shape} of type {kind}",
            shape=str((*logits.shape,)),
            kind=str(logits.dtype),
        )
    if not torch.isfinite(logits).all():
        broken = int((~torch.isfinite(logits)).sum())
        raise InputError(
            "every score must be a finite number (not finite: {broken} of {count}); the model is "
            "broken: train it with a smaller learning rate, or choose another",
            broken=broken,
            count=logits.numel(),
        )


def check_temperature(temperature: float) -> None:
    """Raise InputError unless the temperature is a finite number from 0 up."""
    if not (is_number(temperature) and 0 <= temperature < math.inf):
        raise TechnicalError("a temperature is a number from 0 up, but got {number}", number=shown(temperature))


def check_top_k(k: int | None) -> None:
    """Raise InputError unless k is None or a whole number from 1 up: a smaller one would keep nothing."""
    if k is not None and not (is_whole(k) and k >= 1):
        raise TechnicalError("top-k keeps a whole number of tokens from 1 up, but got {k}", k=shown(k))


def check_top_p(p: float) -> None:
    """Raise InputError unless p is a number above 0 and up to 1: 0 would keep nothing."""
    if not (is_number(p) and 0 < p <= 1):
        raise TechnicalError("top-p is a share above 0 and up to 1, but got {p}", p=shown(p))
