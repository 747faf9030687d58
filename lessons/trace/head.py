"""One head of the running example: from X and its weights to its output, and what a reader calls every number."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attention_core.base.traced import Written
from lessons.example.example import MOST_FEATURES, ExampleTrace, inputs_of_head
from lessons.screen import Argument, Message, message
from lessons.trace.computation import Computation
from lessons.trace.story import Names

VECTORS = {"q": message("query"), "k": message("key"), "v": message("value")}
HEAD_SENTENCES: Mapping[str, Message] = {
    "x": message("x of {token}, feature {feature}: an entry of X"),
    "W_q": message("W_q, row {row}, column {column}: an entry of W_q"),
    "W_k": message("W_k, row {row}, column {column}: an entry of W_k"),
    "W_v": message("W_v, row {row}, column {column}: an entry of W_v"),
    "q": message("query of {query}, feature {feature}: its row of X · its column of W_q"),
    "k": message("key of {key}, feature {feature}: its row of X · its column of W_k"),
    "v": message("value of {key}, feature {feature}: its row of X · its column of W_v"),
    "k_transposed": message("feature {feature} of the key of {key}: Kᵀ has a column for each key"),
    "scores": message("score of {key} for {query}: query · key"),
    "scaled": message("scaled score of {key} for {query}"),
    "masked": message("masked score of {key} for {query}: visible, so it stays"),
    "masked hidden": message("score of {key} for {query}: masked, as {query} may not look at {key}"),
    "max of masked": message("the largest score that {query} may look at"),
    "sum of masked": message("sum over all keys that {query} may look at"),
    "max of scaled": message("the largest score that {query} may look at"),  # without a mask
    "sum of scaled": message("sum over all keys that {query} may look at"),
    "weights": message("weight that {query} puts on {key}: its part of the sum"),
    "weights hidden": message("weight of {key} for {query}: masked, so it is exactly 0"),
    "output": message("output of {query}, feature {feature}: weights · values"),
}


WITH_POSITIONS = {
    "q": message("query of {query}, feature {feature}: (its row of X + its position) · its column of W_q"),
    "k": message("key of {key}, feature {feature}: (its row of X + its position) · its column of W_k"),
}
ROTATED = {
    "sum of x": message("{token}: its row of X · a column of W"),
    "− of x": message("{token}: the first of two features, rotated by its position"),
    "+ of x": message("{token}: the second of two features, rotated by its position"),
}
ALONG_OTHER_AXES = {
    **ROTATED,
    "q": message("query of {query}, feature {feature} of the turned head"),
    "k": message("key of {key}, feature {feature} of the turned head"),
    "v": message("value of {key}, feature {feature} of the turned head"),
}
TURNED = {
    **ROTATED,
    "q": message("query of {query}, feature {feature}: turned by its position"),
    "k": message("key of {key}, feature {feature}: turned by its position"),
}


def head_inputs(trace: ExampleTrace, head: int, **others: Any) -> dict[str, Any]:
    """What one head of the example is computed from, by the names of `one_head`; `others` take the place of some."""
    return inputs_of_head(trace.example, trace, head) | {"scale": written_scale(trace)} | others


def written_scale(trace: ExampleTrace) -> float:
    """What the scores are multiplied by, as a reader knows it."""
    return Written(trace.scale, f"1 ÷ √{trace.example.d_k}") if trace.example.scaling else 1.0


def divisor_of(trace: ExampleTrace) -> str:
    """What the scores of an example are divided by, as it is written."""
    return f"√{trace.example.d_k}" if trace.example.scaling else "1"


def head_names(trace: ExampleTrace, **sentences: Message) -> Names:
    """What a reader calls the numbers of a head: tokens by their names, and `sentences` beside the usual ones.

    With many features each, queries, keys and values are told only to whoever asks for one of them: a weight of ten
    keys would be a story of six hundred lines.
    """
    things: dict[str, Sequence[Argument]] = dict.fromkeys(("tokens", "queries", "keys"), trace.names)
    positions = {} if trace.added is None else WITH_POSITIONS
    if trace.rotary is not None:
        positions = TURNED if trace.turn is None else ALONG_OTHER_AXES
    known = ("q", "k", "v") if trace.heads.q.shape[-1] > MOST_FEATURES else ()
    return Names({**HEAD_SENTENCES, **positions, **sentences}, things, known)


def compute_head(
    function: Callable[..., Any], trace: ExampleTrace, head: int, names: Names | None = None, **others: Any
) -> Computation:
    """A lesson's function on one head of the example."""
    return Computation(function, head_inputs(trace, head, **others), names or head_names(trace))
