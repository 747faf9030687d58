"""Questions of the lesson tokens: what goes in?"""

import torch

from lessons.captions import name, number, plural
from lessons.example import ExampleTrace
from lessons.questions.old_base import Choice, Maker, Question, among, below, one_of, shape, two_of


def shape_of_x(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Rows are tokens, columns are features."""
    n, d = trace.x.shape
    size = f"{n} {plural('token', n)}, each a vector of {d} {plural('number', d)}"
    return among(
        f"The sentence has {size}. What is the shape of X, rows × columns?",
        Choice(shape(n, d), "A row for each token, a column for each feature."),
        Choice(shape(d, n), "That is X turned on its side. Tokens are rows, features are columns."),
        Choice(shape(len(set(trace.ids)), d), "That counts different tokens. A token that comes twice has two rows."),
        Choice(shape(n, n), "That has a number for each pair of tokens, as scores do. X has one for each feature."),
        Choice(shape(1, d), "One row for all tokens would mix them up. Each token keeps a row of its own."),
    )


def same_token_twice(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """The place of a token is not in its vector."""
    n = len(trace.tokens)
    ids = torch.tensor(trace.ids)
    again = ids[:, None] == ids
    first = one_of(again.sum(dim=-1) > 1, random)
    if first is None:
        return None
    second = one_of(again[first] & (torch.arange(n) != first), random)
    if not torch.equal(trace.x[first], trace.x[second]):
        return None
    return among(
        f"{name(trace.tokens, first)} and {name(trace.tokens, second)} are the same token at two places. "
        "How do their rows of X compare?",
        Choice("They hold the same numbers.", "A row is looked up by the token alone; its place is not in it."),
        Choice(
            "They differ, as the two stand at different places.",
            "The same token has the same row wherever it stands. Places come in only if we add them.",
        ),
        Choice(
            "The later one holds larger numbers.", "Nothing is added up on the way: a row is looked up, not counted."
        ),
    )


def tokens_swapped(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Swapping tokens swaps rows and changes no number."""
    pair = two_of(len(trace.tokens), random)
    if pair is None or torch.equal(trace.x[pair[0]], trace.x[pair[1]]):
        return None
    a, b = (name(trace.tokens, place) for place in pair)
    return among(
        f"{a} and {b} change places, and each brings its vector along. What happens to X?",
        Choice("Two rows change places.", "The vectors move with their tokens, and no number in them changes."),
        Choice(
            "Two rows get new numbers.",
            "Order is not built into the vectors: a token has its vector wherever it stands.",
        ),
        Choice("Two columns change places.", "Columns are features, and every token has all of them. Tokens are rows."),
        Choice("Nothing changes.", "The rows of X stand in the order of the sentence, so two of them move."),
    )


def token_once_more(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """A token that comes again brings the row it has. Always possible."""
    place = below(len(trace.tokens), random)
    token, first = name(trace.tokens, place), number(float(trace.x[place, 0]))
    return among(
        f"Let each row of X be looked up in a table, by its token. Suppose {token} came once more, at the end of the "
        "sentence. Which row would X get?",
        Choice(f"The row that {token} has already; it starts with {first}.", "The same token, so the same row again."),
        Choice(
            "A row with numbers of its own, as the place is another.",
            "A row depends on the token alone. The same token has the same row at every place.",
        ),
        Choice(
            "No row, as X has one for each different token.",
            "X has a row for each place in the sentence, also where a token comes again.",
        ),
    )


QUESTIONS: tuple[Maker, ...] = (shape_of_x, same_token_twice, tokens_swapped, token_once_more)
