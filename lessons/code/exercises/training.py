"""Exercises on training and writing: a step of gradient descent, the softmax backwards, drawing with a temperature."""

from collections.abc import Callable

import torch
from torch import Tensor

from attention_core.learning.backward import cross_entropy_backward, linear_backward, softmax_backward
from attention_core.learning.losses import cross_entropy
from attention_core.model.sampling import next_token_probabilities, pick
from lessons.code.exercises.base import Case, Exercise, Mistake, Outputs, Shown, double, numbers_within, shares_of_one
from lessons.code.exercises.varied import NORMS, TWICE
from lessons.screen import message

TEMPERATURES_TRIED = (0.5, 1.6, 2.5)


# One step of gradient descent


def step_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Tokens, features and vocabulary, all different; the tokens that follow, as rows with a single 1; a rate."""
    cases = []
    for tokens, d_model, vocabulary, rate in ((4, 2, 3, 0.5), (3, 4, 5, 2.0), (5, 3, 4, 1.0)):
        follows = torch.randint(vocabulary, (tokens,), generator=g)
        right = torch.nn.functional.one_hot(follows, vocabulary).double().tolist()
        x, w = numbers_within(g, tokens, d_model), numbers_within(g, d_model, vocabulary)
        cases.append(Case(arguments=(x, w, right, rate)))
    return tuple(cases)


def one_step(x: Tensor, w: Tensor, right: Tensor, rate: float) -> Outputs:
    """The loss before the step and the weights after it, as the app computes them."""
    trace = cross_entropy(x @ w, right.argmax(dim=-1))
    return trace.loss, w - rate * linear_backward(x, w, None, cross_entropy_backward(trace))[1]


LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {  # of probabilities and what is right
    "mean": lambda p, y: -(y * p.log()).sum(-1).mean(),
    "sum": lambda p, y: -(y * p.log()).sum(),
    "mean of all": lambda p, y: -(y * p.log()).mean(),
    "no minus": lambda p, y: (y * p.log()).sum(-1).mean(),
    "bits": lambda p, y: -(y * p.log2()).sum(-1).mean(),
    "probability": lambda p, y: (y * p).sum(-1).mean(),
    "of the mean": lambda p, y: -(y * p).sum(-1).mean().log(),
    "each": lambda p, y: -(y * p.log()).sum(-1),
    "softmax again": lambda p, y: -(y * p.log_softmax(-1)).sum(-1).mean(),
}
WRONGNESS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {  # the gradient by the logits, times the tokens
    "p − y": lambda p, y: p - y,
    "p": lambda p, y: p,
    "squares": lambda p, y: 2 * p * ((p - y) - ((p - y) * p).sum(-1, keepdim=True)),
    "right alone": lambda p, y: (p - y) * y,
    "backwards again": lambda p, y: p * ((p - y) - ((p - y) * p).sum(-1, keepdim=True)),
    "p (1 − p)": lambda p, y: (p - y) * p * (1 - p),
}
DIVIDED: dict[str, Callable[[Tensor], int]] = {
    "tokens": lambda p: len(p),
    "nothing": lambda p: 1,
    "all": lambda p: p.numel(),
    "vocabulary": lambda p: p.shape[-1],
}


def varied_step(
    x: Tensor,
    w: Tensor,
    right: Tensor,
    rate: float,
    *,
    loss: str = "mean",
    wrong: str = "p − y",
    by: str = "tokens",
    way: int = -1,
    rates: str = "rate",
    norm: str = "softmax",
    dim: int = -1,
    after: bool = False,
    gives: str = "w",
) -> Outputs:
    """A step in which something else was done."""
    p = NORMS[norm](x @ w, dim)
    gradient = x.T @ WRONGNESS[wrong](p, right) / DIVIDED[by](p)
    moved = w + way * (rate if rates == "rate" else 1) * gradient
    if after:
        p = NORMS[norm](x @ moved, dim)
    return LOSSES[loss](p, right), {"w": moved, "gradient": gradient, "step": moved - w, "old": w}[gives]


STEP = Exercise(
    key="step",
    title=message("A step of gradient descent"),
    lesson="train",
    asks=message(
        "Train the last layer by one step. The softmax of the logits X W gives the probabilities P; "
        "`right` has a 1 at the token that followed and 0 elsewhere. The loss is the mean over the "
        "tokens of −ln of the right token's probability. Its gradient with respect to the logits is (P "
        "− right) / number of tokens; with respect to W it is Xᵀ times that. Return the loss before the "
        "step, and the new weights: W minus the learning rate times the gradient."
    ),
    entry="train_step",
    takes=(
        Shown("X", "tokens", "features"),
        Shown("W", "features", "vocabulary"),
        Shown("right", "tokens", "vocabulary"),
        "learning_rate",
    ),
    returns=(Shown("loss", "tokens", "tokens"), Shown("new_W", "features", "vocabulary")),
    starter="""def train_step(X, W, right, learning_rate):
    # X: shape [tokens, features], W: shape [features, vocabulary], right: shape [tokens, vocabulary]
    P = None  # Your code
    loss = None  # Your code: one number
    gradient = None  # Your code: as large as W
    new_W = None  # Your code
    return loss, new_W
""",
    solution="""def train_step(X, W, right, learning_rate):
    P = torch.softmax(X @ W, dim=-1)
    loss = -torch.log((P * right).sum(dim=-1)).mean()
    gradient = X.T @ (P - right) / X.shape[0]
    new_W = W - learning_rate * gradient
    return loss, new_W
""",
    draw=step_cases,
    answer=one_step,
    varied=varied_step,
    mistakes=(
        Mistake(message("This goes uphill: the gradient was added. Subtract it, so that the loss falls."), {"way": 1}),
        Mistake(
            message("The gradient is that of the sum. The loss is a mean: divide by the number of tokens."),
            {"by": "nothing"},
        ),
        Mistake(
            message("You divided by the number of all probabilities. Divide by the number of tokens."), {"by": "all"}
        ),
        Mistake(
            message("You divided by the size of the vocabulary. Divide by the number of tokens."),
            {"by": "vocabulary"},
            alone=True,
        ),
        Mistake(message("Subtract right: the gradient of the logits is P − right, not P."), {"wrong": "p"}),
        Mistake(
            message("Only the right token's logit was moved. All others move as well, by their probabilities."),
            {"wrong": "right alone"},
        ),
        Mistake(
            message("This is the gradient of the squared error. That of −ln p is simpler: P − right."),
            {"wrong": "squares"},
        ),
        Mistake(
            message("You went back through the softmax once more. P − right already is the gradient of the logits."),
            {"wrong": "backwards again"},
        ),
        Mistake(
            message("The factor P (1 − P) does not belong here. P − right already is the gradient of the logits."),
            {"wrong": "p (1 − p)"},
        ),
        Mistake(message("The learning rate is not used yet: multiply the gradient by it."), {"rates": "none"}),
        Mistake(
            message("The second result is the gradient. Return the weights after the step."), {"gives": "gradient"}
        ),
        Mistake(message("The second result is only the step. Return W with the step taken."), {"gives": "step"}),
        Mistake(message("These are the weights as they came in. Take the step."), {"gives": "old"}),
        Mistake(message("The loss is the sum over the tokens. Take the mean."), {"loss": "sum"}),
        Mistake(
            message("The mean ran over all entries, most of them 0. Add up each row first, then take the mean."),
            {"loss": "mean of all"},
        ),
        Mistake(message("The loss has lost its minus sign: −ln p is never below 0."), {"loss": "no minus"}),
        Mistake(
            message("You used log2, so the loss is in bits. Take the natural logarithm: torch.log."), {"loss": "bits"}
        ),
        Mistake(
            message("This is the mean probability of the right tokens. The loss is the mean of −ln of each."),
            {"loss": "probability"},
        ),
        Mistake(
            message("The logarithm came after the mean. Take −ln of each probability first, then the mean."),
            {"loss": "of the mean"},
        ),
        Mistake(message("This is the loss of each token. Return one number, their mean."), {"loss": "each"}),
        Mistake(
            message("cross_entropy was given the probabilities. It takes the logits and applies the softmax itself."),
            {"loss": "softmax again"},
        ),
        Mistake(message("This is the loss after the step. Return the one before it."), {"after": True}),
        Mistake(message("The softmax is missing: the logits are not probabilities yet."), {"norm": "none"}),
        Mistake(TWICE, {"norm": "twice"}, alone=True),
        Mistake(
            message("The softmax ran over the tokens. The probabilities of each token sum to 1: dim=-1."), {"dim": 0}
        ),
    ),
)

# The softmax, backwards


def gradient_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Queries and keys, always a different number of each."""
    sizes = ((2, 3), (3, 4), (4, 2))
    return tuple(Case(arguments=(shares_of_one(g, *size), numbers_within(g, *size))) for size in sizes)


GRADIENT = Exercise(
    key="gradient",
    title=message("Gradient of the softmax"),
    lesson="backward",
    asks=message(
        "Go backwards through the softmax: from the weights and the gradient of the loss with respect "
        "to each weight, find its gradient with respect to each score. A weight depends on all scores "
        "of its row: d_scores[i, j] = weights[i, j] · (d_weights[i, j] − Σₘ weights[i, m] · "
        "d_weights[i, m])."
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
        Mistake(
            message("The weighted mean of the row has not been subtracted. It should be w (d − Σ w d)."),
            lambda w, d: w * d,
        ),
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
            message("Subtract the sum Σ w d, not the mean of w d over the row."),
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
        "Draw the next token: divide the logits by the temperature, take the softmax, and lay the "
        "probabilities end to end from 0 to 1. Draw the token on whose stretch the random number "
        "`uniform` falls. Return the probabilities and the number of the token, counted from 0."
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
                "This takes the token whose probability is nearest to the random number. Lay the probabilities "
                "end to end first."
            ),
            lambda s, t, u: ((s / t).softmax(-1), ((s / t).softmax(-1) - u).abs().argmin()),
        ),
        Mistake(
            message(
                "This takes the first token whose own probability passes the random number. Add the "
                "probabilities up as you go."
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
            message(
                "The first result holds running sums. Return the probabilities themselves, and use the sums "
                "only to draw."
            ),
            lambda s, t, u: ((s / t).softmax(-1).cumsum(-1), token_drawn((s / t).softmax(-1), u)[1]),
        ),
    ),
)
