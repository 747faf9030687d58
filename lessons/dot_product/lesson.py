"""Can tokens attend without learned parameters?"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace, attend
from lessons.dot_product.loops_and_numpy import LoopsBesideMatrices, loops_beside_matrices
from lessons.dot_product.questions import QUESTIONS
from lessons.example.example import ExampleTrace, whose_vectors
from lessons.kit.attention_notices import notice_row
from lessons.kit.head_derivation import HeadDerivation, derive_without_weights
from lessons.kit.matrices import QUERIES, feature_axis, head_matrix, token_axis
from lessons.kit.questions import question_picker
from lessons.kit.weighted_sum import View, weighted_sum
from lessons.screen.arithmetic import term
from lessons.screen.message import Magnitude, Message, message
from lessons.screen.program import Ran
from lessons.screen.screen import Code, Matrices, Matrix, Screen, Step

HEADING = message("Can tokens attend without learned parameters?")
OPENING = message(
    "Compare one token with every token by the dot product, turn the scores into weights, and mix the rows by those "
    "weights. This is attention already, without W_q, W_k and W_v."
)

MORE_THAN_ROUNDING = 1e-4
GIVEN_ROWS = ("x", "query", "k", "v")


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page; the query counts from 0 and matters to the view of one query."""

    view: Literal["one", "all", "equal"]
    query: int


def attend_without_weights(x: Float[Tensor, "tokens d_model"]) -> AttentionTrace:
    """Attention in which every token is its own query, key and value, and nothing is divided."""
    return attend(x, x, x, scale=1.0)


def screen(example: ExampleTrace, head: int, choices: Choices) -> Screen:
    """Attention of X with itself: one query, all at once, or the same by loops and by matrices."""
    attention = attend_without_weights(example.x)
    derivation = derive_without_weights(example, attention)
    n, d_model = example.x.shape
    view = {"one": one_row, "all": all_rows, "equal": two_ways}[choices.view]
    notice, first, bands = view(example, attention, derivation, choices.query)
    figure = Matrices(
        key="dot_product_figure",
        name=message("Attention without weights"),
        notice=(notice,),
        first=first,
        bands=bands,
        weights=whose_vectors(example),
        numbered=True,
        height=480,
    )
    formulas = {
        "one": r"a_j = \mathrm{softmax}_j(x_i \cdot x_j), \qquad o_i = \textstyle\sum_j a_j x_j",
        "equal": r"o_{ic} = \textstyle\sum_j a_{ij} x_{jc} \ \text{ for each } i, c \qquad O = A X \ \text{ at once}",
        "all": rf"O = \mathrm{{softmax}}(X X^\top)\, X \qquad ({n}\times{n})\cdot({n}\times{d_model})",
    }
    return Screen(
        formula=formulas[choices.view],
        figures=(figure,),
        code=Code((attend_without_weights,), attention, 1.0, partial(ran_without_weights, example, attention)),
        ask=question_picker("dot_product", QUESTIONS, example.example.seed, example),
        derive=derivation.derive,
    )


def ran_without_weights(example: ExampleTrace, attention: AttentionTrace) -> Ran:
    """From X alone to weights and output."""
    return Ran(
        {"x": example.x},
        ("trace = attend_without_weights(x)",),
        {"trace.weights": attention.weights, "trace.output": attention.output},
    )


def one_row(example: ExampleTrace, attention: AttentionTrace, derivation: HeadDerivation, query: int) -> View:
    """One query's weighted sum, key by key."""
    origins = message("a row of X"), message("the rows of X")
    bands = weighted_sum(derivation, attention, query, origins=origins, given=GIVEN_ROWS)
    return notice_row(example.names, attention, query), "weight", bands


def all_rows(example: ExampleTrace, attention: AttentionTrace, derivation: HeadDerivation, query: int) -> View:
    """Scores, weights and output of all queries at once; the words are about a row with a strong preference."""
    a, strong = attention, int(attention.weights.max(dim=-1).values.argmax())
    matrices = (
        head_matrix(derivation, "x", message("X"), example.x, given=True),
        head_matrix(derivation, "scores", message("X Xᵀ"), a.scores),
        head_matrix(derivation, "weights", message("softmax of each row"), a.weights),
        head_matrix(derivation, "output", message("weights × X"), a.output),
    )
    return notice_row(example.names, attention, strong), "weights", (matrices,)


def two_ways(example: ExampleTrace, attention: AttentionTrace, derivation: HeadDerivation, query: int) -> View:
    """The output by loops and by matrices, and the difference."""
    ways = loops_beside_matrices(attention, 1.0)
    loops, products, gap = (tensor.tolist() for tensor in (ways.loops, ways.matrices, ways.gap))
    axes = {"rows": token_axis(example.tokens, QUERIES), "columns": feature_axis(attention.output.shape[1])}

    def difference(i: int, j: int) -> Step:
        says = message(
            "output of {token}, feature {feature}: by loops − by matrices", token=example.names[i], feature=j + 1
        )
        return Step(says, term(loops[i][j]) - products[i][j], gap[i][j])

    def looped(i: int, j: int) -> Step:
        says = message(
            "output of {token}, feature {feature}: the loop has passed every key", token=example.names[i], feature=j + 1
        )
        return Step(says, term(loops[i][j]), loops[i][j])

    band = (
        Matrix(
            key="loops",
            title=message("O by loops"),
            values=ways.loops,
            step=looped,
            before=lambda i, j: one_loop(derivation, i, j),
            **axes,
        ),
        head_matrix(derivation, "output", message("O by matrices"), ways.matrices, key="matrices", colour="ink"),
        Matrix(key="gap", title=message("difference"), values=ways.gap, scale="difference", step=difference, **axes),
    )
    return notice_ways(ways), "gap", (band,)


def one_loop(derivation: HeadDerivation, i: int, j: int) -> Iterator[Step]:
    """How the loop over the keys adds up one feature of the output of query i."""
    total = 0.0
    for key, weight in enumerate(derivation.numbers["weights"][i]):
        value = derivation.numbers["v"][key][j]
        before, total = total, total + weight * value
        says = message("add weight · value of {key}", key=derivation.names[key])
        yield Step(says, term(before) + term(weight) * value, total)


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
        "Loops and matrices give the same weights and output: they differ by at most {largest}. That is "
        "rounding: Python's loops compute with about 16 digits, PyTorch's matrices with about 7.",
        largest=Magnitude(ways.largest),
    )
