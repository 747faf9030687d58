"""Questions of the lesson projections: why queries, keys and values?"""

import torch

from lessons.captions import name, number, plural
from lessons.example import ExampleTrace
from lessons.questions.old_base import Choice, Maker, Question, among, among_numbers, among_tokens, shape, two_of


def shape_of_q(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """A projection keeps the tokens and changes the features."""
    (n, d), d_k = trace.x.shape, trace.example.d_k
    return among(
        f"X is {shape(n, d)}, and W_q of one head is {shape(d, d_k)}. What is the shape of its queries, Q = X W_q?",
        Choice(shape(n, d_k), "Each token keeps its row; its features are mixed into new ones."),
        Choice(shape(n, d), f"The rows are right. W_q turns {d} {plural('feature', d)} of a token into {d_k}."),
        Choice(shape(d_k, n), "That is Q turned on its side, as Kᵀ is in Q Kᵀ. Tokens are rows."),
        Choice(shape(d, d_k), "That is W_q itself. Q has a row for each token."),
    )


def longest_value(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """The longest token need not have the longest value, nor the longest key."""
    attention = trace.heads.select(head)
    lengths = attention.v.norm(dim=-1)
    token = int(trace.x.norm(dim=-1).argmax())
    key = int(attention.k.norm(dim=-1).argmax())
    return among_tokens(
        "In this head, which token has the longest value vector?",
        trace,
        lengths,
        "With the same weight, its value adds more to an output than any other.",
        [
            (token, "It has the longest row in X, but W_v stretches some directions and shrinks others."),
            (key, "It has the longest key. Keys and values come from different weights."),
        ],
        lambda p: f"The value of {name(trace.tokens, p)} has length {number(float(lengths[p]))}; one is longer.",
    )


def score_the_other_way(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Scores of queries and keys are not symmetric."""
    pair = two_of(len(trace.tokens), random)
    if pair is None:
        return None
    a, b = pair
    i, j = (name(trace.tokens, place) for place in pair)
    scores = trace.heads.select(head).scores
    return among_numbers(
        lambda shown: (
            f"The query of {i} times the key of {j} is {shown(float(scores[a, b]))}. "
            f"What is the query of {j} times the key of {i}?"
        ),
        (float(scores[b, a]), "Another query meets another key, so Q Kᵀ need not be symmetric."),
        (float(scores[a, b]), "That would make Q Kᵀ symmetric, as X Xᵀ is. But a token's query is not its key."),
        (float(trace.x[a] @ trace.x[b]), "That is the dot product of their rows of X, before W_q and W_k."),
        (float(scores[b, b]), f"That is the query of {j} times the key of {j} itself."),
    )


def one_more_token(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """The weights do not depend on the length of the sentence. Always possible."""
    d, d_k = trace.x.shape[-1], trace.example.d_k
    return among(
        f"W_q of one head is {shape(d, d_k)}. The sentence gets one more token. What shape does W_q need now?",
        Choice(shape(d, d_k), "Every token is multiplied by the same W_q, however many there are."),
        Choice(shape(d + 1, d_k), "The rows of W_q belong to the features of a token, not to tokens."),
        Choice(shape(d, d_k + 1), "The columns of W_q belong to the features of a query, not to tokens."),
    )


QUESTIONS: tuple[Maker, ...] = (shape_of_q, longest_value, score_the_other_way, one_more_token)
