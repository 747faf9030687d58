"""Predict, then look: questions about the current tensors, and for each wrong choice the sentence that mends it.

Every kind of question is a function of the trace, the head and a random generator. It returns None where
the tensors make no fair question of it: a single token, a tie, numbers that look alike when printed.
The last kind of each lesson always makes one. Wrong choices are what a real misconception would predict.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.attention import AttentionTrace, attend, mask_scores, scale_scores, softmax_rows
from attention_core.captions import name, number, plural
from attention_core.examples import ExampleTrace
from attention_core.masks import causal_mask
from attention_core.randomness import generator

MOST_WRONG = 3
CLEAR_LEAD = 0.01  # what wins by less looks like a tie in numbers with two digits
ROUNDS = 3


@dataclass(frozen=True)
class Choice:
    """Something to choose, and what is said to whoever chose it."""

    text: str
    answer_to_it: str


@dataclass(frozen=True)
class Question:
    """A prompt and two to four choices that read differently; `right` is the index of the only right one."""

    prompt: str
    choices: tuple[Choice, ...]
    right: int


Maker = Callable[[ExampleTrace, int, torch.Generator], Question | None]
Value = tuple[float, str]  # a number to choose, and what is said to whoever chose it


def ask(lesson: str, trace: ExampleTrace, head: int, seed: int) -> Question:
    """A question of this lesson about these tensors. The same arguments give the same question."""
    random = generator(seed, f"quiz of {lesson}")
    makers = QUESTIONS[lesson]
    for _ in range(ROUNDS):
        for place in torch.randperm(len(makers), generator=random).tolist():
            question = makers[place](trace, head, random)
            if question is not None:
                return shuffled(question, random)
    raise LookupError(f"the lesson {lesson} has no question that fits this example")


def shuffled(question: Question, random: torch.Generator) -> Question:
    """The same question with its choices in a random order."""
    order = torch.randperm(len(question.choices), generator=random).tolist()
    choices = tuple(question.choices[place] for place in order)
    return Question(question.prompt, choices, order.index(question.right))


# Making choices that differ


def among(prompt: str, right: Choice, *wrong: Choice) -> Question | None:
    """The right choice and the first wrong ones that read differently; None where no wrong one is left."""
    different = {right.text: right}
    for choice in wrong:
        if len(different) <= MOST_WRONG:
            different.setdefault(choice.text, choice)
    return Question(prompt, tuple(different.values()), 0) if len(different) > 1 else None


def among_numbers(prompt: Callable[[Callable[[float], str]], str], right: Value, *wrong: Value) -> Question | None:
    """Numbers to choose from, with two to four digits: as few as keep two wrong ones clearly apart from the right.

    `prompt` is given the function that prints numbers with these digits.
    """

    def apart(digits: int) -> list[Value]:
        return [v for v in wrong if math.isfinite(v[0]) and abs(v[0] - right[0]) >= 1.5 * 10**-digits]

    def different(digits: int) -> int:
        return len({number(value, digits) for value, _ in apart(digits)})

    digits = max((2, 3, 4), key=lambda d: min(different(d), 2))
    choices = [Choice(number(value, digits), answer) for value, answer in (right, *apart(digits))]
    return among(prompt(lambda value: number(value, digits)), *choices)


def among_tokens(
    prompt: str,
    trace: ExampleTrace,
    values: Float[Tensor, " tokens"],
    why: str,
    beliefs: list[tuple[int, str]],
    other: Callable[[int], str],
) -> Question | None:
    """Which token has the largest value? None unless one leads clearly.

    `beliefs` are places that a misconception would choose, with the sentences that mend it;
    `other` makes the sentence for any further token.
    """
    order = values.argsort(descending=True).tolist()
    if len(order) < 2 or values[order[0]] - values[order[1]] < CLEAR_LEAD:
        return None
    wrong = [*beliefs, *((place, other(place)) for place in order[1:])]
    right = Choice(name(trace.tokens, order[0]), why)
    return among(prompt, right, *(Choice(name(trace.tokens, p), mend) for p, mend in wrong if p != order[0]))


def shape(rows: int, columns: int) -> str:
    """The size of a matrix as it is said: rows × columns."""
    return f"{rows} × {columns}"


def below(end: int, random: torch.Generator) -> int:
    """A random whole number from 0 to end − 1."""
    return int(torch.randint(end, (), generator=random))


def one_of(fits: Bool[Tensor, " places"], random: torch.Generator) -> int | None:
    """A random place among those that fit; None where none does."""
    places = fits.nonzero()[:, 0].tolist()
    return places[below(len(places), random)] if places else None


def two_of(n_tokens: int, random: torch.Generator) -> tuple[int, int] | None:
    """Two different random places; None where there is only one."""
    if n_tokens < 2:
        return None
    first, second = torch.randperm(n_tokens, generator=random).tolist()[:2]
    return first, second


def row_with_a_choice(attention: AttentionTrace, random: torch.Generator) -> int | None:
    """A random query that may look at more than one token."""
    return one_of(attention.visible.sum(dim=-1) > 1, random)


def weights_if(
    trace: ExampleTrace, head: int, causal: bool | None = None, scaling: bool | None = None
) -> Float[Tensor, "queries keys"]:
    """The weights this head would have with the mask or the scaling switched on or off."""
    scores = trace.heads.select(head).scores
    causal = trace.example.causal if causal is None else causal
    scaling = trace.example.scaling if scaling is None else scaling
    mask = causal_mask(len(trace.tokens)) if causal else None
    scale = 1 / math.sqrt(trace.example.d_k) if scaling else 1.0
    return softmax_rows(mask_scores(scale_scores(scores, scale), mask))


# tokens: what goes in?


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


# dot_product: can tokens attend with no weights at all?


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


# projections: why queries, keys and values?


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


# scores: why divide by √d_k?


def best_match(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Rows ask, columns answer."""
    i = below(len(trace.tokens), random)
    asker, scores = name(trace.tokens, i), trace.heads.select(head).scores
    column = int(scores[:, i].argmax())
    return among_tokens(
        f"Before any mask: which key fits the query of {asker} best, with the largest score?",
        trace,
        scores[i],
        "It has the largest number in the row of the query.",
        [
            (column, f"That is read down the column: its query fits the key of {asker} best. Rows ask."),
            (i, "A query need not fit the key of its own token: the two come from different weights."),
        ],
        lambda p: f"The score of {asker} with {name(trace.tokens, p)} is {number(float(scores[i, p]))}; one is larger.",
    )


def scaled_score(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """By √d_k, not by d_k; divided, not multiplied."""
    n, d_k = len(trace.tokens), trace.example.d_k
    i, j = below(n, random), below(n, random)
    score, root = float(trace.heads.select(head).scores[i, j]), math.sqrt(d_k)
    return among_numbers(
        lambda shown: (
            f"The score of {name(trace.tokens, i)} with {name(trace.tokens, j)} is {shown(score)}, and d_k is "
            f"{d_k}. What is the scaled score?"
        ),
        (score / root, f"The score divided by √{d_k} = {number(root)}."),
        (score, "That is the score before scaling: it still has to be divided."),
        (score / d_k, f"That is divided by d_k = {d_k}. The spread of the scores grows with its root, √{d_k}."),
        (score * root, f"That is multiplied by √{d_k}. Scaling takes the spread out, so it divides."),
    )


def scaling_switched(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Scaling changes scores, and weights follow through the softmax."""
    attention, root = trace.heads.select(head), math.sqrt(trace.example.d_k)
    i = row_with_a_choice(attention, random)
    if i is None or trace.example.d_k == 1:
        return None
    scaling = trace.example.scaling
    now, then = float(attention.weights[i].max()), float(weights_if(trace, head, scaling=not scaling)[i].max())
    naive = now * root if scaling else now / root
    return among_numbers(
        lambda shown: (
            f"{'With' if scaling else 'Without'} scaling, the largest weight in the row of "
            f"{name(trace.tokens, i)} is {shown(now)}. What is it {'without' if scaling else 'with'} scaling?"
        ),
        (then, "Scores further apart make a sharper row, scores closer together a flatter one."),
        (now, "Scaling moves the scores apart or together, and softmax sees every difference."),
        (
            naive if naive <= 1 else math.nan,
            f"The scores change by √{trace.example.d_k}; weights do not follow in step.",
        ),
        (
            1 / int(attention.visible[i].sum()),
            "Equal shares need equal scores, and scaling makes no two scores equal.",
        ),
    )


def spread_of_scores(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """The division is not there to make rows softer: it keeps the spread the same. Always possible."""
    d_k = trace.example.d_k
    more = 4 * d_k
    root = math.sqrt(more)
    return among_numbers(
        lambda shown: (
            f"Let all features of q and k be independent, with mean 0 and standard deviation 1. With d_k = {d_k}, "
            f"q · k ÷ √{d_k} has standard deviation 1. What is it for d_k = {more}, divided by √{more}?"
        ),
        (math.sqrt(more) / root, "q · k spreads by √d_k, and the division takes just that away, whatever d_k is."),
        (
            math.sqrt(d_k) / root,
            "The division does not make it softer and softer: q · k itself spreads more as d_k grows.",
        ),
        (math.sqrt(more) / math.sqrt(d_k), f"That is divided by √{d_k} as before. Divide by the root of the new d_k."),
        (math.sqrt(more), f"That is the spread of q · k itself, before the division by √{more}."),
    )


# mask: who may look at whom?


def hidden_weight(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """What is hidden gets exactly nothing."""
    pair = two_of(len(trace.tokens), random)
    if pair is None:
        return None
    i, j = sorted(pair)
    weights, free = weights_if(trace, head, causal=True), float(weights_if(trace, head, causal=False)[i, j])
    a, b = name(trace.tokens, i), name(trace.tokens, j)
    row = trace.heads.select(head).scores[i] * trace.scale
    zero_score = float(softmax_rows(torch.where(torch.arange(len(row)) <= i, row, 0.0)[None])[0, j])
    return among_numbers(
        lambda shown: f"With the causal mask, which weight does {a} give to {b}, which comes later?",
        (float(weights[i, j]), "Its score is −∞ before the softmax, and exp(−∞) is exactly 0."),
        (free, f"That is the weight without the mask. {a} may not look ahead."),
        (float(weights[j, i]), f"That is what {b} gives to {a}: looking back is allowed. Rows ask, columns answer."),
        (zero_score, "That is what a hidden score of 0 would give, as exp(0) = 1. A hidden score is −∞."),
    )


def mask_switched(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """The mask changes also the weights of what stays visible: a row sums to 1."""
    causal, n = trace.example.causal, len(trace.tokens)
    if n < 2:
        return None
    i = below(n - 1, random)  # the last token sees everything either way
    j = below(i + 1, random)
    now, then = (weights_if(trace, head, causal=mask) for mask in (causal, not causal))
    a, b = name(trace.tokens, i), name(trace.tokens, j)
    return among_numbers(
        lambda shown: (
            f"{'With' if causal else 'Without'} the causal mask, {a} gives the weight {shown(float(now[i, j]))} "
            f"to {b}. What is it {'without' if causal else 'with'} the mask?"
        ),
        (float(then[i, j]), "A row sums to 1, so whoever comes in or drops out changes the shares of all others."),
        (float(now[i, j]), "The score stays, but the share does not: the row is shared among other tokens now."),
        (float(then[j, i]), f"That is what {b} gives to {a}. The row is the one that asks."),
        (1 / (n if causal else i + 1), "Equal shares need equal scores. The mask leaves visible scores as they are."),
    )


def zeros_after_softmax(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Zeroing after the softmax is not a mask."""
    n = len(trace.tokens)
    if n < 2:
        return None
    i = below(n - 1, random)
    row = weights_if(trace, head, causal=False)[i]
    kept = float(row[: i + 1].sum())
    return among_numbers(
        lambda shown: (
            f"Somebody takes the softmax over all {n} tokens first, and only then writes 0 where the causal mask "
            f"hides. What does the row of {name(trace.tokens, i)} sum to?"
        ),
        (kept, "The hidden tokens have taken their share already. A mask must come before the softmax."),
        (1.0, "Only if the mask comes first: then the visible tokens share the whole."),
        (1 - kept, "That is the share of the hidden tokens, which was thrown away."),
        ((i + 1) / n, "That counts tokens. Their shares are not equal."),
    )


def how_many_visible(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Oneself and what came before. Always possible."""
    n = len(trace.tokens)
    i = below(n, random)
    token, causal = name(trace.tokens, i), trace.example.causal
    back = Choice(str(i + 1), "That would be so with the causal mask, which is switched off here.")
    right = Choice(str(n), "Without a mask every token may look at every token, itself included.")
    itself = Choice(str(n - 1), "It may look at itself, too.")
    if causal:
        right = Choice(str(i + 1), "It may look at itself and at what came before.")
        back = Choice(str(n), "That would be so without the mask. The causal mask hides what comes later.")
        itself = Choice(str(i), "It may look at itself, too.")
    around = Choice(str(n - i), f"That is how many may look at {token} under the mask: its column. Rows ask.")
    where = f"The causal mask is {'on' if causal else 'off'}, and {token} is token {i + 1} of {n}."
    return among(f"{where} How many tokens may it look at?", right, itself, back, *([around] if causal else []))


# softmax: how do scores become weights?


def most_looked_at(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """The largest weight stands in the row, among what the mask leaves."""
    attention = trace.heads.select(head)
    i = row_with_a_choice(attention, random)
    if i is None:
        return None
    asker, row = name(trace.tokens, i), attention.weights[i]
    column, best = int(attention.weights[:, i].argmax()), int(attention.scores[i].argmax())
    hidden = [] if attention.visible[i, best] else [(best, "It would have the largest score, but the mask hides it.")]
    return among_tokens(
        f"Which token does {asker} give its largest weight?",
        trace,
        row,
        "Softmax keeps the order: the largest visible score in the row gets the largest weight.",
        [
            *hidden,
            (column, f"That is read down the column: no token gives {asker} more weight. Rows ask."),
            (i, "A token does not always look at itself most: its query need not fit its own key."),
        ],
        lambda p: f"{name(trace.tokens, p)} gets {number(float(row[p]))} from {asker}; one gets more.",
    )


def weight_cell(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """One weight among what one gets by forgetting a step."""
    attention, example = trace.heads.select(head), trace.example
    i = row_with_a_choice(attention, random)
    if i is None:
        return None
    j = one_of(attention.visible[i], random)
    a, b = name(trace.tokens, i), name(trace.tokens, j)
    row = attention.masked[i][attention.visible[i]]
    share = float(attention.masked[i, j] / row.sum()) if (row > 0).all() else math.nan
    other_scale = float(weights_if(trace, head, scaling=not example.scaling)[i, j])
    without = "without scaling. The scores are divided first" if example.scaling else "with scaling, which is off here"
    return among_numbers(
        lambda shown: f"What is the weight that {a} gives to {b}?",
        (float(attention.weights[i, j]), "Its exp, divided by the sum of the exps of all visible scores in the row."),
        (float(attention.weights[j, i]), f"That is what {b} gives to {a}. Rows ask, columns answer."),
        (other_scale, f"That is the weight {without}."),
        (float(weights_if(trace, head, causal=False)[i, j]), "That forgets the mask: hidden tokens take no share."),
        (share, "That is the share of the scores themselves. Softmax takes exp of each score first."),
        (1 / len(row), "Equal shares need equal scores, and these differ."),
    )


def scores_doubled(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Softmax sees differences, and doubling doubles them."""
    attention = trace.heads.select(head)
    i = row_with_a_choice(attention, random)
    if i is None:
        return None
    j = one_of(attention.visible[i], random)
    now = float(attention.weights[i, j])
    then, halved = (float(softmax_rows(attention.masked[[i]] * factor)[0, j]) for factor in (2, 0.5))
    return among_numbers(
        lambda shown: (
            f"{name(trace.tokens, i)} gives {name(trace.tokens, j)} the weight {shown(now)}. All scores in the "
            "row are doubled just before the softmax. What is the weight now?"
        ),
        (then, "All differences in the row have doubled, so the largest weight gains and the smallest loses."),
        (now, "Softmax sees differences between scores, and these have doubled as well."),
        (2 * now if now <= 0.5 else math.nan, "If all weights doubled, the row would sum to 2."),
        (halved, "That is what halved scores give: differences shrink, and the row becomes flatter."),
    )


def column_sum(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Rows sum to 1; columns need not."""
    n = len(trace.tokens)
    if n < 2:
        return None
    j = below(n, random)
    column = trace.heads.select(head).weights[:, j]
    return among_numbers(
        lambda shown: (
            f"Add up the weights that all tokens give to {name(trace.tokens, j)}, down its column. What is the sum?"
        ),
        (float(column.sum()), "How much a token is looked at, by everybody together, has no fixed sum."),
        (1.0, "Rows sum to 1: each token gives away one whole. What a token gets need not."),
        (float(column.mean()), "That is the average of the column, not its sum."),
        (float(column.max()), "That is only the largest weight in the column."),
    )


def constant_added(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """A constant added to a whole row changes no weight. Always possible."""
    attention, constant = trace.heads.select(head), 1 + below(9, random)
    i = below(len(trace.tokens), random)
    j = one_of(attention.visible[i], random)
    weight = number(float(attention.weights[i, j]))
    return among(
        f"{name(trace.tokens, i)} gives {name(trace.tokens, j)} the weight {weight}. Add {constant} to every score in "
        "the row, just before the softmax. What happens to this weight?",
        Choice("It stays as it is.", f"Every exp is multiplied by e^{constant}, and so is their sum: it cancels."),
        Choice("It grows.", "All the exps grow by the same factor, and their sum with them: the share stays."),
        Choice("It shrinks.", "Softmax sees the differences between scores, and these have not changed."),
    )


# output: what comes out?


def output_cell(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """A mixture by the weights of the row."""
    attention = trace.heads.select(head)
    i = row_with_a_choice(attention, random)
    if i is None:
        return None
    feature, weights = below(attention.v.shape[-1], random), attention.weights
    values, winner = attention.v[:, feature], int(weights[i].argmax())
    free = weights_if(trace, head, causal=False)[i]
    return among_numbers(
        lambda shown: f"What is number {feature + 1} in the output of {name(trace.tokens, i)}?",
        (float(weights[i] @ values), "Each value times its weight in the row, all added up."),
        (
            float(values[winner]),
            f"That is the value of {name(trace.tokens, winner)} alone. The others are mixed in, too.",
        ),
        (float(weights[:, i] @ values), "That takes the weights down the column. The row asks, so it does the mixing."),
        (float(free @ values), "That forgets the mask: hidden values must not be mixed in."),
        (float(values[attention.visible[i]].mean()), "That is the plain average. Each value counts by its weight."),
        (float(values[i]), "That is its own value, before attention mixed anything."),
    )


def shape_of_output(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """A row for each token that asks, with the features of a value."""
    n, d_v = len(trace.tokens), trace.example.d_v
    return among(
        f"In one head the weights are {shape(n, n)} and V is {shape(n, d_v)}. What is the shape of its output?",
        Choice(shape(n, d_v), "A row for each token that asks, with the features of a value."),
        Choice(shape(n, n), "That is the shape of the weights. Mixing values gives vectors like values."),
        Choice(shape(1, d_v), "Every token asks for itself, so every token has a row in the output."),
        Choice(shape(d_v, n), "That is the output turned on its side. Tokens are rows."),
    )


def largest_contribution(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """A big weight is not a big influence."""
    attention = trace.heads.select(head)
    i = row_with_a_choice(attention, random)
    if i is None:
        return None
    asker, lengths = name(trace.tokens, i), attention.v.norm(dim=-1)
    parts = attention.weights[i] * lengths
    heaviest, longest = int(attention.weights[i].argmax()), int(lengths.argmax())
    return among_tokens(
        f"The output of {asker} adds up weight × value for every token. Which of these terms is the longest vector?",
        trace,
        parts,
        "What counts is the weight times the length of the value.",
        [
            (heaviest, "It has the largest weight, but a shorter value. A big weight is not a big influence."),
            (longest, "It has the longest value, but too small a weight in this row."),
        ],
        lambda p: f"The term of {name(trace.tokens, p)} has length {number(float(parts[p]))}; one is longer.",
    )


def tokens_shuffled(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Without a mask, attention does not know the order; the causal mask brings some in."""
    pair = two_of(len(trace.tokens), random)
    if pair is None:
        return None
    i, j = pair
    before, after, causal = trace.heads.select(head).output, swapped(trace, head, i, j), trace.example.causal
    change, to_other = (float((after[j] - before[place]).abs().max()) for place in (i, j))
    if to_other < CLEAR_LEAD or (change < CLEAR_LEAD if causal else change > 1e-3):
        return None
    a, b = name(trace.tokens, i), name(trace.tokens, j)
    why_same = "Without a mask the same queries meet the same keys and mix the same values: only rows change places."
    why_new = "From its new place it may look at other tokens. The mask makes the order count."
    same = Choice("It keeps its numbers.", why_new if causal else why_same)
    new = Choice(f"It gets other numbers, and not those of {b}.", why_new if causal else why_same)
    other = Choice(f"It takes on the numbers of {b}.", "Its query goes with it, so it does not become the other token.")
    prompt = (
        f"The causal mask is {'on' if causal else 'off'}. {a} and {b} change places, and each brings its query, key "
        f"and value along. What happens to the output of {a}?"
    )
    return among(prompt, *((new, same, other) if causal else (same, new, other)))


def swapped(trace: ExampleTrace, head: int, i: int, j: int) -> Float[Tensor, "tokens d_v"]:
    """The output of this head when two tokens change places."""
    attention = trace.heads.select(head)
    order = list(range(len(trace.tokens)))
    order[i], order[j] = j, i
    mask = causal_mask(len(order)) if trace.example.causal else None
    return attend(attention.q[order], attention.k[order], attention.v[order], mask, scale=trace.scale).output


def values_doubled(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """The output follows the values in step; the weights do not know them. Always possible."""
    i = below(len(trace.tokens), random)
    return among(
        f"Every value is doubled; queries and keys stay. What happens to the output of {name(trace.tokens, i)}?",
        Choice("It doubles.", "The weights stay, and twice each value makes twice the mixture."),
        Choice("It stays as it is.", "The weights stay and sum to 1, but what they mix is twice as large."),
        Choice(
            "It becomes 4 times as large.",
            "That would need doubled weights, too. They come from queries and keys alone.",
        ),
    )


QUESTIONS: dict[str, tuple[Maker, ...]] = {
    "tokens": (shape_of_x, same_token_twice, tokens_swapped, token_once_more),
    "dot_product": (
        largest_dot_product,
        dot_product_cell,
        dot_product_the_other_way,
        shape_of_dot_products,
        vector_twice_as_long,
    ),
    "projections": (shape_of_q, longest_value, score_the_other_way, one_more_token),
    "scores": (best_match, scaled_score, scaling_switched, spread_of_scores),
    "mask": (hidden_weight, mask_switched, zeros_after_softmax, how_many_visible),
    "softmax": (most_looked_at, weight_cell, scores_doubled, column_sum, constant_added),
    "output": (output_cell, shape_of_output, largest_contribution, tokens_shuffled, values_doubled),
}
