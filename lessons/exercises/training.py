"""Exercises on training and writing: the gradient of the softmax, and drawing a token with a temperature."""

import torch
from torch import Tensor

from attention_core.backward import softmax_backward
from attention_core.sampling import next_token_probabilities, pick
from lessons.exercises.base import Case, Exercise, Mistake, Outputs, Shown, double, numbers_within, shares_of_one
from lessons.screen.message import message

TEMPERATURES_TRIED = (0.5, 1.6, 2.5)


def gradient_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Queries and keys, always a different number of each."""
    sizes = ((2, 3), (3, 4), (4, 2))
    return tuple(Case(arguments=(shares_of_one(g, *size), numbers_within(g, *size))) for size in sizes)


GRADIENT = Exercise(
    key="gradient",
    title=message("Gradient of the softmax"),
    lesson="backward",
    asks=message(
        "Backwards through the softmax: given the weights and the gradient of the loss with respect to each "
        "weight, find "
        "that with respect to each score. A weight depends on all scores of its row: "
        "d_scores[i, j] = weights[i, j] · (d_weights[i, j] − Σₘ weights[i, m] · d_weights[i, m])."
    ),
    entry="softmax_backward",
    takes=(Shown("weights", "queries", "keys", "weight", "weight"), Shown("d_weights", "queries", "keys")),
    returns=(Shown("d_scores", "queries", "keys"),),
    starter="""def softmax_backward(weights, d_weights):
    # both: shape [queries, keys]; each row of weights sums to 1
    d_scores = None  # Your code
    return d_scores
""",
    solution="""def softmax_backward(weights, d_weights):
    mean = (weights * d_weights).sum(dim=-1, keepdim=True)
    return weights * (d_weights - mean)
""",
    draw=gradient_cases,
    answer=softmax_backward,
    mistakes=(
        Mistake(
            message(
                "This treats each weight as if it depended only on its own score: w (1 − w) d. All scores of a "
                "row share one sum."
            ),
            lambda w, d: w * (1 - w) * d,
        ),
        Mistake(message("The weighted mean of the row has not been subtracted: w (d − Σ w d)."), lambda w, d: w * d),
        Mistake(
            message("The factor in front is missing: multiply each difference by its weight."),
            lambda w, d: d - (w * d).sum(-1, keepdim=True),
        ),
        Mistake(
            message("Subtract the mean weighted by the weights, Σ w d, not the plain sum of the row."),
            lambda w, d: w * (d - d.sum(-1, keepdim=True)),
        ),
        Mistake(
            message("Subtract the mean weighted by the weights, Σ w d, not the plain mean of the row."),
            lambda w, d: w * (d - d.mean(-1, keepdim=True)),
        ),
        Mistake(
            message("The sum ran down the columns. It runs along the row of each query: dim=-1, keepdim=True."),
            lambda w, d: w * (d - (w * d).sum(0, keepdim=True)),
        ),
        Mistake(
            message("The sum ran over all rows at once. It runs along the row of each query: dim=-1, keepdim=True."),
            lambda w, d: w * (d - (w * d).sum()),
        ),
        Mistake(
            message("Subtract the mean weighted by the weights, Σ w d, not its mean over the row."),
            lambda w, d: w * (d - (w * d).mean(-1, keepdim=True)),
        ),
        Mistake(
            message("The sign is reversed: the weighted mean is subtracted from d_weights."),
            lambda w, d: w * ((w * d).sum(-1, keepdim=True) - d),
        ),
        Mistake(
            message("The weighted mean of the row was added. Subtract it: w (d − Σ w d)."),
            lambda w, d: w * (d + (w * d).sum(-1, keepdim=True)),
        ),
    ),
)


def temperature_cases(g: torch.Generator) -> tuple[Case, ...]:
    """The random number falls on the stretch of a token that is not the likeliest."""
    cases = []
    for tokens, temperature in zip((3, 5, 4), TEMPERATURES_TRIED, strict=True):
        logits = numbers_within(g, tokens)
        shares = (double(logits) / temperature).softmax(-1)
        token = (int(shares.argmax()) + 1 + int(torch.randint(tokens - 1, (), generator=g))) % tokens
        middle = float(shares.cumsum(-1)[token] - shares[token] / 2)
        cases.append(Case(arguments=(logits, temperature, middle)))
    return tuple(cases)


def drawn_with(logits: Tensor, temperature: float, uniform: float) -> Outputs:
    """Probabilities and the token, as the app computes them."""
    probabilities = next_token_probabilities(logits, temperature)
    return probabilities, pick(probabilities, uniform)


def token_drawn(probabilities: Tensor, uniform: float) -> Outputs:
    """Probabilities that came about in another way, and the token drawn from them."""
    return probabilities, (probabilities.cumsum(-1) > uniform).int().argmax(-1)


TEMPERATURE = Exercise(
    key="temperature",
    title=message("Sampling with temperature"),
    lesson="generate",
    asks=message(
        "Draw the next token: divide the logits by the temperature, take the softmax, and lay the probabilities end to "
        "end from 0 to 1. The token on whose stretch the random number `uniform` falls is drawn. Return the "
        "probabilities and the number of the token, counted from 0."
    ),
    entry="draw_token",
    takes=(Shown("logits", "tokens", "vocabulary"), "temperature", "uniform"),
    returns=(Shown("probabilities", "tokens", "vocabulary", "weight", "weight"), Shown("token", "tokens", "tokens")),
    starter="""def draw_token(logits, temperature, uniform):
    # logits: shape [vocabulary]; temperature and uniform are numbers
    probabilities = None  # Your code
    token = None  # Your code
    return probabilities, token
""",
    solution="""def draw_token(logits, temperature, uniform):
    probabilities = torch.softmax(logits / temperature, dim=-1)
    reached = 0.0
    for token in range(len(probabilities)):
        reached += float(probabilities[token])
        if reached > uniform:
            break
    return probabilities, token
""",
    draw=temperature_cases,
    answer=drawn_with,
    mistakes=(
        Mistake(
            message("The temperature is not used yet: divide the logits by it."),
            lambda s, t, u: token_drawn(s.softmax(-1), u),
        ),
        Mistake(
            message("You multiplied by the temperature. Divide the logits by it."),
            lambda s, t, u: token_drawn((s * t).softmax(-1), u),
        ),
        Mistake(
            message("The temperature came after the softmax. Divide the logits by it, before."),
            lambda s, t, u: token_drawn(s.softmax(-1) / t, u),
        ),
        Mistake(
            message("This always takes the likeliest token. The random number must decide."),
            lambda s, t, u: ((s / t).softmax(-1), s.argmax()),
        ),
        Mistake(
            message("This is one token too far: take the first at which the sum passes the random number."),
            lambda s, t, u: ((s / t).softmax(-1), token_drawn((s / t).softmax(-1), u)[1] + 1),
        ),
        Mistake(
            message("This is one token too early: take the first at which the sum passes the random number."),
            lambda s, t, u: ((s / t).softmax(-1), token_drawn((s / t).softmax(-1), u)[1] - 1),
        ),
        Mistake(
            message(
                "This takes the token whose probability is nearest to the random number. Lay them end to end first."
            ),
            lambda s, t, u: ((s / t).softmax(-1), ((s / t).softmax(-1) - u).abs().argmin()),
        ),
        Mistake(
            message(
                "This takes the first token whose own probability passes the random number. Add them up on the way."
            ),
            lambda s, t, u: ((s / t).softmax(-1), ((s / t).softmax(-1) > u).int().argmax()),
        ),
        Mistake(
            message("The token is marked by a 1 in a row of zeros. Return its number."),
            lambda s, t, u: (
                (s / t).softmax(-1),
                torch.nn.functional.one_hot(token_drawn((s / t).softmax(-1), u)[1].long(), len(s)),
            ),
        ),
        Mistake(
            message("The first result holds the logits divided by the temperature. Return the probabilities."),
            lambda s, t, u: (s / t, token_drawn((s / t).softmax(-1), u)[1]),
        ),
        Mistake(
            message("The probabilities are added up. Return them one by one, and the sums only to draw."),
            lambda s, t, u: ((s / t).softmax(-1).cumsum(-1), token_drawn((s / t).softmax(-1), u)[1]),
        ),
    ),
)
