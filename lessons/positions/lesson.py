"""Does attention know the order?"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Literal

from jaxtyping import Bool
from torch import Tensor

from attention_core.masks import causal_mask
from lessons.example.example import Example, ExampleTrace, run_example
from lessons.kit.matrices import BELOW_CONTROLS, head_matrix
from lessons.kit.questions import question_picker
from lessons.positions.derivation import derive_in_order
from lessons.positions.permutation import (
    BothOrders,
    Permutation,
    PositionKind,
    Residual,
    added_positions,
    attend_in_both_orders,
    attend_with_positions,
    measure_residuals,
    similarity_of_query_and_key,
    similarity_of_rows,
)
from lessons.positions.positioned_head import (
    PositionedHead,
    head_projections,
    positioned_head,
    remarks_on_rows,
    whose_head,
    without_own_positions,
)
from lessons.positions.questions import QUESTIONS
from lessons.positions.views import distance_view, rows_view
from lessons.screen.arithmetic import term
from lessons.screen.format import distinguishable
from lessons.screen.message import Magnitude, Message, message
from lessons.screen.program import Ran
from lessons.screen.screen import Cells, Code, Figure, Matrices, Matrix, Screen, Step, Table

HEADING = message("Does attention know the order?")
OPENING = message(
    "Shuffle the tokens and see what the output does. Then tell attention the positions, and shuffle again. The mask "
    "and the positions stay where they are while the tokens move."
)

VISIBLE = 1e-6  # weights that differ by less differ by rounding
KIND_NAMES: dict[PositionKind, Message] = {
    "none": message("no positions"),
    "sinusoidal": message("sinusoidal"),
    "learned": message("learned, untrained"),
    "rotary": message("rotary"),
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
    example, asked = without_own_positions(example), example
    own = positioned_head(example, head, choices.kind)
    mask = causal_mask(len(example.tokens)) if choices.causal else None
    both = attend_in_both_orders(own.x, own.projections, choices.permutation, own.kind, own.seed, mask)
    residuals = residuals_of(example.example, head, choices.permutation)
    return Screen(
        figures=(figure_of(example, own, both, residuals, choices), residual_table(residuals)),
        code=Code(
            (attend_with_positions, attend_in_both_orders),
            both.plain,
            example.scale,
            partial(ran_orders, own, both, mask, choices),
        ),
        ask=question_picker("positions", QUESTIONS, own.seed, example, head, choices.permutation),
        derive=partial(derive_in_order, example, head),
        remarks=remarks_on_rows(asked),
    )


def ran_orders(
    own: PositionedHead, both: BothOrders, mask: Bool[Tensor, "tokens tokens"] | None, choices: Choices
) -> Ran:
    """Both orders, and what the view adds to them."""
    values: dict[str, object] = {"kind": own.kind, "seed": own.seed, "x": own.x}
    if choices.view == "rows":
        return Ran(
            values,
            ("added = added_positions(kind, *x.shape, seed)", "positioned = x + added"),
            {"added": own.added, "positioned": own.x + own.added},
            (added_positions,),
        )
    if choices.view == "distance" and own.kind in ("none", "rotary"):
        row = own.x[choices.token]
        vectors = row @ own.projections.W_q, row @ own.projections.W_k
        line = "alike = similarity_of_query_and_key(kind, x[token] @ head.W_q, x[token] @ head.W_k)"
        similarity = similarity_of_query_and_key(own.kind, *vectors)
        values = {"kind": own.kind, "x": own.x, "head": own.projections, "token": choices.token}
        return Ran(values, (line,), {"alike.mean": similarity.mean}, (similarity_of_query_and_key,))
    if choices.view == "distance":
        similarity = similarity_of_rows(own.kind, own.x.shape[-1], own.seed)
        values = {"kind": own.kind, "d_model": own.x.shape[-1], "seed": own.seed}
        line = "alike = similarity_of_rows(kind, d_model, seed)"
        return Ran(values, (line,), {"alike.mean": similarity.mean}, (similarity_of_rows,))
    name = choices.view
    values |= {"head": own.projections, "order": both.permutation, "may_attend": mask}
    lines = ("both = attend_in_both_orders(x, head, order, kind, seed, may_attend)",)
    return Ran(
        values,
        lines,
        {f"both.plain.{name}": getattr(both.plain, name), f"both.permuted.{name}": getattr(both.permuted, name)},
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
    band = in_both_orders(own, both, choices.view)
    return Matrices(
        key="positions_figure",
        name=message("Shuffled tokens, and positions"),
        bands=(tuple(band),),
        first="own",
        notice=tuple(notice_order(example, both, measured, choices.view)),
        weights=whose_head(example, own),
        height=BELOW_CONTROLS,
    )


@lru_cache(maxsize=64)
def residuals_of(example: Example, head: int, permutation: Permutation) -> tuple[Residual, ...]:
    """What this permutation leaves for every kind of positions; computed once while all this stays as it is."""
    trace = without_own_positions(run_example(example))
    return measure_residuals(trace.x, head_projections(trace, head), permutation, example.seed)


def in_both_orders(own: PositionedHead, both: BothOrders, tensor: Literal["weights", "output"]) -> Iterator[Matrix]:
    """Attended in the sentence's order; that, shuffled; shuffled first; and for the output, the difference.

    Queries move, so rows do; of the weights, keys and columns as well.
    """
    order, moved = both.permutation, own.permuted(both.permutation)
    plain, permuted = own.derivation(both.plain), moved.derivation(both.permuted)
    of_weights = tensor == "weights"
    then = both.weights_permuted if of_weights else both.output_permuted
    first = getattr(both.permuted, tensor)
    shuffled = ("then", "first") if of_weights else ("then", "first", "gap")
    after = head_matrix(permuted, tensor, message("shuffle, then attend"), first, key="first")

    def old(i: int, j: int) -> tuple[int, int]:
        return order[i], order[j] if of_weights else j

    def others(i: int, j: int) -> tuple[Cells, ...]:
        new = order.index(i), order.index(j) if of_weights else j
        return tuple(Cells(key, *new) for key in shuffled)

    def same(i: int, j: int) -> tuple[Cells, ...]:
        return Cells("own", *old(i, j)), *(Cells(key, i, j) for key in shuffled)

    yield head_matrix(plain, tensor, message("attend"), getattr(both.plain, tensor), key="own", sources=others)
    yield replace(
        after,
        key="then",
        title=message("attend, then shuffle"),
        values=then,
        sources=same,
        visible=both.plain.visible[list(order)][:, list(order)].tolist() if of_weights else None,
        came_from=None if of_weights else order,
        step=lambda i, j: plain.step(tensor, *old(i, j)),
        before=lambda i, j: plain.before(tensor, *old(i, j)),
    )
    yield replace(after, sources=same)
    if not of_weights:
        says, gap = message("shuffle, then attend − attend, then shuffle"), first - then
        yield Matrix(
            key="gap",
            title=message("difference"),
            values=gap,
            rows=after.rows,
            columns=after.columns,
            scale="difference",
            remark=message("at most {most}", most=Magnitude(both.residual)),
            sources=same,
            step=lambda i, j: Step(says, term(float(first[i, j])) - float(then[i, j]), float(gap[i, j])),
            before=lambda i, j: (plain.step("output", *old(i, j)), permuted.step("output", i, j)),
        )


# What there is to notice.


def notice_order(example: ExampleTrace, both: BothOrders, measured: Residual, view: str) -> Iterator[Message]:
    """What the permutation does."""
    if len(example.tokens) == 1:
        yield message("One token has only one order: take a longer sentence to shuffle.")
    elif both.permutation == tuple(range(len(example.tokens))):
        yield message("This is the sentence's own order. Ask for another shuffle to see what moves.")
    elif measured.knows_order:
        yield notice_trace(example, both, view)
        yield why_it_shows(measured)
    else:
        yield notice_no_trace(measured)
        if view == "weights":
            yield message("A weight moves with its two tokens: its row with the query, its column with the key.")
        if measured.kind == "none" and not measured.causal:
            yield message("This head does not know the order.")
        else:
            yield message("With these tokens and this order, nothing shows.")


def notice_trace(example: ExampleTrace, both: BothOrders, view: str) -> Message:
    """The number that differs most."""
    first, then = both.output_permuted, both.permuted.output
    of_weights = view == "weights" and float((both.permuted.weights - both.weights_permuted).abs().max()) > VISIBLE
    if of_weights:
        first, then = both.weights_permuted, both.permuted.weights
    row, column = divmod(int((then - first).abs().argmax()), first.shape[-1])
    before, after = distinguishable(float(first[row, column]), float(then[row, column]))
    token = example.names[both.permutation[row]]
    if of_weights:
        key = message("itself") if row == column else example.names[both.permutation[column]]
        return message(
            "The order shows: {query} puts the weight {before} on {key} if we attend first and {after} if we "
            "shuffle first, and no weight differs by more.",
            query=token,
            key=key,
            before=before,
            after=after,
        )
    return message(
        "The order shows: feature {feature} of the output of {token} is {before} if we attend first and {after} "
        "if we shuffle first, and no number differs by more.",
        feature=column + 1,
        token=token,
        before=before,
        after=after,
    )


def notice_no_trace(measured: Residual) -> Message:
    """How small the difference is, and that it is rounding."""
    if measured.residual == 0:
        return message("The output rows are permuted in the same way, to the last digit.")
    return message(
        "The output rows are permuted in the same way: no number differs by more than {single}. In double "
        "precision no number differs by more than {double}, so this is rounding.",
        single=Magnitude(measured.residual),
        double=Magnitude(measured.precise),
    )


def why_it_shows(measured: Residual) -> Message:
    """What tells the head one order from another."""
    if measured.kind == "none":
        return message("No positions are given: the causal mask alone reveals the order.")
    if measured.causal:
        return message("The tokens moved, but the positions and the mask stayed where they were.")
    return message("The tokens moved, but the positions stayed where they were.")


# All kinds of positions.


def residual_table(residuals: tuple[Residual, ...]) -> Table:
    """A row for each kind of positions: what is left without a mask and with the causal one."""
    left = {(r.kind, r.causal): Magnitude(r.residual) for r in residuals}
    return Table(
        key="residuals",
        name=message("What a shuffle leaves"),
        width=420,
        notice=(
            message("The table: by how much the output differs, at most, between attending first and shuffling first."),
            notice_leak(residuals),
        ),
        columns=(message("positions"), message("no mask"), message("causal mask")),
        cells=tuple((KIND_NAMES[r.kind], left[r.kind, False], left[r.kind, True]) for r in residuals if not r.causal),
    )


def notice_leak(residuals: tuple[Residual, ...]) -> Message:
    """Without positions: nothing without the mask, and what the mask alone reveals."""
    free, masked = (next(r for r in residuals if (r.kind, r.causal) == ("none", causal)) for causal in (False, True))
    both = {"free": Magnitude(free.residual), "masked": Magnitude(masked.residual)}
    if not masked.knows_order:
        return message("Without positions it is {free}, with the causal mask {masked}.", **both)
    return message(
        "Without positions it is {free}. The causal mask alone makes it {masked}: the first token sees only "
        "itself, so the mask reveals order.",
        **both,
    )
