"""Exercises on what is done to each token's row by itself: rotary positions, and the RMS norm."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attention_core.model.parts import RmsNorm
from attention_core.text.embeddings import Rotary, rotate
from lessons.code.exercises.base import Case, Exercise, Mistake, Shown, numbers_within
from lessons.screen import message

# Rotary positions


def rotary_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Tokens, features and base, all different; two pairs of features, or more."""
    sizes = ((4, 6, 100.0), (3, 8, 1000.0), (5, 4, 10.0))
    return tuple(Case(arguments=(numbers_within(g, tokens, d_k), base)) for tokens, d_k, base in sizes)


SPEEDS: dict[str, Callable[[Tensor, int, float], Tensor]] = {  # of pairs p of d_k features
    "2p / d_k": lambda p, d_k, base: base ** (-2 * p / d_k),
    "p / d_k": lambda p, d_k, base: base ** (-p / d_k),
    "growing": lambda p, d_k, base: base ** (2 * p / d_k),
    "p": lambda p, d_k, base: base**-p,
    "one": lambda p, d_k, base: torch.ones_like(p),
}
PAIRS: dict[str, Callable[[Tensor], Sequence[Tensor]]] = {  # the first features of all pairs, and the second ones
    "neighbours": lambda x: (x[..., 0::2], x[..., 1::2]),
    "halves": lambda x: x.chunk(2, dim=-1),
}
TURNS = {  # of a, b, and the cosine and the sine of the angle
    "right": lambda a, b, c, s: (a * c - b * s, a * s + b * c),
    "back": lambda a, b, c, s: (a * c + b * s, b * c - a * s),
    "plus": lambda a, b, c, s: (a * c + b * s, a * s + b * c),
    "overwritten": lambda a, b, c, s: (a * c - b * s, (a * c - b * s) * s + b * c),
    "exchanged": lambda a, b, c, s: (a * s - b * c, a * c + b * s),
    "each alone": lambda a, b, c, s: (a * c - a * s, b * c + b * s),
    "cosines": lambda a, b, c, s: (a * c, b * c),
}


def side_by_side(first: Tensor, second: Tensor) -> Tensor:
    """The first features of all pairs, then the second ones."""
    return torch.cat((first, second), dim=-1)


def interleaved(first: Tensor, second: Tensor) -> Tensor:
    """Each pair side by side."""
    return torch.stack((first, second), dim=-1).flatten(-2)


def varied_turn(
    x: Tensor,
    base: float,
    *,
    speed: str = "2p / d_k",
    pairs: str = "neighbours",
    turn: str = "right",
    order: str = "",
    begins: int = 0,
) -> Tensor:
    """Rotary positions in which something else was done; pairs go back to where they came from but for an `order`."""
    tokens, d_k = x.shape
    p = torch.arange(d_k // 2, dtype=x.dtype)
    positions = torch.arange(begins, begins + tokens, dtype=x.dtype)
    angles = positions[:, None] * SPEEDS[speed](p, d_k, base)
    a, b = PAIRS[pairs](x)
    found = TURNS[turn](a, b, angles.cos(), angles.sin())
    if (order or pairs) in ("halves", "cat"):
        return side_by_side(*found)
    return interleaved(*found)


ROTARY = Exercise(
    key="rotary",
    title=message("Rotary positions"),
    lesson="positions",
    asks=message(
        "Turn each token's features by its position. Features 2p and 2p + 1, neighbours, are one pair (a, b). "
        "At position t, counted from 0, it turns by the angle t · base^(−2p / d_k) to "
        "(a cos − b sin, a sin + b cos). Return all features, each in its place."
    ),
    entry="rotate",
    takes=(Shown("x", "tokens", "features", "q"), "base"),
    returns=(Shown("turned", "tokens", "features", "q"),),
    starter="""def rotate(x, base):
    # x: shape [tokens, d_k]; base is a number
    n_tokens, d_k = x.shape
    angles = None  # Your code: shape [tokens, d_k / 2]
    first, second = x[:, 0::2], x[:, 1::2]
    turned = None  # Your code
    return turned
""",
    solution="""def rotate(x, base):
    n_tokens, d_k = x.shape
    speeds = base ** (-torch.arange(0, d_k, 2) / d_k)
    angles = torch.outer(torch.arange(n_tokens).float(), speeds)
    first, second = x[:, 0::2], x[:, 1::2]
    cos, sin = torch.cos(angles), torch.sin(angles)
    turned = torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return turned.flatten(-2)
""",
    draw=rotary_cases,
    answer=lambda x, base: rotate(x, how=Rotary(base=base)),
    varied=varied_turn,
    mistakes=(
        Mistake(
            message(
                "This pairs feature p with feature p + d_k / 2, as some models do. Here neighbours are a pair: 2p and "
                "2p + 1."
            ),
            {"pairs": "halves"},
        ),
        Mistake(
            message(
                "Pairs were taken from the two halves and put back side by side. Pairs are neighbours: 2p and 2p + 1."
            ),
            {"pairs": "halves", "order": "neighbours"},
            alone=True,
        ),
        Mistake(
            message(
                "The first features of all pairs come first, then the second ones. Each belongs where it came from."
            ),
            {"order": "cat"},
        ),
        Mistake(message("This turns the wrong way. It should be a cos − b sin, and a sin + b cos."), {"turn": "back"}),
        Mistake(message("The minus is missing: the first of a pair becomes a cos − b sin."), {"turn": "plus"}),
        Mistake(
            message("b was turned with the new a. Compute both from the old pair, and only then put them back."),
            {"turn": "overwritten"},
        ),
        Mistake(
            message("Sine and cosine have changed places. At angle 0 nothing moves: cos 0 = 1."), {"turn": "exchanged"}
        ),
        Mistake(
            message("Each feature was turned by itself. Each needs both of its pair: a cos − b sin."),
            {"turn": "each alone"},
        ),
        Mistake(message("The sines are missing: a cos − b sin, and a sin + b cos."), {"turn": "cosines"}),
        Mistake(
            message("You counted the positions from 1. The first token is at position 0 and is not turned."),
            {"begins": 1},
        ),
        Mistake(message("All pairs turn by the same angle. Pair p turns by t · base^(−2p / d_k)."), {"speed": "one"}),
        Mistake(
            message("The exponent is −p / d_k here, for the pairs p. It is −2p / d_k: −0, −2, −4, … over d_k."),
            {"speed": "p / d_k"},
        ),
        Mistake(
            message("The exponent has lost its minus sign: later pairs should turn more slowly."), {"speed": "growing"}
        ),
        Mistake(message("The exponent is not divided by d_k: base^(−2p / d_k)."), {"speed": "p"}, alone=True),
        Mistake(message("Nothing is turned yet: this is x as it came in."), lambda x, base: x),
    ),
)


# RMS norm


def norm_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Tokens and features, all different, and an ε that is large enough to be seen."""
    sizes = ((3, 4, 0.5), (4, 2, 0.25), (2, 5, 1.0))
    return tuple(Case(arguments=(numbers_within(g, t, d), numbers_within(g, d), epsilon)) for t, d, epsilon in sizes)


SIZES: dict[str, Callable[..., Tensor]] = {  # of rows: what their features are divided by, squared
    "mean of squares": lambda x, dim: (x * x).mean(dim, keepdim=True),
    "sum of squares": lambda x, dim: (x * x).sum(dim, keepdim=True),
    "variance": lambda x, dim: x.var(dim, correction=0, keepdim=True),
    "square of mean": lambda x, dim: x.mean(dim, keepdim=True) ** 2,
    "square of mean size": lambda x, dim: x.abs().mean(dim, keepdim=True) ** 2,
    "largest": lambda x, dim: x.abs().amax(dim, keepdim=True) ** 2,
}
ROOTS: dict[str, Callable[[Tensor, float], Tensor]] = {
    "√(m + ε)": lambda m, epsilon: (m + epsilon).sqrt(),
    "√m + ε": lambda m, epsilon: m.sqrt() + epsilon,
    "√m": lambda m, epsilon: m.sqrt(),
    "√(m + ε²)": lambda m, epsilon: (m + epsilon**2).sqrt(),
    "m + ε": lambda m, epsilon: m + epsilon,
    "1 / √(m + ε)": lambda m, epsilon: (m + epsilon).rsqrt(),
}
GAINS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "times": lambda x, gain: x * gain,
    "none": lambda x, gain: x,
    "plus": lambda x, gain: x + gain,
    "1 + gain": lambda x, gain: x * (1 + gain),
    "divided": lambda x, gain: x / gain,
}


def varied_norm(
    x: Tensor,
    gain: Tensor,
    epsilon: float,
    *,
    size: str = "mean of squares",
    root: str = "√(m + ε)",
    gains: str = "times",
    dim: int | tuple[int, ...] = -1,
    centred: bool = False,
) -> Tensor:
    """An RMS norm in which something else was done."""
    x = x - x.mean(dim, keepdim=True) if centred else x
    return GAINS[gains](x / ROOTS[root](SIZES[size](x, dim), epsilon), gain)


RMS_NORM = Exercise(
    key="rms_norm",
    title=message("RMS norm"),
    lesson="variants",
    asks=message(
        "Bring every token's features to a common size before a layer reads them: divide them by the root of "
        "the mean of their squares, and multiply each feature by its gain. A small ε inside the root keeps it from 0: "
        "x / √(mean of x² + ε) · gain. Most of today's models do this; no mean is subtracted."
    ),
    entry="rms_norm",
    takes=(Shown("x", "tokens", "features"), Shown("gain", "tokens", "features"), "epsilon"),
    returns=(Shown("normed", "tokens", "features"),),
    starter="""def rms_norm(x, gain, epsilon):
    # x: shape [tokens, features], gain: shape [features]; epsilon is a number
    mean_of_squares = None  # Your code
    normed = None  # Your code
    return normed
""",
    solution="""def rms_norm(x, gain, epsilon):
    mean_of_squares = x.pow(2).mean(dim=-1, keepdim=True)
    return x * torch.rsqrt(mean_of_squares + epsilon) * gain
""",
    draw=norm_cases,
    answer=lambda x, gain, epsilon: RmsNorm(gain=gain, epsilon=epsilon)(x),
    varied=varied_norm,
    mistakes=(
        Mistake(
            message("The mean was subtracted first: that is a layer norm. An RMS norm leaves it in."), {"centred": True}
        ),
        Mistake(
            message(
                "You divided by the standard deviation, which subtracts the mean first. Take the mean of the squares."
            ),
            {"size": "variance"},
        ),
        Mistake(message("This is the sum of the squares. Take their mean."), {"size": "sum of squares"}),
        Mistake(
            message("The mean was taken first and squared afterwards. Square each feature, then take the mean."),
            {"size": "square of mean"},
        ),
        Mistake(
            message("This is the mean of the sizes |x|. Square each feature, take the mean, then the root."),
            {"size": "square of mean size"},
        ),
        Mistake(
            message("You divided by the largest feature. Divide by the root of the mean of the squares."),
            {"size": "largest"},
            alone=True,
        ),
        Mistake(message("The root is missing: divide by √(mean of x² + ε)."), {"root": "m + ε"}),
        Mistake(message("You multiplied by the root. Divide by it, or multiply by rsqrt."), {"root": "1 / √(m + ε)"}),
        Mistake(message("ε is missing: add it to the mean of the squares, inside the root."), {"root": "√m"}),
        Mistake(message("ε was added after the root. Add it to the mean of the squares, inside."), {"root": "√m + ε"}),
        Mistake(message("ε was squared. Add it as it is to the mean of the squares."), {"root": "√(m + ε²)"}),
        Mistake(message("The gain is missing: multiply each feature by its own."), {"gains": "none"}),
        Mistake(message("The gain was added. Multiply by it."), {"gains": "plus"}),
        Mistake(
            message("You multiplied by 1 + gain, as some models do. Here it is only the gain."), {"gains": "1 + gain"}
        ),
        Mistake(message("You divided by the gain. Multiply by it."), {"gains": "divided"}, alone=True),
        Mistake(message("The mean ran over the tokens. Each token has its own: dim=-1, keepdim=True."), {"dim": 0}),
        Mistake(
            message("The mean ran over all numbers. Each token has its own: dim=-1, keepdim=True."), {"dim": (0, 1)}
        ),
        Mistake(
            message("These are the features as they came in, times the gain. Divide them by the root first."),
            lambda x, gain, epsilon: x * gain,
        ),
    ),
)
