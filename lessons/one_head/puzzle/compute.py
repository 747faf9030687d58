"""What a built head computes, in the words of the core, and what a reader calls its numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float

from attention_core.base.arrays import Array
from attention_core.one_head.attention import AttentionTrace, Mask, attend
from attention_core.puzzles import Puzzle, Weights
from attention_core.puzzles.base import DrawnSentence
from lessons.screen import Argument, Message, message, names
from lessons.trace.computation import Computation
from lessons.trace.head import HEAD_SENTENCES
from lessons.trace.story import Names


@dataclass(frozen=True, eq=False)
class BuiltHead:
    """Which feature asks for which, and what the head does with it."""

    table: Float[Array, "asks answers"]
    head: AttentionTrace


@dataclass(frozen=True, eq=False)
class BuiltHeads:
    """Two heads side by side, or one above the other."""

    first: BuiltHead
    second: BuiltHead


def build_head(
    x: Float[Array, "tokens d_model"],
    W_q: Float[Array, "d_model d_k"],
    W_k: Float[Array, "d_model d_k"],
    W_v: Float[Array, "d_model d_v"],
    may_attend: Mask,
) -> BuiltHead:
    """The score of two tokens is x W_q W_kᵀ xᵀ: the table says what each feature of the one adds for the other's."""
    return BuiltHead(W_q @ W_k.mT, attend(x @ W_q, x @ W_k, x @ W_v, may_attend))


def build_two(x, W_q, W_k, W_v, d_k: int, may_attend: Mask) -> BuiltHeads:
    """Two heads side by side: each has columns of its own, and both read the same features."""
    first = build_head(x, W_q[:, :d_k], W_k[:, :d_k], W_v, may_attend)
    return BuiltHeads(first, build_head(x, W_q[:, d_k:], W_k[:, d_k:], W_v, may_attend))


def build_layers(x, W_q, W_k, W_v, d_k: int, may_attend: Mask) -> BuiltHeads:
    """Two layers: what the first head finds is added to the features, and the second reads the sum."""
    first = build_head(x, W_q[:, :d_k], W_k[:, :d_k], W_v, may_attend)
    found = x + first.head.output
    return BuiltHeads(first, build_head(found, W_q[:, d_k:], W_k[:, d_k:], W_v, may_attend))


FEATURE_NAMES = {
    "first": message("the first"),
    "later": message("a later one"),
    "person": message("a person"),
    "thing": message("a thing"),
    "other": message("another word"),
    "open": message("opening"),
    "close": message("closing"),
    "word": message("a word"),
    "outer": message("outside"),
    "inner": message("inside"),
    "noun": message("a noun"),
    "verb": message("a verb"),
}


def feature_names(puzzle: Puzzle) -> tuple[str | Message, ...]:
    """What the features of a token are called: words of the sentences as they are, everything else in words of ours."""
    return tuple(map(feature_name, puzzle.features))


def feature_name(feature: str) -> str | Message:
    """The name of one feature."""
    if feature.startswith("after "):
        return message("after {name}", name=feature.removeprefix("after "))
    return FEATURE_NAMES.get(feature, feature)


SENTENCES = {
    **HEAD_SENTENCES,
    "x": message("{feature} of {token}: an entry of X"),
    "W_q": message("W_q, {row}, column {column}: what it asks"),
    "W_k": message("W_k, {row}, column {column}: what it answers"),
    "W_v": message("W_v, {row}, column {column}: what it hands on"),
    "table": message("W_q W_kᵀ: how much {asks} asks for {answers}"),
    "+ of x": message("{feature} of {token}, with what head 1 has found"),
}


def compute_built(puzzle: Puzzle, sentence: DrawnSentence, weights: Weights) -> Computation:
    """The heads of a puzzle on one sentence."""
    function = build_layers if puzzle.stacked else build_two if puzzle.n_heads > 1 else build_head
    inputs = {"x": sentence.x, **weights._asdict(), "may_attend": sentence.may_attend}
    if puzzle.n_heads > 1:
        inputs["d_k"] = puzzle.d_k
    tokens, features = names(sentence.words), feature_names(puzzle)
    things: dict[str, Sequence[Argument]] = dict.fromkeys(("tokens", "queries", "keys"), tokens)
    things |= dict.fromkeys(("asks", "answers", "row", "x.d_model"), features)
    return Computation(function, inputs, Names(SENTENCES, things))


def heads_on_screen(puzzle: Puzzle) -> tuple[str, ...]:
    """Where the heads stand in what was computed."""
    return ("first.", "second.") if puzzle.n_heads > 1 else ("",)
