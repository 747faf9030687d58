"""One head whose tokens have positions: what is left of those that its model knows, and how it is computed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from attention_core.measured.permutation import Permutation, attend_in_both_orders, attend_with_positions
from attention_core.one_head.masks import causal_mask
from attention_core.text.embeddings import Rotary
from attention_core.text.positions import USUAL, PositionKind, add_positions
from lessons.example.edits import apply_edits
from lessons.example.example import ExampleTrace, as_stored, heads_of, run_example, whose_weights
from lessons.screen import Integer, Message, Step, message
from lessons.trace.computation import Computation, taken_by
from lessons.trace.head import head_inputs, head_names

SENTENCES = {
    "positions": message("position of {token}, feature {feature}"),
    "going_in": message("input of {token}, feature {feature}: X + position"),
    "angles": message("angle of pair {pair} for {token}, in radians"),
    "q_turned": message("query of {query}, feature {feature}, turned"),
    "k_turned": message("key of {key}, feature {feature}, turned"),
}
LEARNED = message("position of {token}, feature {feature}: drawn at random, not trained")


def compute_with_positions(
    function: Callable[..., Any],
    trace: ExampleTrace,
    head: int,
    kind: PositionKind,
    *,
    causal: bool = False,
    order: Permutation | None = None,
    **others: Any,
) -> Computation:
    """A function of the core on what it asks for: one head, and the kind of positions that this is given."""
    mask = causal_mask(len(trace.tokens)) if causal else None
    own = {"kind": kind, "seed": trace.example.seed, "order": order}
    if kind == "rotary" and (rotary := own_rotary(trace)) is not None:
        own["rotary"] = rotary
    inputs = head_inputs(trace, head, may_attend=mask, **own, **others)
    names = head_names(trace, **SENTENCES | ({"positions": LEARNED} if kind == "learned" else {}))
    if order is not None:
        moved = [trace.names[old] for old in order]
        there = {f"shuffled.{axis}": moved for axis in ("tokens", "queries", "keys")}
        names = replace(names, things={**names.things, **there})
    taken = taken_by(function, inputs)
    return Computation(function, taken, names)


def own_rotary(trace: ExampleTrace) -> Rotary | None:
    """How the model of an example turns queries and keys by their positions; None where it does not.

    It is known of an example that was made `without_own_positions`, too.
    """
    return run_example(trace.example).rotary


def rotary_of(trace: ExampleTrace) -> Rotary:
    """How rotary positions turn on this page: as the example's own model does, or as usual where it has none."""
    return own_rotary(trace) or USUAL


def in_own_order(trace: ExampleTrace, head: int, kind: PositionKind = "none", *, causal: bool = False) -> Computation:
    """The head on the tokens as they stand, with the causal mask or with none, whatever the example has."""
    return compute_with_positions(attend_with_positions, trace, head, kind, causal=causal)


def in_both_orders(
    trace: ExampleTrace, head: int, kind: PositionKind, order: Permutation, *, causal: bool = False
) -> Computation:
    """A head with these positions on the tokens in their own order and in another."""
    return compute_with_positions(attend_in_both_orders, trace, head, kind, causal=causal, order=order)


def derive_in_order(trace: ExampleTrace, head: int, number: str, *place: int) -> list[Step]:
    """All lines that lead to a number that a question is about, each in an order of its own."""
    order = [*range(len(trace.tokens))]
    match number:
        case "weight of two tokens":
            return in_own_order(trace, head).follow("head.weights").derive(*place)
        case "row at another place":
            token, there, feature = place
            order[token], order[there] = there, token
            both = in_both_orders(trace, head, "sinusoidal", tuple(order))
            return both.follow("shuffled.going_in").derive(there, feature)
        case _:
            added = compute_with_positions(add_positions, trace, head, "sinusoidal")
            return added.follow("positions").derive(*place)


def without_own_positions(trace: ExampleTrace) -> ExampleTrace:
    """The head as its model has it, but for what the model itself tells this layer of positions.

    Vectors that it adds to the rows of its embedding table are left out of X in the first layer, those of queries and
    keys and rotations in all. X of a further layer is what enters it: nothing can be taken out of that again.
    """
    x = trace.x
    model = trace.example.given_by.model(trace.example) if vectors_in_x(trace) else None
    if model is not None and trace.trained is not None:
        norm = model.layers[0].norm
        bare = trace.trained.embedded if norm is None else norm(trace.trained.embedded)
        edits = tuple(edit for edit in trace.example.edits if edit.matrix == "x")
        x = apply_edits({"x": bare}, edits, trace.row_ids)["x"]
    elif trace.added is None and trace.rotary is None:
        return trace
    plain = replace(as_stored(trace), x=x, added=None, rotary=None)
    return replace(plain, heads=heads_of(trace.example, plain))


def vectors_in_x(trace: ExampleTrace) -> bool:
    """True where X is the sum of rows of the embedding table and a vector for each position."""
    if trace.trained is None or trace.example.layer > 1:
        return False
    model = trace.example.given_by.model(trace.example)
    return model is not None and model.positions(len(trace.tokens))[0] is not None


def mixed_below(trace: ExampleTrace) -> bool:
    """True where X is what layers below have made, each row from several tokens."""
    return trace.trained is not None and trace.example.layer > 1


def remarks_on_rows(trace: ExampleTrace, kind: PositionKind) -> tuple[Message, ...]:
    """What has become of the positions that the model of an example knows by itself."""
    said = []
    if vectors_in_x(trace) or trace.added is not None:
        said.append(
            message(
                "This model adds position vectors. They are left out of X here, since this page has its own positions."
            )
        )
    if mixed_below(trace):
        said.append(
            message("The layers below have mixed the tokens, so each row of X may already reveal its position.")
        )
    if trace.rotary is not None and kind == "rotary":
        said.append(
            message(
                "This model turns queries and keys in just this way, with base {base}.",
                base=Integer(round(trace.rotary.base)),
            )
        )
    elif trace.rotary is not None:
        said.append(message("This model turns queries and keys by their positions. That is left out here."))
    return tuple(said)


def whose_head(trace: ExampleTrace, kind: PositionKind) -> Message:
    """What made the weights, and the positions where they are weights."""
    seed = trace.example.seed
    if kind != "learned":
        return whose_weights(trace)
    if trace.trained is not None and not trace.trained.untrained:
        return message("{whose} The positions are random (seed {seed}).", whose=whose_weights(trace), seed=seed)
    if trace.example.edits:
        return message(
            "Untrained: random weights and positions (seed {seed}), some of them changed by hand.", seed=seed
        )
    return message("Untrained: random weights and positions (seed {seed}).", seed=seed)
