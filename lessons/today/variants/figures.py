"""What a variant leads to, as curves: measured on this head, on untrained layers, or on models trained here."""

import math
from dataclasses import replace

import torch
from jaxtyping import Float

from attention_core.base.arrays import Array, namespace
from attention_core.measured.head_measures import tokens_that_reach
from attention_core.measured.measures import mean_entropy
from attention_core.one_head.distances import alibi_slopes
from attention_core.one_head.head import one_head
from lessons.example.example import ExampleTrace, projection_of, whose_weights
from lessons.screen import (
    Axis,
    Curves,
    Figure,
    Fixed,
    Integer,
    Line,
    ListOf,
    Magnitude,
    Matrices,
    Matrix,
    Message,
    Part,
    Parts,
    Percent,
    message,
)
from lessons.shared.matrices import weight_matrix
from lessons.today.variants.compute import HEADS_OF_SLOPES, VariedHead
from lessons.today.variants.measures import (
    LENGTHS_MEASURED,
    STEPS_TRAINED,
    WINDOW_TRAINED,
    RightOverLength,
    WeightCollected,
    even_share_of_sink,
    right_over_length,
    with_and_without_sinks,
)
from lessons.trace.computation import Computation, followed_matrix
from lessons.trace.head import compute_head
from lessons.trace.story import Names

LAYERS_MEASURED, TOKENS_MEASURED = (1, 2, 3, 4, 5, 6), 41
SINKS_MEASURED = tuple(half / 2 for half in range(-8, 9))
CAPS_MEASURED = tuple(2.0**exponent for exponent in range(-2, 6))
PARTS_OF_WEIGHT = {"sink": message("the sinks"), "first": message("the first token"), "others": message("all others")}
STEPS_DRAWN, STEPS_SAID = (0, 1, 2, 4, 8, 16, 32, 64), 4

NAMES_OF_KINDS: dict[str, Message] = {
    "learned": message("learned"),
    "sinusoidal": message("sines and cosines"),
    "rotary": message("rotary"),
    "alibi": message("ALiBi"),
}


def consequences(varied: VariedHead) -> tuple[Figure, ...]:
    """The curve of a variant that has one."""
    if varied.kind == "window":
        return (reach_figure(int(varied.amount), varied.trace.example.causal),)
    if varied.kind == "sink":
        return sink_figure(varied), collected_figure()
    if varied.kind == "cap":
        return (cap_figure(varied),)
    if varied.kind == "alibi":
        return slopes_figure(varied), length_figure()
    if varied.kind == "grouped" and varied.shared_before:
        return (maps_figure(varied),)
    return (length_figure(),) if varied.kind == "rotary" else ()


def maps_figure(varied: VariedHead) -> Matrices:
    """W_k of the heads that share it as it is, and of a head that does not."""
    trace, own = varied.trace, varied.set_before
    others = [head for head in range(trace.example.n_heads) if head not in own][:1]
    band = tuple(map_of_head(trace, head) for head in (*own, *others))
    return Matrices(
        key="variant_maps",
        name=message("W_k of heads that share it, and of one that does not"),
        bands=(band,),
        first=band[0].key,
        weights=whose_weights(trace),
        notice=(notice_maps(trace, own),),
    )


def map_of_head(trace: ExampleTrace, head: int) -> Matrix:
    """W_k of one head."""
    found = weight_matrix(trace, "k", head, compute_head(one_head, trace, head))
    title = message("W_k of head {head}", head=trace.called(head))
    return replace(found, key=f"W_k{head}", title=title, sources=lambda i, j: ())


def notice_maps(trace: ExampleTrace, own: tuple[int, ...]) -> Message:
    """That the numbers are the same."""
    W_k, W_v = (projection_of(trace, role, own[0]) for role in "kv")
    return message(
        "Heads {heads} have the same W_k, of size {keys}, and the same W_v, of size {values}. Each has its own W_q.",
        heads=ListOf(tuple(map(trace.called, own))),
        keys=Integer(W_k.numel()),
        values=Integer(W_v.numel()),
    )


def reach_figure(reach: int, causal: bool) -> Curves:
    """How many tokens reach one of them through so many layers."""
    alone, helped = (
        [tokens_that_reach(reach, n_layers, causal, with_global, TOKENS_MEASURED) for n_layers in LAYERS_MEASURED]
        for with_global in (False, True)
    )
    said = message(
        "Through {layers} layers, {alone} of {n} tokens reach one query by windows alone, and {helped} "
        "with the global token, as the gradients of untrained layers show (seed 0).",
        layers=LAYERS_MEASURED[-1],
        alone=alone[-1],
        n=TOKENS_MEASURED,
        helped=helped[-1],
    )
    return Curves(
        key="variant_reach",
        name=message("How far windows reach through layers"),
        notice=(said,),
        width=560,
        x=message("layers"),
        y=message("tokens that reach a query"),
        y_domain=(0.0, TOKENS_MEASURED + 1.0),
        lines=(
            Line(key="alone", name=message("windows only"), x=LAYERS_MEASURED, y=alone, points=True),
            Line(
                key="helped",
                name=message("with a global token"),
                x=LAYERS_MEASURED,
                y=helped,
                style="dashed",
                points=True,
            ),
        ),
    )


def sink_figure(varied: VariedHead) -> Curves:
    """What sinks of other scores would collect."""
    shares = [float(varied.with_amount(sink).collected.mean()) for sink in SINKS_MEASURED]
    return Curves(
        key="variant_sink",
        name=message("What a sink collects, by its score"),
        width=560,
        percent=True,
        x=message("score of the sink"),
        y=message("collected on average"),
        y_domain=(0.0, 1.0),
        above=True,
        chosen=varied.amount,
        notice=(
            message(
                "With score {low}, a sink collects {little} of the weight; with score {high}, it collects {much}.",
                low=Fixed(SINKS_MEASURED[0], 0),
                little=Fixed(shares[0], 3),
                high=Fixed(SINKS_MEASURED[-1], 0),
                much=Fixed(shares[-1], 3),
            ),
        ),
        lines=(Line(key="collected", name=message("collected"), x=SINKS_MEASURED, y=shares),),
    )


def collected_figure() -> Parts:
    """Where the weight of a model goes that was trained without sinks, and of one that was trained with them."""
    without, given, trained = with_and_without_sinks()
    models = (message("trained without sinks"), without), (message("trained with sinks"), trained)
    return Parts(
        key="variant_collected",
        name=message("Where the weight goes after training without sinks and with them"),
        width=620,
        rows=tuple(model for model, _ in models),
        notice=notice_collected(without, given, trained),
        parts=tuple(
            Part(
                name=part,
                shares=tuple(getattr(found, name) for _, found in models),
                says=tuple(
                    message(
                        "{model}: {share} of the weight goes to {part}",
                        model=model,
                        part=part,
                        share=Percent(getattr(found, name)),
                    )
                    for model, found in models
                ),
            )
            for name, part in PARTS_OF_WEIGHT.items()
        ),
    )


def notice_collected(without: WeightCollected, given: WeightCollected, trained: WeightCollected) -> tuple[Message, ...]:
    """What sinks collect, and how well the models do."""
    return (
        message(
            "Two small models of one text were trained here from the same random weights for {steps} "
            "training steps (seed 0), one of them with a sink in each head. Its sinks collect {sinks} of "
            "the weight of all queries but the first; if the weight were spread evenly, it would be {even}.",
            steps=STEPS_TRAINED,
            sinks=Percent(trained.sink),
            even=Percent(even_share_of_sink(WINDOW_TRAINED)),
        ),
        message(
            "With sinks, the model predicts {right}% of the next characters correctly; without them, "
            "{alone}%. Sinks added only after training, with score 0, collect {late}, and then "
            "{late_right}% are correct.",
            right=Fixed(100 * trained.right, 1),
            alone=Fixed(100 * without.right, 1),
            late=Percent(given.sink),
            late_right=Fixed(100 * given.right, 1),
        ),
    )


def what_biases_leave(n_heads: int, steps: Float[Array, " steps"]) -> Float[Array, "heads steps"]:
    """What the slope of each head leaves of e to the score of a key, so many steps away."""
    xp = namespace(steps)
    return xp.exp(-xp.asarray(alibi_slopes(n_heads))[:, None] * steps)


def slopes_figure(varied: VariedHead) -> Matrices:
    """A matrix of what the bias of each head leaves of a key, by its distance."""
    says = message("how much of e to a score the bias of head {head} leaves at a distance of {steps}")
    inputs = {"n_heads": HEADS_OF_SLOPES, "steps": torch.tensor(STEPS_DRAWN, dtype=torch.float32)}
    computation = Computation(what_biases_leave, inputs, Names({"left": says}, {"steps": STEPS_DRAWN}))
    slopes = alibi_slopes(HEADS_OF_SLOPES)
    heads = tuple(message("head {number}", number=head + 1) for head in range(HEADS_OF_SLOPES))
    left = followed_matrix(
        computation.follow("", name="left", axes=("heads", "steps")),
        key="left",
        title=message("left by the bias"),
        scale="weight",
        colour="weight",
        given=True,
        rows=Axis(message("heads"), heads, named=True),
        columns=Axis(message("steps apart"), tuple(map(str, STEPS_DRAWN)), named=True),
    )
    return Matrices(
        key="variant_slopes",
        name=message("What the bias of each head leaves of a key, by its distance"),
        first="left",
        bands=((left,),),
        notice=(
            message(
                "At a distance of {steps}, the bias multiplies e to the score by {steep} in head 1 and by "
                "{flat} in head {heads}: each head looks back twice as far as the one before.",
                steps=STEPS_SAID,
                steep=Magnitude(math.exp(-STEPS_SAID * slopes[0])),
                heads=HEADS_OF_SLOPES,
                flat=Magnitude(math.exp(-STEPS_SAID * slopes[-1])),
            ),
        ),
    )


def cap_figure(varied: VariedHead) -> Curves:
    """How even the rows are with other caps."""
    entropies = [mean_entropy(varied.with_amount(cap).changed.weights) for cap in CAPS_MEASURED]
    without = mean_entropy(varied.plain.weights)
    return Curves(
        key="variant_cap",
        name=message("How a cap flattens the weights"),
        width=560,
        logarithmic=True,
        x=message("cap"),
        y=message("entropy of a row, bits"),
        chosen=varied.amount,
        above=True,
        levels=((message("without a cap"), without),),
        notice=(
            message(
                "With a cap of {low}, a row has {even} bits of entropy on average; without a cap, {without}.",
                low=Fixed(CAPS_MEASURED[0]),
                even=Fixed(entropies[0], 3),
                without=Fixed(without, 3),
            ),
        ),
        lines=(Line(key="entropy", name=message("entropy"), x=CAPS_MEASURED, y=entropies),),
    )


def length_figure() -> Curves:
    """What is left of models with each kind of positions when they read longer pieces than they were trained on."""
    found = right_over_length()
    return Curves(
        key="variant_lengths",
        name=message("Reading further than in training"),
        width=620,
        percent=True,
        x=message("characters read at a time ({trained} in training)", trained=WINDOW_TRAINED),
        y=message("next characters predicted"),
        logarithmic=True,
        y_domain=(0.3, 1.0),
        notice=notice_lengths(found),
        lines=tuple(
            Line(
                key=one.kind,
                name=NAMES_OF_KINDS[one.kind],
                x=one.lengths,
                y=one.right,
                points=True,
                style="dashed" if one.kind in ("rotary", "learned") else "line",
                colour="ink" if one.kind in ("alibi", "rotary") else "muted",
            )
            for one in found
        ),
    )


def notice_lengths(found: tuple[RightOverLength, ...]) -> tuple[Message, ...]:
    """The numbers at the ends of the curves, and what was trained."""
    at_end = {one.kind: Fixed(100 * one.right[-1], 1) for one in found}
    return (
        message(
            "Four small models of one text were trained here for {steps} training steps on {trained} "
            "characters at a time (seed 0). Reading {length} at a time, they predict {alibi}% of the next "
            "characters correctly with ALiBi, {rotary}% with rotary positions and {waves}% with sines and "
            "cosines.",
            steps=STEPS_TRAINED,
            trained=WINDOW_TRAINED,
            length=LENGTHS_MEASURED[-1],
            alibi=at_end["alibi"],
            rotary=at_end["rotary"],
            waves=at_end["sinusoidal"],
        ),
        message(
            "Learned vectors end at position {trained}: that model cannot read longer pieces.",
            trained=WINDOW_TRAINED,
        ),
    )
