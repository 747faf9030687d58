"""Does attention know the order?"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal

from attention_core.measured.permutation import (
    BothOrders,
    Permutation,
    Residual,
    attend_with_positions,
    measure_residuals,
)
from attention_core.text.positions import PositionKind
from lessons.example.example import Example, ExampleTrace, run_example
from lessons.model.positions.own_head import (
    derive_in_order,
    in_both_orders,
    remarks_on_rows,
    rotary_of,
    whose_head,
    without_own_positions,
)
from lessons.model.positions.questions import QUESTIONS
from lessons.model.positions.views import View, distance_view, rows_view, score_figure
from lessons.screen import (
    Cells,
    Limit,
    Magnitude,
    Matrices,
    Matrix,
    Message,
    Number,
    OneOf,
    Screen,
    Table,
    Text,
    distinguishable,
    message,
)
from lessons.shared.differences import compare, gap_matrix
from lessons.shared.matrices import traced_matrix
from lessons.shared.questions import question_picker
from lessons.shared.shared_choices import UNMASKED_QUERY
from lessons.trace.computation import Computation
from lessons.trace.head import head_inputs

TOPIC = message("Positions")
POINT = message(
    "Without a mask or positions, attention does not know the order: shuffle the tokens, and the "
    "outputs shuffle the same way."
)

VISIBLE = 1e-6  # weights that differ by less differ by rounding
KIND_NAMES: dict[PositionKind, Message] = {
    "none": message("no positions"),
    "sinusoidal": message("sinusoidal"),
    "learned": message("learned, untrained"),
    "rotary": message("rotary"),
}
VIEW = OneOf(
    "order_view",
    message("Step"),
    {
        "output": message("shuffled outputs"),
        "weights": message("shuffled weights"),
        "rows": message("added or turned"),
        "distance": message("similarity by distance"),
    },
)
KIND = OneOf("positions", message("Positions"), KIND_NAMES | {"learned": message("learned")})
ORDER_MASK = OneOf("order_mask", message("Mask"), {"none": message("no mask"), "causal": message("causal mask")})
SHUFFLE = Number("shuffle", message("Shuffle number"), Limit(0, 9999), 0, typed=True, width=130)
ORDER = Text("order", message("or type an order: the old positions in their new order"), 60, width=380)


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page. `token` is the one whose query and key are compared over distance."""

    permutation: Permutation
    view: VIEW.type = VIEW.begin
    kind: KIND.type = KIND.begin
    causal: bool = False
    token: UNMASKED_QUERY.type = 0


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """A head in two orders, or what positions add and turn; and the difference that a permutation makes."""
    trace, asked = without_own_positions(trace), trace
    kind, order = choices.kind, choices.permutation
    both = in_both_orders(trace, head, kind, order, causal=choices.causal)
    residuals, about, more = residuals_of(trace.example, head, order), (), ()
    if choices.view == "distance":
        figure, computation, shown = distance_view(trace, head, kind, choices.token)
        if kind == "rotary" and asked.rotary is not None:
            more = (score_figure(asked, head, choices.token),)
    elif choices.view == "rows":
        figure, computation, shown = rows_view(trace, head, kind)
    else:
        measured = next(r for r in residuals if (r.kind, r.causal) == (kind, choices.causal))
        figure, computation, shown = orders_view(trace, both, measured, choices)
        about = (attend_with_positions,)
    return Screen(
        figures=(figure, *more, residual_table(residuals)),
        code=computation.code(shown, *about, attention=both.result.own.head, scale=trace.scale),
        ask=question_picker("positions", QUESTIONS, trace.example.seed, trace, head, order),
        derive=partial(derive_in_order, trace, head),
        remarks=remarks_on_rows(asked, kind),
    )


@lru_cache(maxsize=64)
def residuals_of(example: Example, head: int, permutation: Permutation) -> tuple[Residual, ...]:
    """What this permutation leaves for every kind of positions; computed once while all this stays as it is."""
    trace = without_own_positions(run_example(example))
    inputs = head_inputs(trace, head)
    x, W_q, W_k, W_v = (inputs[name] for name in ("x", "W_q", "W_k", "W_v"))
    return measure_residuals(x, W_q, W_k, W_v, permutation, inputs["scale"], example.seed, rotary_of(trace))


def orders_view(trace: ExampleTrace, computation: Computation, measured: Residual, choices: Choices) -> View:
    """The output or the weights in both orders."""
    tensor, order = choices.view, choices.permutation
    figure = Matrices(
        key="positions_figure",
        name=message("Shuffling and positions"),
        bands=(tuple(matrices_in_both_orders(computation, tensor, trace.tokens, order)),),
        first="own",
        notice=tuple(notice_order(trace, computation.result, order, measured, tensor)),
        weights=whose_head(trace, choices.kind),
    )
    return figure, computation, (f"own.head.{tensor}", tensor, f"shuffled.head.{tensor}")


def matrices_in_both_orders(
    computation: Computation, tensor: Literal["weights", "output"], tokens: tuple[str, ...], order: Permutation
) -> Iterator[Matrix]:
    """Attended in the sentence's order; that, shuffled; shuffled first; and for the output, the difference.

    Queries move, so rows do; of the weights, keys and columns as well. What is the same lights up together.
    """
    both, there, of_weights = computation.result, list(order), tensor == "weights"
    seen, moved = both.own.head.visible, tuple(tokens[old] for old in order)
    visible = {"own": seen, "then": seen[there][:, there], "first": both.shuffled.head.visible} if of_weights else {}
    shuffled = ("then", "first") if of_weights else ("then", "first", "gap")

    def others(i: int, j: int) -> tuple[Cells, ...]:
        new = order.index(i), order.index(j) if of_weights else j
        return tuple(Cells(key, *new) for key in shuffled)

    def same(i: int, j: int) -> tuple[Cells, ...]:
        return Cells("own", order[i], order[j] if of_weights else j), *(Cells(key, i, j) for key in shuffled)

    def matrix(key: str, path: str, title: Message, tokens: tuple[str, ...] = moved, **look: Any) -> Matrix:
        look = {"key": key, "visible": visible.get(key), "sources": same} | look
        return traced_matrix(computation, path, title, tokens, **look)

    yield matrix("own", f"own.head.{tensor}", message("attend"), tokens, sources=others)
    came_from = None if of_weights else order
    yield matrix("then", tensor, message("shuffled after"), computed=True, came_from=came_from)
    first = matrix("first", f"shuffled.head.{tensor}", message("shuffled first"))
    yield first
    if not of_weights:
        says = message("shuffled first − shuffled after")
        yield gap_matrix(compare(both.shuffled.head.output, both.output, gap=says), first, sources=same)


# What there is to notice.


def notice_order(
    trace: ExampleTrace, both: BothOrders, order: Permutation, measured: Residual, view: str
) -> Iterator[Message]:
    """What the permutation does."""
    if len(trace.tokens) == 1:
        yield message("One token has only one order.")
    elif order == tuple(range(len(trace.tokens))):
        yield message("This is the sentence's own order. Ask for another shuffle.")
    elif measured.knows_order:
        yield notice_trace(trace, both, order, view)
        yield why_it_shows(measured)
    else:
        yield notice_no_trace(measured)
        if view == "weights":
            yield message("A weight moves with its two tokens: its row with the query, its column with the key.")
        if measured.kind == "none" and not measured.causal:
            yield message("This head does not know the order.")
        else:
            yield message("With these tokens and this order, no difference shows.")


def notice_trace(trace: ExampleTrace, both: BothOrders, order: Permutation, view: str) -> Message:
    """The number that differs most."""
    first, then = both.output, both.shuffled.head.output
    of_weights = view == "weights" and float((both.shuffled.head.weights - both.weights).abs().max()) > VISIBLE
    if of_weights:
        first, then = both.weights, both.shuffled.head.weights
    row, column = divmod(int((then - first).abs().argmax()), first.shape[-1])
    before, after = distinguishable(float(first[row, column]), float(then[row, column]))
    token = trace.names[order[row]]
    if of_weights:
        key = message("itself") if row == column else trace.names[order[column]]
        return message(
            "The order matters: {query} puts the weight {before} on {key} if we attend first and {after} if we shuffle "
            "first.",
            query=token,
            key=key,
            before=before,
            after=after,
        )
    return message(
        "The order matters: feature {feature} of the output of {token} is {before} if we attend first and {after} if "
        "we shuffle first.",
        feature=column + 1,
        token=token,
        before=before,
        after=after,
    )


def notice_no_trace(measured: Residual) -> Message:
    """How small the difference is, and that it is rounding."""
    return message(
        "The output rows are permuted in the same way: no number differs by more than {single}, which "
        "is rounding error.",
        single=Magnitude(measured.residual),
    )


def why_it_shows(measured: Residual) -> Message:
    """What tells the head one order from another."""
    if measured.kind == "none":
        return message("No positions are given: only the causal mask reveals the order.")
    return message("The tokens moved, but the positions stayed where they were.")


# All kinds of positions.


def residual_table(residuals: tuple[Residual, ...]) -> Table:
    """A row for each kind of positions: what is left without a mask and with the causal one."""
    left = {(r.kind, r.causal): Magnitude(r.residual) for r in residuals}
    return Table(
        key="residuals",
        name=message("The difference that a shuffle makes"),
        width=420,
        notice=(
            message("The output differs by at most this much between attending first and shuffling first."),
            notice_leak(residuals),
        ),
        columns=(message("positions"), message("no mask"), message("causal mask")),
        cells=tuple((KIND_NAMES[r.kind], left[r.kind, False], left[r.kind, True]) for r in residuals if not r.causal),
    )


def notice_leak(residuals: tuple[Residual, ...]) -> Message:
    """Without positions: nothing without the mask, and what the mask alone reveals."""
    free, masked = (next(r for r in residuals if (r.kind, r.causal) == ("none", causal)) for causal in (False, True))
    both = {"free": Magnitude(free.residual), "masked": Magnitude(masked.residual)}
    return message("Without positions it is {free}; with only the causal mask, {masked}.", **both)
