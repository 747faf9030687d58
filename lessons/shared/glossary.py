"""The words of the field, each in two sentences, and the lesson in which it is first needed.

What a lesson says may use its own words and those of the lessons before it in the menu (`test_glossary.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lessons.screen import Message, message


@dataclass(frozen=True)
class Term:
    """A word of the field: how it is written, what it means, and the lesson in which it is first needed."""

    name: Message
    meaning: Message
    first_in: str


TERMS: dict[str, Term] = {
    "token": Term(
        message("token"),
        message("A piece of text, such as a word or a part of one. A model reads text as a row of tokens."),
        "overview",
    ),
    "attention": Term(
        message("attention"),
        message(
            "Each token gathers what it needs from the tokens it may look at. Weights say how much it takes from each."
        ),
        "overview",
    ),
    "head": Term(
        message("head"),
        message(
            "One attention computation, with its own numbers. A model has many heads, and each looks at "
            "something different."
        ),
        "overview",
    ),
    "weight": Term(
        message("weight"),
        message("The share of attention that one token gives another. All weights of a token sum to 1."),
        "overview",
    ),
    "query": Term(
        message("query"),
        message("The row of numbers with which a token asks. It is compared with the keys of all tokens in sight."),
        "overview",
    ),
    "key": Term(
        message("key"),
        message("The row of numbers by which a token is found. Where it fits a query, the weight is large."),
        "overview",
    ),
    "value": Term(
        message("value"),
        message("The row of numbers that a token passes on. Values are mixed according to their weights."),
        "overview",
    ),
    "mask": Term(
        message("mask"),
        message("It says which tokens may not be looked at. The causal mask hides all later ones."),
        "overview",
    ),
    "vector": Term(
        message("vector"),
        message("A row of numbers. As an arrow it has a length and a direction."),
        "tokens",
    ),
    "embedding": Term(
        message("embedding"),
        message("The vector that a table holds for a token. Its numbers come from training."),
        "tokens",
    ),
    "feature": Term(
        message("feature"),
        message("One number of a vector. Feature 3 of a token is the third number of its row."),
        "tokens",
    ),
    "position": Term(
        message("position"),
        message("Where a token is in the sentence, counted from the beginning. The embedding table does not know it."),
        "tokens",
    ),
    "seed": Term(
        message("seed"),
        message("A number from which random numbers are computed. The same seed gives the same numbers again."),
        "tokens",
    ),
    "dot product": Term(
        message("dot product"),
        message(
            "Multiply two vectors number by number, then add the products. It is large when they point the same way."
        ),
        "dot_product",
    ),
    "score": Term(
        message("score"),
        message("The dot product of a query and a key. The better they fit, the larger it is."),
        "overview",
    ),
    "parameter": Term(
        message("parameter"),
        message("A number that training sets, such as an entry of W_q. Sentences come and go; parameters stay."),
        "projections",
    ),
    "softmax": Term(
        message("softmax"),
        message(
            "It turns scores into shares of one whole. e is raised to each score, and each result is "
            "divided by the sum of all."
        ),
        "softmax",
    ),
    "layer": Term(
        message("layer"),
        message("Attention followed by a small network. A model has many layers, one after the other."),
        "heads",
    ),
    "logit": Term(
        message("logit"),
        message("A score that a model gives a word of its vocabulary. Softmax turns logits into probabilities."),
        "train",
    ),
    "training step": Term(
        message("training step"),
        message(
            "The model guesses, and every parameter moves a little so that the guess gets better. Training "
            "repeats this."
        ),
        "train",
    ),
    "loss": Term(
        message("loss"),
        message("How wrong a guess is: −ln of the probability of the right word. It is 0 for a perfect guess."),
        "train",
    ),
    "nat": Term(
        message("nat"),
        message("The unit of a loss computed with ln. A loss of 1 nat means a probability of 1/e, about 37 %."),
        "train",
    ),
    "gradient": Term(
        message("gradient"),
        message("How the loss changes as a number grows. Training moves each number against its gradient."),
        "backward",
    ),
    "residual": Term(
        message("residual stream"),
        message(
            "The vector of a token that is passed on from layer to layer. Each layer adds to it and takes nothing away."
        ),
        "read",
    ),
}


def words_of(lesson: str) -> Sequence[Term]:
    """The words that this lesson needs first."""
    return [term for term in TERMS.values() if term.first_in == lesson]
