"""Can tokens attend without learned parameters?"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from jaxtyping import Float

from attention_core.base.arrays import Array
from attention_core.one_head.attention import AttentionTrace, attend
from lessons.example.example import ExampleTrace, whose_vectors
from lessons.one_head.dot_product.loops_and_numpy import LoopsBesideMatrices, loops_beside_matrices
from lessons.one_head.dot_product.questions import QUESTIONS
from lessons.screen import Magnitude, Matrices, Message, OneOf, Question, Screen, message
from lessons.shared.attention_notices import notice_row
from lessons.shared.differences import compare, in_one_unit
from lessons.shared.matrices import QUERIES, feature_axis, token_axis, traced_matrix
from lessons.shared.questions import CLEAR_LEAD, question_picker
from lessons.shared.shared_choices import UNMASKED_QUERY
from lessons.shared.weighted_sum import SUM_SENTENCES, View, weighted_sum
from lessons.trace.computation import Computation, followed_matrix
from lessons.trace.head import head_names

OWN_EXAMPLE = "meanings"
TOPIC = message("The dot product")
POINT = message(
    "The dot product compares two tokens: multiply their features pair by pair, then add; the sum is their score."
)

VIEW = OneOf(
    "view",
    message("Step"),
    {"one": message("one query"), "all": message("all at once"), "equal": message("by loops and by matrices")},
    look="steps",
)
QUERY_OF_ROW = replace(UNMASKED_QUERY, only=("view", ("one",)))
MORE_THAN_ROUNDING = 1e-4
GIVEN_ROWS = ("x", "query", "k", "v")


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page; the query counts from 0 and matters to the view of one query."""

    view: VIEW.type
    query: QUERY_OF_ROW.type


def attend_without_weights(x: Float[Array, "tokens d_model"]) -> AttentionTrace:
    """Attention in which every token is its own query, key and value, and nothing is divided."""
    return attend(x, x, x, scale=1.0)


SENTENCES = {
    **SUM_SENTENCES,
    "scores": message("score of {key} for {query}: their rows of X, multiplied and added up"),
    "loops": message("output of {query}, feature {feature}: the loop has gone through every key"),
    "gap": message("output of {query}, feature {feature}: by loops − by matrices"),
}


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """Attention of X with itself: one query, all at once, or the same by loops and by matrices."""
    computation = compute_without_weights(trace)
    n, d_model = trace.x.shape
    view = {"one": one_row, "all": all_rows, "equal": two_ways}[choices.view]
    notice, first, bands = view(trace, computation, choices.query)
    figure = Matrices(
        key="dot_product_figure",
        name=message("Attention without weights"),
        notice=(notice,),
        first=first,
        bands=bands,
        weights=whose_vectors(trace),
        apart=("weight",),
    )
    formulas = {
        "one": r"a_j = \mathrm{softmax}_j(x_i \cdot x_j), \qquad o_i = \textstyle\sum_j a_j x_j",
        "equal": r"o_{ic} = \textstyle\sum_j a_{ij} x_{jc} \ \text{ for each } i, c \qquad O = A X \ \text{ at once}",
        "all": rf"O = \mathrm{{softmax}}(X X^\top)\, X \qquad ({n}\times{n})\cdot({n}\times{d_model})",
    }
    return Screen(
        formula=formulas[choices.view],
        figures=(figure,),
        code=computation.code(("weights", "output"), attend, attention=computation.result),
        ask=questions_about(trace),
        derive=lambda tensor, *place: computation.follow(tensor).derive(*place),
    )


def questions_about(trace: ExampleTrace) -> Callable[[int], Question] | None:
    """Questions about X; None where every vector is zero or nearly so, and every dot product with it."""
    if bool((trace.x.square().sum(dim=-1) < CLEAR_LEAD).all()):
        return None
    return question_picker("dot_product", QUESTIONS, trace.example.seed, trace)


def compute_without_weights(trace: ExampleTrace) -> Computation:
    """What the lesson computes from X alone."""
    return Computation(attend_without_weights, {"x": trace.x}, head_names(trace, **SENTENCES))


def one_row(trace: ExampleTrace, computation: Computation, query: int) -> View:
    """One query's weighted sum, key by key."""
    origins = message("a row of X"), message("the rows of X")
    bands = weighted_sum(trace, computation, query, origins=origins, given=GIVEN_ROWS)
    return notice_row(trace.names, computation.result, query), "weight", bands


def all_rows(trace: ExampleTrace, computation: Computation, query: int) -> View:
    """Scores, weights and output of all queries at once; the words are about a row with a strong preference."""
    attention = computation.result
    strong = int(attention.weights.max(dim=-1).values.argmax())
    titles = {
        "x": message("X"),
        "scores": message("X Xᵀ"),
        "weights": message("softmax of each row"),
        "output": message("weights × X"),
    }
    matrices = tuple(
        traced_matrix(computation, tensor, title, trace.tokens, given=tensor == "x") for tensor, title in titles.items()
    )
    return notice_row(trace.names, attention, strong), "weights", (matrices,)


def two_ways(trace: ExampleTrace, computation: Computation, query: int) -> View:
    """The output by loops and by matrices, and the difference."""
    ways = loops_beside_matrices(computation.result, 1.0)
    comparison = replace(compare(ways.loops, ways.matrices), names=computation.names)
    gap = comparison.follow("gap", name="gap", axes=("queries", "d_v"))
    axes: dict[str, Any] = {"rows": token_axis(trace.tokens, QUERIES), "columns": feature_axis(trace.x.shape[1])}
    band = (
        traced_matrix(
            computation,
            "",
            message("O by loops"),
            trace.tokens,
            take=sum_in_a_loop,
            name="loops",
            axes=("queries", "d_v"),
            **axes,
        ),
        traced_matrix(
            computation, "output", message("O by matrices"), trace.tokens, key="matrices", colour="ink", **axes
        ),
        followed_matrix(gap, key="gap", title=message("difference"), **in_one_unit(gap.values), **axes),
    )
    return notice_ways(ways), "gap", (band,)


def sum_in_a_loop(attention: AttentionTrace) -> Array:
    """The output, one key after the other."""
    total = attention.weights[:, 0:1] * attention.v[0:1]
    for key in range(1, len(attention.v)):
        total = total + attention.weights[:, key : key + 1] * attention.v[key : key + 1]
    return total


def notice_ways(ways: LoopsBesideMatrices) -> Message:
    """How far the two ways are apart, and why it is not exactly nothing."""
    if ways.largest == 0:
        return message("Loops and matrices give exactly the same weights and output.")
    if ways.largest > MORE_THAN_ROUNDING:
        return message(
            "Loops and matrices differ by up to {largest}: more than rounding explains.",
            largest=Magnitude(ways.largest),
        )
    return message(
        "Loops and matrices give the same weights and output but for rounding: they differ by at most "
        "{largest}. Python's loops compute with about 16 digits, PyTorch's matrices with about 7.",
        largest=Magnitude(ways.largest),
    )
