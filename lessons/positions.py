"""Does attention know the order?"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from attention_core.masks import causal_mask
from attention_core.permutation import (
    BothOrders,
    Permutation,
    PositionKind,
    Residual,
    attend_in_both_orders,
    attend_with_positions,
    measure_residuals,
)
from lessons.example import Example, ExampleTrace, run_example
from lessons.formatting import apart, subtraction
from lessons.matrices import BELOW_CONTROLS, KEYS, QUERIES, feature_axis, head_matrix, token_axis
from lessons.position_views import distance_view, rows_view
from lessons.positioned_head import PositionedHead, head_projections, positioned_head, whose_head
from lessons.questions.base import asking
from lessons.questions.positions import QUESTIONS
from lessons.screen import Cells, Code, Figure, Matrices, Matrix, Screen, Step, Table
from lessons.sentence import Sentence, Size, say

CellStep = Callable[[int, int], Step]
VISIBLE = 1e-6  # weights that differ by less differ by rounding
KIND_NAMES: dict[PositionKind, Sentence] = {
    "none": say("no positions"),
    "sinusoidal": say("sinusoidal"),
    "learned": say("learned, untrained"),
    "rotary": say("rotary"),
}


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page. `token` is the one whose query and key are compared over distance."""

    permutation: Permutation
    view: Literal["output", "weights", "rows", "distance"] = "output"
    kind: PositionKind = "none"
    causal: bool = False
    token: int = 0


def screen(example: ExampleTrace, head: int, choices: Choices) -> Screen:
    """Both orders, or what positions add and turn; and what the permutation leaves for every kind of positions."""
    own = positioned_head(example, head, choices.kind)
    mask = causal_mask(len(example.tokens)) if choices.causal else None
    both = attend_in_both_orders(own.x, own.projections, choices.permutation, own.kind, own.seed, mask)
    residuals = residuals_of(example.example, head, choices.permutation)
    return Screen(
        figures=(figure_of(example, own, both, residuals, choices), residual_table(residuals)),
        code=Code((attend_with_positions, attend_in_both_orders), both.plain, example.scale),
        ask=asking("positions", QUESTIONS, own.seed, example, head),
    )


def figure_of(
    example: ExampleTrace, own: PositionedHead, both: BothOrders, residuals: tuple[Residual, ...], choices: Choices
) -> Figure:
    """The view that was chosen."""
    if choices.view == "distance":
        return distance_view(example, own, choices.token)
    if choices.view == "rows":
        return rows_view(example, own)
    measured = next(r for r in residuals if (r.kind, r.causal) == (choices.kind, choices.causal))
    band = weights_in_both_orders(own, both) if choices.view == "weights" else outputs_in_both_orders(own, both)
    return Matrices(
        key="positions_figure", name=say("Shuffled tokens, and positions"), bands=(tuple(band),), first="own",
        notice=tuple(notice_order(example, both, measured, choices.view)), weights=whose_head(example, own),
        height=BELOW_CONTROLS,
    )  # fmt: skip


@lru_cache(maxsize=64)
def residuals_of(example: Example, head: int, permutation: Permutation) -> tuple[Residual, ...]:
    """What this permutation leaves for every kind of positions; computed once while all this stays as it is."""
    trace = run_example(example)
    return measure_residuals(trace.x, head_projections(trace, head), permutation, example.seed)


# Output and weights in both orders.


def outputs_in_both_orders(own: PositionedHead, both: BothOrders) -> Iterator[Matrix]:
    """Attended in the sentence's order; that, permuted; permuted first; and the difference."""
    order, moved = both.permutation, own.permuted(both.permutation)
    plain, permuted = own.derivation(both.plain), moved.derivation(both.permuted)
    rows = token_axis(tuple(name.text for name in moved.names), QUERIES)

    def others(i: int, j: int) -> tuple[Cells, ...]:
        new = order.index(i)
        return tuple(Cells(key, new, j) for key in ("then", "first", "gap"))

    def same(i: int, j: int) -> tuple[Cells, ...]:
        return Cells("own", order[i], j), *(Cells(key, i, j) for key in ("then", "first", "gap"))

    yield head_matrix(plain, "output", say("attend"), both.plain.output, key="own", sources=others)
    yield head_matrix(
        plain, "output", say("attend, then shuffle"), both.output_permuted, key="then", rows=rows, sources=same,
        step=lambda i, j: plain.step("output", order[i], j), before=lambda i, j: plain.before("output", order[i], j),
    )  # fmt: skip
    yield head_matrix(permuted, "output", say("shuffle, then attend"), both.permuted.output, key="first", sources=same)
    difference = both.permuted.output - both.output_permuted
    yield Matrix(
        key="gap", title=say("difference"), values=difference, rows=rows, columns=feature_axis(difference.shape[1]),
        remark=say("at most {most}", most=Size(both.residual)), scale="difference", sources=same,
        step=difference_step(both.permuted.output.tolist(), both.output_permuted.tolist(), difference.tolist()),
        before=lambda i, j: (plain.step("output", order[i], j), permuted.step("output", i, j)),
    )  # fmt: skip


def difference_step(first: list[list[float]], then: list[list[float]], left: list[list[float]]) -> CellStep:
    """How a difference comes about, with digits enough to see it."""
    says = say("shuffle, then attend − attend, then shuffle")
    return lambda i, j: Step(says, subtraction(first[i][j], then[i][j]), left[i][j])


def weights_in_both_orders(own: PositionedHead, both: BothOrders) -> Iterator[Matrix]:
    """As `outputs_in_both_orders`: queries and keys move, so rows and columns do."""
    order, moved = both.permutation, own.permuted(both.permutation)
    plain, permuted = own.derivation(both.plain), moved.derivation(both.permuted)
    tokens = tuple(name.text for name in moved.names)

    def others(i: int, j: int) -> tuple[Cells, ...]:
        return tuple(Cells(key, order.index(i), order.index(j)) for key in ("then", "first"))

    def same(i: int, j: int) -> tuple[Cells, ...]:
        return Cells("own", order[i], order[j]), Cells("then", i, j), Cells("first", i, j)

    yield head_matrix(plain, "weights", say("attend"), both.plain.weights, key="own", sources=others)
    yield head_matrix(
        plain, "weights", say("attend, then shuffle"), both.weights_permuted, key="then", sources=same,
        rows=token_axis(tokens, QUERIES), columns=token_axis(tokens, KEYS),
        visible=both.plain.visible[list(order)][:, list(order)].tolist(),
        step=lambda i, j: plain.step("weights", order[i], order[j]),
        before=lambda i, j: plain.before("weights", order[i], order[j]),
    )  # fmt: skip
    yield head_matrix(
        permuted, "weights", say("shuffle, then attend"), both.permuted.weights, key="first", sources=same
    )


# What there is to notice.


def notice_order(example: ExampleTrace, both: BothOrders, measured: Residual, view: str) -> Iterator[Sentence]:
    """What the permutation does."""
    if len(example.tokens) == 1:
        yield say("One token has only one order: take a longer sentence to shuffle.")
    elif both.permutation == tuple(range(len(example.tokens))):
        yield say("This is the sentence's own order. Ask for another shuffle to see what moves.")
    elif measured.knows_order:
        yield notice_trace(example, both, view)
        yield why_it_shows(measured)
    else:
        yield notice_no_trace(measured)
        if view == "weights":
            yield say("A weight moves with its two tokens: its row with the query, its column with the key.")
        if measured.kind == "none" and not measured.causal:
            yield say("This head does not know the order.")
        else:
            yield say("With these tokens and this order, nothing shows.")


def notice_trace(example: ExampleTrace, both: BothOrders, view: str) -> Sentence:
    """The number that differs most."""
    first, then = both.output_permuted, both.permuted.output
    of_weights = view == "weights" and float((both.permuted.weights - both.weights_permuted).abs().max()) > VISIBLE
    if of_weights:
        first, then = both.weights_permuted, both.permuted.weights
    row, column = divmod(int((then - first).abs().argmax()), first.shape[-1])
    before, after = apart(float(first[row, column]), float(then[row, column]))
    token = example.names[both.permutation[row]]
    numbers = {"before": before, "after": after}
    if of_weights and row == column:
        return say(
            "The order shows: {query} puts the weight {before} on itself if we attend first and {after} if we shuffle "
            "first, and no weight differs by more.",
            query=token, **numbers,
        )  # fmt: skip
    if of_weights:
        return say(
            "The order shows: {query} puts the weight {before} on {key} if we attend first and {after} if we shuffle "
            "first, and no weight differs by more.",
            query=token, key=example.names[both.permutation[column]], **numbers,
        )  # fmt: skip
    return say(
        "The order shows: feature {feature} of the output of {token} is {before} if we attend first and {after} if we "
        "shuffle first, and no number differs by more.",
        feature=column + 1, token=token, **numbers,
    )  # fmt: skip


def notice_no_trace(measured: Residual) -> Sentence:
    """How small the difference is, and that it is rounding."""
    if measured.residual == 0:
        return say("The output rows are permuted in the same way, to the last digit.")
    return say(
        "The output rows are permuted in the same way: no number differs by more than {single}. In double precision "
        "no number differs by more than {double}, so this is rounding.",
        single=Size(measured.residual),
        double=Size(measured.precise),
    )


def why_it_shows(measured: Residual) -> Sentence:
    """What tells the head one order from another."""
    if measured.kind == "none":
        return say("No positions are given: the causal mask alone reveals the order.")
    if measured.causal:
        return say("The tokens moved, but the positions and the mask stayed where they were.")
    return say("The tokens moved, but the positions stayed where they were.")


# All kinds of positions.


def residual_table(residuals: tuple[Residual, ...]) -> Table:
    """A row for each kind of positions: what is left without a mask and with the causal one."""
    left = {(r.kind, r.causal): Size(r.residual) for r in residuals}
    return Table(
        key="residuals", name=say("What a shuffle leaves"), width=420,
        notice=(
            say("The table: by how much the output differs, at most, between attending first and shuffling first."),
            notice_leak(residuals),
        ),
        columns=(say("positions"), say("no mask"), say("causal mask")),
        cells=tuple((KIND_NAMES[r.kind], left[r.kind, False], left[r.kind, True]) for r in residuals if not r.causal),
    )  # fmt: skip


def notice_leak(residuals: tuple[Residual, ...]) -> Sentence:
    """Without positions: nothing without the mask, and what the mask alone reveals."""
    free, masked = (next(r for r in residuals if (r.kind, r.causal) == ("none", causal)) for causal in (False, True))
    both = {"free": Size(free.residual), "masked": Size(masked.residual)}
    if not masked.knows_order:
        return say("Without positions it is {free}, with the causal mask {masked}.", **both)
    return say(
        "Without positions it is {free}. The causal mask alone makes it {masked}: the first token sees only itself, so "
        "the mask reveals order.",
        **both,
    )
