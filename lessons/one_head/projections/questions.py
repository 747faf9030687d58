"""Why queries, keys and values? Questions about an example and one of its heads."""

import math
from collections.abc import Sequence

from torch import Generator

from lessons.example.example import ExampleTrace
from lessons.screen import Card, Fixed, Message, Token, message
from lessons.shared.matrices import how_many_shown
from lessons.shared.questions import (
    Asked,
    Kinds,
    Maker,
    asks_about,
    below,
    beyond_figure,
    multiple_choice,
    multiple_choice_of_numbers,
    multiple_choice_of_tokens,
    shaped,
    sizes,
    two_of,
)
from lessons.trace.head import VECTORS

ROLES = ("q", "k", "v")
CLEARLY_LONGER = 1.1  # times as long as the next


@beyond_figure
def shape_of_q(trace: ExampleTrace, head: int, random: Generator) -> Asked:
    """A projection keeps the tokens and changes the features."""
    n, d, d_k = sizes(3, random)
    reply = message("Each token keeps its row; its features are mixed into {d_k} new ones.", d_k=d_k)
    return multiple_choice(
        message(
            "In another model X is {x}, and W_q of one head is {W_q}. What is the shape of its queries, Q = X W_q?",
            x=shaped(n, d),
            W_q=shaped(d, d_k),
        ),
        Card(shaped(n, d_k), reply, message("the rows of X, the columns of W_q")),
        Card(
            shaped(n, d),
            message("The columns of X meet the rows of W_q and disappear: its columns are left."),
            message("the rows of X, the columns of X"),
        ),
        Card(
            shaped(d_k, n),
            message("That is Qᵀ: in Q, the tokens are the rows."),
            message("the columns of W_q, the rows of X"),
        ),
        Card(
            shaped(d, d_k),
            message("That is the shape of W_q itself, not of the product."),
            message("the rows of W_q, the columns of W_q"),
        ),
    )


def entry_of_query(trace: ExampleTrace, head: int, random: Generator) -> Asked:
    """A row of X, times a column of W_q; not where a query is something else, too."""
    if any(part is not None for part in (trace.added, trace.rotary, trace.turn)):
        return None
    attention, position = trace.heads.select(head), below(len(trace.tokens), random)
    feature = below(attention.q.shape[-1], random)
    row, q = trace.x[position], float(attention.q[position, feature])
    why = message("Its row of X times column {feature} of W_q: multiply in pairs, then add.", feature=feature + 1)
    return multiple_choice_of_numbers(
        message("What is feature {feature} of the query of {token}?", feature=feature + 1, token=trace.names[position]),
        (q, why, message("its row of X, times a column of W_q")),
        (
            float(row[feature]) if feature < len(row) else math.nan,
            message("That is its row of X. W_q mixes all its features into new ones."),
            message("the same feature of its row of X"),
        ),
        (
            float(attention.k[position, feature]),
            message("W_k makes its key. Its query comes from W_q."),
            message("its row of X, times a column of W_k"),
        ),
        (
            float(attention.q[:, feature].sum()),
            message("A query comes from the row of its own token alone."),
            message("all rows of X, times a column of W_q"),
        ),
        (
            float(row.sum()),
            message("That leaves out W_q: each number is first multiplied by a weight."),
            message("its row of X, added up"),
        ),
    )


def longest_in(role: str) -> Maker:
    """Which token has the longest vector in this role: to be read off Q, K or V."""

    def make(trace: ExampleTrace, head: int, random: Generator) -> Asked:
        vectors = getattr(trace.heads.select(head), role)
        sums = (vectors**2).sum(dim=-1)
        lengths = sums.sqrt()
        longest, row = int(lengths.argmax()), int(trace.x.norm(dim=-1).argmax())
        if len(lengths) < 2 or lengths[longest] < CLEARLY_LONGER * lengths.topk(2).values[1]:
            return None
        return multiple_choice_of_tokens(
            message(
                "Which token has the longest {vector}, that is, the one whose squared numbers have the largest sum?",
                vector=VECTORS[role],
            ),
            trace.names,
            lengths,
            message(
                "Its squared numbers add up to {sum}; the root of that, {length}, is its length.",
                sum=Fixed(float(sums[longest])),
                length=Fixed(float(lengths[longest])),
            ),
            [
                (
                    row,
                    message(
                        "It has the longest row in X, but {matrix} stretches only some directions.",
                        matrix=f"W_{role}",
                    ),
                )
            ],
            lambda p: message(
                "The squared numbers of {token} add up to {sum}; those of another token add up to more.",
                token=trace.names[p],
                sum=Fixed(float(sums[p])),
            ),
        )

    return make


def read_off(role: str) -> Maker:
    """A token is a row, a feature is a column."""

    def make(trace: ExampleTrace, head: int, random: Generator) -> Asked:
        vectors = getattr(trace.heads.select(head), role)
        n, width = len(vectors), how_many_shown(vectors.shape[-1])
        position, feature = below(n, random), below(width, random)
        others = [
            (
                float(vectors[position, (feature + step) % width]),
                message("That is feature {feature} of this token.", feature=(feature + step) % width + 1),
            )
            for step in (1, -1)
        ]
        other_rows = [
            (
                float(vectors[(position + step) % n, feature]),
                message("That is this feature of {token}.", token=trace.names[(position + step) % n]),
            )
            for step in (1, -1)
        ]
        in_x = float(trace.x[position, feature]) if feature < trace.x.shape[-1] else math.nan
        return asks_about(
            role,
            (position, feature),
            multiple_choice_of_numbers(
                message(
                    "Find feature {feature} of {token} in {matrix}. Which number is it?",
                    feature=feature + 1,
                    token=trace.names[position],
                    matrix=role.upper(),
                ),
                (float(vectors[position, feature]), message("It is in the row of its token and in that column.")),
                others[0],
                other_rows[0],
                (in_x, message("That is the number in X.")),
                others[1],
                other_rows[1],
            ),
        )

    return make


def best_key(trace: ExampleTrace, head: int, random: Generator) -> Asked:
    """A row of Q Kᵀ belongs to a query, a column to a key."""
    query, scores = below(len(trace.tokens), random), trace.heads.select(head).scores
    asks = trace.names[query]
    return multiple_choice_of_tokens(
        message("In the row of {query} in Q Kᵀ, which key gives the largest number?", query=asks),
        trace.names,
        scores[query],
        message("Its column has {score} in this row.", score=Fixed(float(scores[query].max()))),
        [
            (
                int((trace.x @ trace.x[query]).argmax()),
                message("It has the largest number in X Xᵀ, but Q Kᵀ compares queries with keys."),
            ),
            (
                int(scores[:, query].argmax()),
                message("That reads down the column, but the rows are the queries."),
            ),
        ],
        lambda p: message(
            "The column of {key} has {score} in this row; another has more.",
            key=trace.names[p],
            score=Fixed(float(scores[query, p])),
        ),
    )


def score_the_other_way(trace: ExampleTrace, head: int, random: Generator) -> Asked:
    """Scores of queries and keys are not symmetric."""
    (a, b), scores = two_of(len(trace.tokens), random), trace.heads.select(head).scores
    one, other = trace.names[a], trace.names[b]
    why = message("Another query meets another key, so Q Kᵀ need not be symmetric.")
    return asks_about(
        "scores",
        (b, a),
        multiple_choice_of_numbers(
            lambda shown: message(
                "The dot product of the query of {one} and the key of {other} is {score}. What is that of "
                "the query of {other} and the key of {one}?",
                one=one,
                other=other,
                score=shown(float(scores[a, b])),
            ),
            (float(scores[b, a]), why, message("the other query meets the other key")),
            (
                float(scores[a, b]),
                message("That would make Q Kᵀ symmetric, as X Xᵀ is. But a token's query is not its key."),
                message("the same two tokens have the same score"),
            ),
            (
                float(trace.x[a] @ trace.x[b]),
                message("That leaves out W_q and W_k: Q Kᵀ compares queries with keys."),
                message("the rows of X, multiplied as they are"),
            ),
            (float(scores[b, b]), on_diagonal(other), message("the other query meets its own key")),
            (float(scores[a, a]), on_diagonal(one), message("the first query meets its own key")),
        ),
    )


def on_diagonal(token: Token) -> Message:
    """What is said to whoever takes the score of a token for itself."""
    return message("That is the score of {token} for itself, on the diagonal of Q Kᵀ.", token=token)


@beyond_figure
def one_more_token(trace: ExampleTrace, head: int, random: Generator) -> Asked:
    """Q grows with the sentence, W_q does not. Always possible."""
    d_model, d_k = trace.x.shape[-1], trace.example.d_k
    reply = message(
        "Each row of X makes a row of Q, K and V. W_q stays {W_q} however long the sentence is.",
        W_q=shaped(d_model, d_k),
    )
    return multiple_choice(
        message("The sentence gets one more token. Which matrices of this head get one more row?"),
        Card(message("X, Q, K and V."), reply, message("each of them has a row for each token")),
        Card(
            message("X, Q, K, V and the weights W_q, W_k and W_v."),
            message("The weights do not grow: a new token uses those that are there."),
            message("a new token makes every matrix one row longer"),
        ),
        Card(
            message("Only X."),
            message("Q, K and V are computed from X row by row, so they get a row, too."),
            message("only the input gets longer"),
        ),
        Card(
            message("W_q, W_k and W_v."),
            message("All tokens share the same weights, new ones included."),
            message("a new token needs new weights"),
        ),
    )


def questions_of(view: str) -> Kinds:
    """What is to be read off depends on what is shown: one of the products, all of them as bars, or X Xᵀ and Q Kᵀ."""
    read: dict[str, Sequence[Maker]] = {
        "mirror": (best_key,),
        "head": tuple(map(longest_in, ROLES)),
        **{role: (longest_in(role), read_off(role)) for role in ROLES},
    }
    return {"look": read[view], **BEYOND}


BEYOND: Kinds = {
    "predict": (
        score_the_other_way,
        entry_of_query,
    ),
    "generalise": (
        one_more_token,
        shape_of_q,
    ),
}
QUESTIONS = questions_of("q")  # of the view that comes first
