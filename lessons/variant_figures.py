"""What a variant leads to, as curves: measured on this head, on untrained layers, or on models trained here."""

from lessons.screen import Curves, Figure, Line
from lessons.sentence import Number, Sentence, say
from lessons.variant_heads import VariedHead
from lessons.variant_measures import (
    CAPS_MEASURED,
    LAYERS_MEASURED,
    LENGTHS_MEASURED,
    SINKS_MEASURED,
    STEPS_TRAINED,
    TOKENS_MEASURED,
    WINDOW_TRAINED,
    RightOverLength,
    entropies_of_caps,
    mean_entropy,
    right_over_length,
    shares_of_sinks,
    tokens_that_reach,
)

NAMES_OF_KINDS: dict[str, Sentence] = {
    "learned": say("learned"),
    "sinusoidal": say("sines and cosines"),
    "rotary": say("rotary"),
    "alibi": say("ALiBi"),
}


def consequences(varied: VariedHead) -> tuple[Figure, ...]:
    """The curve of a variant that has one."""
    if varied.kind == "window":
        return (reach_figure(int(varied.amount), varied.example.example.causal),)
    if varied.kind == "sink":
        return (sink_figure(varied),)
    if varied.kind == "cap":
        return (cap_figure(varied),)
    return (length_figure(),) if varied.kind in ("alibi", "rotary") else ()


def reach_figure(reach: int, causal: bool) -> Curves:
    """How many tokens reach one of them through so many layers."""
    alone, helped = (
        [tokens_that_reach(reach, n_layers, causal, with_global) for n_layers in LAYERS_MEASURED]
        for with_global in (False, True)
    )
    said = say("Through {layers} layers a window alone lets {alone} of {n} tokens reach one query, with the global "
               "token {helped}: so many have a gradient that is not 0, in untrained layers (seed 0).",
               layers=LAYERS_MEASURED[-1], alone=alone[-1], n=TOKENS_MEASURED, helped=helped[-1])  # fmt: skip
    why = (
        say("Under the causal mask the first token hears nobody, so it has nothing to pass on.")
        if causal
        else say("The first token has heard everybody after one layer, and tells everybody in the next.")
    )
    return Curves(
        key="variant_reach", name=say("How far a window reaches through layers"), notice=(said, why),
        width=560, x=say("layers"), y=say("tokens that reach a query"), y_domain=(0.0, TOKENS_MEASURED + 1.0),
        lines=(Line(key="alone", name=say("window alone"), x=LAYERS_MEASURED, y=alone, points=True),
               Line(key="helped", name=say("with a global token"), x=LAYERS_MEASURED, y=helped, style="dashed",
                    points=True)))  # fmt: skip


def sink_figure(varied: VariedHead) -> Curves:
    """What sinks of other scores would collect."""
    shares = shares_of_sinks(varied.plain, varied.example.scale, SINKS_MEASURED)
    return Curves(
        key="variant_sink", name=say("What a sink collects, by its score"), width=560, percent=True,
        x=say("score of the sink"), y=say("collected on average"), y_domain=(0.0, 1.0), above=True,
        chosen=varied.amount, notice=(say(
            "A sink competes with all keys that a query may see: with a score of {low} it collects {little} of the "
            "weight, with one of {high} it collects {much}.",
            low=Number(SINKS_MEASURED[0], 0), little=Number(shares[0], 3),
            high=Number(SINKS_MEASURED[-1], 0), much=Number(shares[-1], 3)),),
        lines=(Line(key="collected", name=say("collected"), x=SINKS_MEASURED, y=shares),))  # fmt: skip


def cap_figure(varied: VariedHead) -> Curves:
    """How even the rows are with other caps."""
    entropies = entropies_of_caps(varied.plain, varied.example.scale, CAPS_MEASURED)
    without = mean_entropy(varied.plain.weights)
    return Curves(
        key="variant_cap", name=say("How a cap flattens the weights"), width=560, logarithmic=True,
        x=say("cap"), y=say("entropy of a row, bits"), chosen=varied.amount, above=True,
        levels=((say("without a cap"), without),),
        notice=(say("With a cap of {low} a row has {even} bits of entropy on average, with {high} it has {nearly}; "
                    "without a cap {without}.", low=Number(CAPS_MEASURED[0]), even=Number(entropies[0], 3),
                    high=Number(CAPS_MEASURED[-1], 0), nearly=Number(entropies[-1], 3), without=Number(without, 3)),),
        lines=(Line(key="entropy", name=say("entropy"), x=CAPS_MEASURED, y=entropies),))  # fmt: skip


def length_figure() -> Curves:
    """What is left of models with each kind of positions when they read longer pieces than they were trained on."""
    found = right_over_length()
    return Curves(
        key="variant_lengths", name=say("Reading further than in training"), width=620, percent=True,
        x=say("characters read at a time ({trained} in training)", trained=WINDOW_TRAINED),
        y=say("next characters predicted"), logarithmic=True, y_domain=(0.3, 1.0),
        notice=notice_lengths(found),
        lines=tuple(
            Line(key=one.kind, name=NAMES_OF_KINDS[one.kind], x=one.lengths, y=one.right, points=True,
                 style="dashed" if one.kind in ("rotary", "learned") else "line",
                 colour="ink" if one.kind in ("alibi", "rotary") else "muted") for one in found))  # fmt: skip


def notice_lengths(found: tuple[RightOverLength, ...]) -> tuple[Sentence, ...]:
    """The numbers at the ends of the curves, and what was trained."""
    at_end = {one.kind: Number(100 * one.right[-1], 1) for one in found}
    return (
        say("Four small models of one text, one layer each, trained here: {steps} updates on {trained} characters at a "
            "time (seed 0). Then the same text in pieces of {length}: {alibi} % of the next characters are right with "
            "ALiBi, {rotary} % with rotary positions, {waves} % with sines and cosines.",
            steps=STEPS_TRAINED, trained=WINDOW_TRAINED, length=LENGTHS_MEASURED[-1], alibi=at_end["alibi"],
            rotary=at_end["rotary"], waves=at_end["sinusoidal"]),
        say("Learned positions have no vector beyond place {trained}: that model cannot read longer pieces at all.",
            trained=WINDOW_TRAINED))  # fmt: skip
