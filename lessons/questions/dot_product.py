"""Questions of the lesson dot_product: can tokens attend with no weights at all?"""

import torch

from lessons.captions import name, number
from lessons.example import ExampleTrace
from lessons.questions.old_base import Choice, Maker, Question, among, among_numbers, among_tokens, below, shape, two_of


def largest_dot_product(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """A long vector can win over the token itself."""
    i = below(len(trace.tokens), random)
    asker, row = name(trace.tokens, i), trace.x @ trace.x[i]
    longest = int(trace.x.norm(dim=-1).argmax())
    return among_tokens(
        f"No weights, only X: take the dot product of {asker} with every token, itself included. Which is largest?",
        trace,
        row,
        "Its vector points in a similar direction, or it is long, or both.",
        [
            (i, "A token does not always fit itself best: a longer vector can give a larger dot product."),
            (longest, "It has the longest vector, but the direction counts as well."),
        ],
        lambda p: f"The dot product of {asker} and {name(trace.tokens, p)} is {number(float(row[p]))}; one is larger.",
    )


def dot_product_cell(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Multiply in pairs, then add."""
    pair = two_of(len(trace.tokens), random) or (0, 0)
    a, b = (trace.x[place] for place in pair)
    i, j = (name(trace.tokens, place) for place in pair)
    dot, lengths = float(a @ b), float(a.norm() * b.norm())
    return among_numbers(
        lambda shown: f"What is the dot product of {i} and {j}, taken from their rows of X?",
        (dot, "The numbers are multiplied in pairs, and the products are added."),
        (dot / max(lengths, 1e-9), "That is divided by both lengths: the cosine. A dot product keeps the lengths."),
        (float(a.sum() + b.sum()), "That adds all the numbers. A dot product multiplies them in pairs first."),
        (float(a.sum() * b.sum()), "That adds first and multiplies then. A dot product multiplies in pairs first."),
    )


def dot_product_the_other_way(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Without weights, scores are symmetric."""
    pair = two_of(len(trace.tokens), random)
    if pair is None:
        return None
    (a, b), (i, j) = (trace.x[list(pair)], (name(trace.tokens, place) for place in pair))
    dot = float(a @ b)
    return among_numbers(
        lambda shown: (
            f"In X Xᵀ, the row of {i} holds {shown(dot)} in the column of {j}. What does the row of {j} hold "
            f"in the column of {i}?"
        ),
        (dot, "The same products are added, so X Xᵀ is symmetric. With queries and keys it no longer need be."),
        (-dot, "Turning the two around changes no sign: a · b and b · a add the same products."),
        (float(b @ b), f"That is {j} with itself, on the diagonal."),
        (float(a @ a), f"That is {i} with itself, on the diagonal."),
    )


def shape_of_dot_products(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """A score for each pair of tokens."""
    n, d = trace.x.shape
    return among(
        f"X is {shape(n, d)}. What is the shape of X Xᵀ?",
        Choice(shape(n, n), "One dot product for each pair of tokens: rows ask, columns answer."),
        Choice(shape(d, d), "That is Xᵀ X, which compares features. X Xᵀ compares tokens."),
        Choice(
            shape(n, d), "That is X itself. Each dot product uses up the features and leaves one number for a pair."
        ),
    )


def vector_twice_as_long(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """The length of a vector counts, twice when it meets itself. Always possible."""
    i = below(len(trace.tokens), random)
    return among(
        f"Make the vector of {name(trace.tokens, i)} twice as long. What happens to its dot product with itself?",
        Choice("It becomes 4 times as large.", "Both sides are twice as long, and 2 × 2 = 4."),
        Choice("It becomes 2 times as large.", "That would be so with another token. Here both sides have doubled."),
        Choice("It stays as it is.", "That is true of the cosine. A dot product grows with the lengths."),
    )


QUESTIONS: tuple[Maker, ...] = (
    largest_dot_product,
    dot_product_cell,
    dot_product_the_other_way,
    shape_of_dot_products,
    vector_twice_as_long,
)
