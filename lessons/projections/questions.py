"""Why queries, keys and values? Questions about an example and one of its heads."""

from torch import Generator

from lessons.example.example import ExampleTrace
from lessons.kit.questions import (
    Asked,
    among,
    among_numbers,
    among_tokens,
    asks_about,
    beyond_figure,
    shaped,
    sizes,
    two_of,
)
from lessons.screen.message import Number, say
from lessons.screen.screen import Card


@beyond_figure
def shape_of_q(example: ExampleTrace, head: int, random: Generator) -> Asked:
    """A projection keeps the tokens and changes the features."""
    n, d, d_k = sizes(3, random)
    return among(say("In another model X is {x}, and W_q of one head is {W_q}. What is the shape of its queries, "
                     "Q = X W_q?", x=shaped(n, d), W_q=shaped(d, d_k)),
                 Card(shaped(n, d_k), say("Each token keeps its row; its features are mixed into new ones."),
                                      say("the rows of X, the columns of W_q")),
                 Card(shaped(n, d),
                      say("The rows are right. W_q has {d_k} columns, so each query has {d_k} features.", d_k=d_k),
                      say("the rows of X, the columns of X")),
                 Card(shaped(d_k, n), say("That is Q turned on its side, as Kᵀ is in Q Kᵀ. Tokens are rows."),
                                      say("the columns of W_q, the rows of X")),
                 Card(shaped(d, d_k), say("That is W_q itself. Q has a row for each token."),
                                      say("the rows of W_q, the columns of W_q")))  # fmt: skip


def longest_value(example: ExampleTrace, head: int, random: Generator) -> Asked:
    """The longest token need not have the longest value, nor the longest key."""
    attention = example.heads.select(head)
    lengths = attention.v.norm(dim=-1)
    token, key = (int(vectors.norm(dim=-1).argmax()) for vectors in (example.x, attention.k))
    return among_tokens(
        say("In this head, which token has the longest value vector?"),
        example.names, lengths,
        say("At the same weight, its value adds more to an output than any other."),
        [(token, say("It has the longest row in X, but W_v stretches some directions and shrinks others.")),
         (key, say("It has the longest key. Keys and values come from different weights."))],
        lambda p: say("The value of {token} has length {length}, and another is longer.",
                      token=example.names[p], length=Number(float(lengths[p]))))  # fmt: skip


def score_the_other_way(example: ExampleTrace, head: int, random: Generator) -> Asked:
    """Scores of queries and keys are not symmetric."""
    (a, b), scores = two_of(len(example.tokens), random), example.heads.select(head).scores
    one, other = example.names[a], example.names[b]
    return asks_about("scores", (b, a), among_numbers(
        lambda shown: say("The dot product of the query of {one} and the key of {other} is {score}. What is that of "
                          "the query of {other} and the key of {one}?",
                          one=one, other=other, score=shown(float(scores[a, b]))),
        (float(scores[b, a]), say("Another query meets another key, so Q Kᵀ need not be symmetric."),
                              say("the other query meets the other key")),
        (float(scores[a, b]), say("That would make Q Kᵀ symmetric, as X Xᵀ is. But a token's query is not its key."),
                              say("the same two tokens have the same score")),
        (float(example.x[a] @ example.x[b]), say("That is the dot product of their rows of X, before W_q and W_k."),
                                             say("the rows of X, multiplied as they are")),
        (float(scores[b, b]), say("That is the query of {other} times its own key.", other=other),
                              say("the other query meets its own key")),
        (float(scores[a, a]), say("That is the query of {one} times its own key.", one=one),
                              say("the first query meets its own key"))))  # fmt: skip


@beyond_figure
def one_more_token(example: ExampleTrace, head: int, random: Generator) -> Asked:
    """Q grows with the sentence, W_q does not. Always possible."""
    (n, d), d_k = example.x.shape, example.example.d_k
    Q, W_q = shaped(n + 1, d_k), shaped(d, d_k)
    return among(
        say("The sentence gets one more token. Which matrices of this head get one more row?"),
        Card(say("X, Q, K and V."),
             say("The new token brings a row of X, and the same weights make its query, key and value: Q is {Q} then, "
                 "and W_q is {W_q} as before.", Q=Q, W_q=W_q), say("each of them has a row for each token")),
        Card(say("X, Q, K, V and the weights W_q, W_k and W_v."),
             say("W_q is {W_q} however long the sentence is: a row for each feature of X, not for each token.",
                 W_q=W_q), say("a new token makes every matrix one row longer")),
        Card(say("X alone."), say("Each row of X makes a row of Q, so Q is {Q} then.", Q=Q),
                              say("only what goes in gets longer")),
        Card(say("W_q, W_k and W_v."),
             say("They are learned once and used for every token: W_q stays {W_q}, and Q becomes {Q}.",
                 Q=Q, W_q=W_q), say("a new token needs new weights")))  # fmt: skip


QUESTIONS = (shape_of_q, longest_value, score_the_other_way, one_more_token)
