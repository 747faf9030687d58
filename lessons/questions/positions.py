"""Questions of the lesson positions: does attention know the order?"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.embeddings import rotate, sinusoidal_positions
from attention_core.masks import causal_mask
from attention_core.permutation import attend_with_positions, shuffle
from lessons.captions import name
from lessons.example import ExampleTrace
from lessons.questions.old_base import Choice, Maker, Question, among, among_numbers, below, one_of, two_of, weights_if
from lessons.single_lessons import head_projections

SAME, OTHER = 1e-5, 1e-2  # outputs that differ by less are told as the same, by more as others; between: no question


def weight_moves_along(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """A weight belongs to two tokens, not to two places."""
    pair = two_of(len(trace.tokens), random)
    if pair is None:
        return None
    i, j = pair
    a, b = name(trace.tokens, i), name(trace.tokens, j)
    weights = weights_if(trace, head, causal=False)
    return among_numbers(
        lambda shown: (
            f"No mask, no positions: {a} gives {b} the weight {shown(float(weights[i, j]))}. "
            f"{a} and {b} change places. Which weight does {a} give to {b} now?"
        ),
        (float(weights[i, j]), "The score needs the query of one and the key of the other, not where they stand."),
        (float(weights[j, i]), f"That is what {b} gives to {a}. The weights move with their tokens, not with places."),
        (float(weights[i, i]), f"That is what {a} gives to itself."),
        (1 / len(weights), "Equal shares need equal scores."),
    )


def moved_to_the_front(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """The causal mask alone knows who stands first."""
    if len(trace.tokens) < 2:
        return None
    i = 1 + below(len(trace.tokens) - 1, random)
    a = name(trace.tokens, i)
    masked, free = (float(weights_if(trace, head, causal=causal)[i, i]) for causal in (True, False))
    return among_numbers(
        lambda shown: (
            f"Causal mask, no positions: {a} gives itself the weight {shown(masked)}. It is moved to the front of the "
            "sentence. Which weight does it give itself now?"
        ),
        (1.0, "Who stands first may look at nobody else. So the mask alone gives order away."),
        (masked, "That would be so if the mask knew no order. But who stands first may look at nobody else."),
        (free, "That is the weight without a mask. Who stands first may look at nobody else."),
        (1 / len(trace.tokens), "It may look at itself alone now, and a row always sums to 1."),
    )


def row_after_a_swap(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """What is added belongs to the place."""
    pair = two_of(len(trace.tokens), random)
    if pair is None:
        return None
    (i, j), f = pair, below(trace.x.shape[-1], random)
    a, b = name(trace.tokens, i), name(trace.tokens, j)
    added = sinusoidal_positions(*trace.x.shape)
    return among_numbers(
        lambda shown: (
            f"Sinusoidal positions are added to X. Then {a} and {b} change places, and the row of a place is added to "
            f"whoever stands there. What is number {f + 1} of the row that goes in for {a}?"
        ),
        (float(trace.x[i, f] + added[j, f]), f"Its own vector, and the row of the place where {b} stood."),
        (float(trace.x[i, f] + added[i, f]), "That was so before. The place stays behind when a token moves."),
        (float(trace.x[i, f]), "That is its vector alone. The row of its place is added."),
        (float(trace.x[j, f] + added[j, f]), f"That was the row of {b}. The place is the same, the token is not."),
    )


def rotary_score_moved_on(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """A rotary score depends on the distance alone."""
    pair = two_of(len(trace.tokens), random)
    if pair is None or trace.example.d_k % 2:
        return None
    (i, j), steps = pair, 1 + below(5, random)
    attention = trace.heads.select(head)
    a, b = name(trace.tokens, i), name(trace.tokens, j)

    def score(query_place: int, key_place: int) -> float:
        return float(turned(attention.q[i], query_place) @ turned(attention.k[j], key_place))

    return among_numbers(
        lambda shown: (
            f"Rotary positions, before any scaling: the score of {a} with {b} is {shown(score(i, j))}. {steps} more "
            f"{'token is' if steps == 1 else 'tokens are'} put in front of the sentence, so that both move on. "
            "What is the score now?"
        ),
        (score(i, j), "Both are turned further by the same angles, and the angle between them stays."),
        (score(i, j + steps), "That would be so if only the one that answers had moved. Their distance is the same."),
        (score(i + steps, j), "That would be so if only the one that asks had moved. Their distance is the same."),
        (score(0, 0), "That is the score without positions: query and key as they are, unturned."),
    )


def turned(vector: Float[Tensor, " d_k"], place: int) -> Float[Tensor, " d_k"]:
    """A query or key as rotary positions turn it at this place."""
    return rotate(vector.expand(place + 1, -1))[place]


def same_token_at_two_places(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Without positions the same token comes out the same; with them it does not."""
    alike = (trace.x[:, None] == trace.x).all(dim=-1)
    first = one_of(alike.sum(dim=-1) > 1, random)
    if first is None:
        return None
    second = one_of(alike[first] & (torch.arange(len(alike)) != first), random)
    kind = ("none", "sinusoidal")[below(2, random)]
    output = attend_with_positions(trace.x, head_projections(trace, head), kind, trace.example.seed).output
    gap = float((output[first] - output[second]).abs().max())
    if SAME < gap < OTHER:
        return None
    given = "no positions" if kind == "none" else "sinusoidal positions"
    return same_or_other(
        f"No mask, {given}. {name(trace.tokens, first)} and {name(trace.tokens, second)} are the same token at two "
        "places. How do their rows of the output compare?",
        gap <= SAME,
        ("They hold the same numbers.", "They differ."),
        "The same vector makes the same query, and both see the same keys and values: nothing tells them apart.",
        "Different rows were added to the same vector, so queries, keys and values differ.",
    )


def sentence_turned_round(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Without a mask only the rows move; the causal mask alone changes what a token sees."""
    n = len(trace.tokens)
    if n < 2:
        return None
    i, causal = below(n, random), below(2, random) == 1
    mask = causal_mask(n) if causal else None
    both = shuffle(trace.x, head_projections(trace, head), tuple(reversed(range(n))), "none", trace.example.seed, mask)
    gap = float((both.shuffled.output[n - 1 - i] - both.plain.output[i]).abs().max())
    if SAME < gap < OTHER:
        return None
    stays = float((both.shuffled.output - both.plain.output).abs().max())
    still = Choice(
        "The output stays as it is, row by row.",
        "The rows move with their tokens. Attention follows a shuffle; it does not undo it.",
    )
    return same_or_other(
        f"{'With the causal mask' if causal else 'Without a mask'}, and without positions: the sentence is turned "
        f"round, the last token first. How does the output of {name(trace.tokens, i)} compare with before?",
        gap <= SAME,
        ("It has the same numbers.", "It has other numbers."),
        "It sees the same keys as before, or such as give the same mixture; the order they stand in is not used.",
        "The mask hides what comes later, and now other tokens come later. A mask alone knows about order.",
        *([still] if stays > OTHER else []),
    )


def same_or_other(
    prompt: str, same: bool, texts: tuple[str, str], why_same: str, why_other: str, *more: Choice
) -> Question | None:
    """A choice between the same and other numbers, where the right one explains also the wrong one."""
    right, wrong = texts if same else reversed(texts)
    why = why_same if same else why_other
    return among(prompt, Choice(right, why), Choice(wrong, f"It is the other way. {why}"), *more)


def wave_at_a_place(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Places count from 0, and what is added is the sine, not the place. Always possible."""
    place = below(len(trace.tokens), random)
    return among_numbers(
        lambda shown: (
            f"Sinusoidal positions, places counted from 0: what is the first number added to "
            f"{name(trace.tokens, place)}, at place {place}?"
        ),
        (math.sin(place), f"sin({place}): the first pair of features turns by 1 radian at every place."),
        (math.cos(place), f"That is cos({place}), the second number of the row."),
        (float(place), "A count would grow without end and drown the vectors. What is added is its sine."),
        (math.sin(place + 1), "That counts from 1; the first place is place 0."),
    )


QUESTIONS: tuple[Maker, ...] = (
    weight_moves_along,
    moved_to_the_front,
    row_after_a_swap,
    rotary_score_moved_on,
    same_token_at_two_places,
    sentence_turned_round,
    wave_at_a_place,
)
