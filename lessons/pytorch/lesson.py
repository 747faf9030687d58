"""Is this what PyTorch computes?"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from jaxtyping import Bool
from torch import Tensor

from attention_core.attention import attend
from attention_core.heads import linear, merge_heads
from attention_core.weights import named_weights
from lessons.example.example import ExampleTrace
from lessons.heads.derivation import ManyHeadsDerivation
from lessons.heads.example import HeadsExample, HeadsTrace, run_heads, shown_features, whose_heads
from lessons.heads.notices import notice_model
from lessons.heads.program import beginning, is_wide
from lessons.kit.matrices import BELOW_CONTROLS
from lessons.kit.questions import question_picker
from lessons.pytorch.answers import derive_beside_pytorch
from lessons.pytorch.implementations import level_listings, three_levels
from lessons.pytorch.masks_view import meanings_band, notice_meanings
from lessons.pytorch.parity import (
    Parity,
    compare_with_pytorch,
    copy_to_pytorch,
    fits_pytorch,
    heads_by_function,
    one_mask_for_both,
    shapes_of_batch,
)
from lessons.pytorch.questions import QUESTIONS
from lessons.pytorch.random_cases import case_figures
from lessons.pytorch.weights_view import averaged_band, notice_averaged
from lessons.screen.arithmetic import term
from lessons.screen.format import names
from lessons.screen.message import ListOf, Magnitude, Message, message
from lessons.screen.program import Ran
from lessons.screen.screen import Code, Facts, Figure, Matrices, Matrix, Screen, Step, Table

HEADING = message("Is this what PyTorch computes?")
OPENING = message(
    "The weights of the lesson on heads are copied into PyTorch's own functions. Equal shapes prove nothing, so "
    "every number is compared."
)

THEIRS = {"module": "nn.MultiheadAttention", "fused": "scaled_dot_product_attention"}
SINGLE_PRECISION = 7  # digits, or so


@dataclass(frozen=True, eq=False)
class Choices:
    """What the learner chose on this page: heads, a mask, and what to compare. Random cases come from a number."""

    example: HeadsExample
    may_attend: Bool[Tensor, "tokens tokens"]
    view: Literal["module", "fused", "weights", "meanings", "levels", "cases"] = "module"
    cases: int = 0


def screen(example: ExampleTrace, head: int, choices: Choices) -> Screen:
    """Ours beside PyTorch's. All that this lesson takes from the running example is in its choices."""
    trace = run_heads(choices.example)
    parity = compare_with_pytorch(trace.tokens, trace.x, choices.may_attend, trace.module, trace.added)
    attention, derivation = parity.trace.heads.select(0), derive_ours(parity)
    return Screen(
        figures=tuple(figures_of(parity, derivation, choices, trace)),
        code=Code(
            (copy_to_pytorch, compare_with_pytorch, one_mask_for_both) if parity.theirs else (heads_by_function,),
            attention,
            attention.q.shape[-1] ** -0.5,
            partial(ran_parity, trace, parity),
        ),
        ask=question_picker("pytorch", QUESTIONS, trace.example.seed, parity),
        derive=partial(derive_beside_pytorch, parity, derivation),
        remarks=(
            *notice_model(trace),
            *why_not_the_module(trace),
            *without_positions(trace, choices.view),
            *with_batch_axis(parity, choices.view),
        ),
    )


def ran_parity(trace: HeadsTrace, parity: Parity) -> Ran:
    """Ours beside PyTorch's two functions, and one mask for both; of what is too wide to write, the heads alone."""
    if parity.theirs is None or is_wide(trace):
        return ran_from_queries(parity)
    values, (*drawing, _, _), uses = beginning(trace)
    values = {name: value for name, value in values.items() if name != "scale"}  # PyTorch's functions have their own
    values |= {"may_attend": parity.may_attend, "tokens": trace.tokens}
    positions = "" if trace.added is None else ", p"
    lines = (
        *drawing,
        f"parity = compare_with_pytorch(tokens, x, may_attend, module{positions})",
        "both = one_mask_for_both(parity)",
    )
    shown = {
        "parity.trace.output": parity.trace.output,
        "parity.module": parity.module,
        "parity.fused": parity.fused,
        "parity.averaged": parity.averaged,
        "both.kept": one_mask_for_both(parity).kept,
    }
    return Ran(values, lines, shown, uses)


def ran_from_queries(parity: Parity) -> Ran:
    """The heads by F.scaled_dot_product_attention and by ours; values that are the identity hand the weights back."""
    heads = parity.trace.heads
    values = {"q": heads.q, "k": heads.k, "v": heads.v, "may_attend": parity.may_attend}
    values |= {"W_o": parity.ours.W_o, "b_o": parity.ours.b_o}
    lines = (
        "heads = attend(q, k, v, may_attend)",
        "ours, theirs = merge_heads(heads.output), merge_heads(heads_by_function(q, k, v, may_attend))",
        "output, averaged = linear(theirs, W_o, b_o), heads.weights.mean(dim=0)",
    )
    shows = {
        "ours": parity.trace.concatenated,
        "theirs": merge_heads(parity.fused),
        "output": parity.trace.output,
        "averaged": heads.weights.mean(dim=0),
    }
    return Ran(values, lines, shows, (attend, merge_heads, linear, heads_by_function))


def why_not_the_module(trace: HeadsTrace) -> tuple[Message, ...]:
    """Why PyTorch's own module cannot hold these heads, where it cannot."""
    if fits_pytorch(trace.module):
        return ()
    turns = message("does not turn queries and keys by their positions")
    shares = message("gives queries, keys and values of a head the same number of features, d_model ÷ heads")
    reasons = ((trace.module.rotary, turns), (not trace.usual_sizes, shares))
    return (
        message(
            "nn.MultiheadAttention cannot hold these heads, as it {reasons}. F.scaled_dot_product_attention, which "
            "is given queries, keys and values, computes them.",
            reasons=ListOf(tuple(why for holds, why in reasons if holds)),
        ),
    )


def without_positions(trace: HeadsTrace, view: str) -> tuple[Message, ...]:
    """The ways of writing it take one input for queries, keys and values."""
    if view != "levels" or trace.added is None:
        return ()
    return (message("The three ways are run on X alone, without these vectors."),)


def with_batch_axis(parity: Parity, view: str) -> tuple[Message, ...]:
    """Where the sentences of a batch stand in what PyTorch's module takes and gives back."""
    if view not in ("module", "weights") or parity.theirs is None:
        return ()
    batch, output, weights = (str(list(shape)) for shape in shapes_of_batch(parity))
    return (
        message(
            "Called on a batch of this one sentence, {batch}, nn.MultiheadAttention gives an output {output} and "
            "weights {weights}. Unless it is told batch_first=True, the sentences are the second axis of input "
            "and output; of the weights they are always the first.",
            batch=batch,
            output=output,
            weights=weights,
        ),
    )


def derive_ours(parity: Parity) -> ManyHeadsDerivation:
    """How the numbers of our heads come about."""
    divisor = f"√{parity.trace.heads.q.shape[-1]}"
    return ManyHeadsDerivation(
        names(parity.tokens), parity.trace.heads, divisor, parity.ours, parity.x, parity.trace.output, parity.added
    )


def figures_of(
    parity: Parity, derivation: ManyHeadsDerivation, choices: Choices, trace: HeadsTrace
) -> Iterator[Figure]:
    """What one view shows."""
    if choices.view == "cases":
        yield from case_figures(choices.cases)
        return
    if choices.view == "levels":
        yield from level_listings(three_levels(parity))
        return
    if choices.view == "weights":
        band, notice = averaged_band(parity, derivation), notice_averaged(parity)
    elif choices.view == "meanings":
        two = one_mask_for_both(parity)
        band, notice = meanings_band(two, derivation), notice_meanings(parity, two)
    else:
        yield parity_rows(parity)
        band, notice = outputs_band(parity, choices.view, derivation), [notice_parity(parity, choices.view)]
    band = tuple(band)
    yield Matrices(
        key="parity_figure",
        name=message("Ours beside PyTorch's"),
        bands=(band,),
        notice=tuple(notice),
        first="theirs" if choices.view in THEIRS else band[0].key,
        height=BELOW_CONTROLS,
        weights=whose_heads(trace),
    )
    if parity.theirs is not None:
        yield parameter_table(parity)


# Outputs. The `view` is "module" or "fused".


def parity_rows(parity: Parity) -> Facts:
    """The largest differences, in large type."""
    facts = [(message("F.scaled_dot_product_attention differs by at most"), Magnitude(parity.fused_difference))]
    if parity.theirs is not None:
        facts.insert(0, (message("nn.MultiheadAttention differs by at most"), Magnitude(parity.module_difference)))
    return Facts(key="differences", name=message("How far apart ours and PyTorch's are"), facts=tuple(facts))


def outputs_band(parity: Parity, view: str, derivation: ManyHeadsDerivation) -> Iterator[Matrix]:
    """Ours, theirs and the difference, feature by feature; of very wide outputs some features of each head."""
    if view == "fused":
        tensor, theirs, most = "concatenated", merge_heads(parity.fused), parity.fused_difference
    else:
        tensor, theirs, most = "output", parity.module, parity.module_difference
    shown = shown_features(derivation.features(tensor), derivation.n_heads)
    ours, theirs = derivation.tensors[tensor][:, shown], theirs[:, shown]
    gaps = theirs - ours

    def ours_and_difference(i: int, j: int) -> Step:
        one, other = float(ours[i, j]), float(theirs[i, j])
        says = message("{function}: ours + the difference", function=THEIRS[view])
        return Step(says, term(one) + (other - one), other)

    def difference(i: int, j: int) -> Step:
        arithmetic = term(float(theirs[i, j])) - float(ours[i, j])
        return Step(message("{function} − ours", function=THEIRS[view]), arithmetic, float(gaps[i, j]))

    first = derivation.matrix(tensor, message("ours"), ours, shown, key="ours", colour="v")
    look = {"rows": first.rows, "columns": first.columns, "before": first.derive}
    yield first
    yield Matrix(
        key="theirs",
        title=message("{function}", function=THEIRS[view]),
        values=theirs,
        colour="v",
        step=ours_and_difference,
        **look,
    )
    yield Matrix(
        key="gap",
        title=message("difference"),
        values=gaps,
        scale="difference",
        step=difference,
        remark=message("at most {most}", most=Magnitude(most)),
        **look,
    )


def notice_parity(parity: Parity, view: str) -> Message:
    """How close the two are, beside the size of the numbers themselves."""
    if view == "fused":
        outputs = message("The outputs of our heads and of F.scaled_dot_product_attention")
        difference, numbers = parity.fused_difference, parity.trace.heads.output
    else:
        outputs = message("Our output and that of nn.MultiheadAttention")
        difference, numbers = parity.module_difference, parity.trace.output
    if difference == 0:
        return message("{outputs} are the same to the last digit.", outputs=outputs)
    size = float(numbers.abs().max())
    digits = min(SINGLE_PRECISION, max(0, math.floor(-math.log10(difference / size))))
    return message(
        "{outputs} differ by at most {difference}, in numbers up to {size}: about {digits} of the 7 or so digits of "
        "single precision agree.",
        outputs=outputs,
        difference=Magnitude(difference),
        size=Magnitude(size),
        digits=digits,
    )


# Parameters.


def parameter_table(parity: Parity) -> Table:
    """Where each of our parameters stands in PyTorch's module, which stores a map transposed, as `nn.Linear` does."""
    d_model = len(parity.ours.W_o)
    rows = []
    for name, weight in named_weights(parity.ours):
        kind, layer = name.split("_")
        part = "qkvo".index(layer)
        rows_of = {"parameter": "in_proj_bias", "first": part * d_model + 1, "last": (part + 1) * d_model}
        where = "out_proj.bias" if layer == "o" else message("{parameter}, rows {first} to {last}", **rows_of)
        if kind == "W":
            rows_of["parameter"] = "in_proj_weight"
            where = message("{parameter}, rows {first} to {last}, transposed", **rows_of)
            where = message("{parameter}, transposed", parameter="out_proj.weight") if layer == "o" else where
        rows.append((name, where, " × ".join(map(str, weight.shape)), weight.numel()))
    total = sum(parameter.numel() for parameter in parity.theirs.parameters())
    return Table(
        key="copied",
        name=message("The same weights, under PyTorch's names"),
        folded=True,
        width=620,
        columns=(message("ours"), message("in nn.MultiheadAttention"), message("shape"), message("numbers")),
        cells=(*rows, (message("together"), "", "", total)),
    )
