"""Is this what PyTorch computes?"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from jaxtyping import Bool
from torch import Tensor

from attention_core.measured.parity import (
    Parity,
    compare_with_pytorch,
    copy_to_pytorch,
    fits_pytorch,
    heads_beside_function,
    heads_by_function,
    heads_with_keys,
    one_mask_for_both,
    shapes_of_batch,
    takes_groups,
)
from attention_core.model.weights import named_weights
from attention_core.one_head.heads import merge_heads
from lessons.code.pytorch.compute import Beside, beside_pytorch, derive_beside_pytorch
from lessons.code.pytorch.implementations import level_listings, three_levels
from lessons.code.pytorch.masks_view import meanings_band, notice_meanings
from lessons.code.pytorch.questions import QUESTIONS
from lessons.code.pytorch.random_cases import CASES, case_figures
from lessons.code.pytorch.weights_view import averaged_band, notice_averaged
from lessons.example.example import ExampleTrace
from lessons.model.heads.compute import too_wide
from lessons.model.heads.example import MOST_FEATURES, HeadsChosen, HeadsTrace, run_heads, shown_features, whose_heads
from lessons.model.heads.notices import notice_model
from lessons.model.heads.tensors_view import whole
from lessons.screen import (
    Code,
    Facts,
    Figure,
    Limit,
    ListOf,
    Magnitude,
    Matrices,
    Matrix,
    Message,
    Number,
    OneOf,
    Screen,
    Table,
    message,
    names,
)
from lessons.shared.differences import compare, gap_matrix
from lessons.shared.matrices import traced_matrix
from lessons.shared.questions import question_picker
from lessons.trace.computation import Computation

TOPIC = message("Attention in PyTorch")
POINT = message(
    "The same weights go into PyTorch's own functions, and every number that comes out is compared with ours."
)

THEIRS = {"module": "nn.MultiheadAttention", "fused": "scaled_dot_product_attention"}

VIEW = OneOf(
    "parity",
    message("Compare"),
    THEIRS
    | {
        "weights": message("averaged weights"),
        "meanings": message("one mask, two meanings"),
        "levels": message("three levels"),
        "cases": message("{count} random cases", count=CASES),
    },
)
DRAWN_FROM = Number("cases", message("Seed of the cases"), Limit(0, 9999), 0, typed=True, width=150)


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page: heads, a mask, and what to compare. Random cases come from a number.

    A screen is found again by its choices: by this very mask, for tensors are told apart as objects.
    """

    example: HeadsChosen  # under this name in the plans that teachers have kept
    may_attend: Bool[Tensor, "tokens tokens"]
    view: VIEW.type = VIEW.begin
    cases: DRAWN_FROM.type = DRAWN_FROM.begin


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """Ours beside PyTorch's."""
    heads = run_heads(trace.example, choices.example)
    beside = beside_pytorch(heads, choices.may_attend)  # pyright: ignore[reportArgumentType]  # these have a module
    ours, parity = beside.ours, beside.parity
    return Screen(
        figures=tuple(figures_of(beside, choices)),
        code=code_of_view(beside, choices.view),
        ask=question_picker("pytorch", QUESTIONS, ours.seed, parity, names(ours.tokens)),
        derive=partial(derive_beside_pytorch, beside),
        remarks=(
            *notice_model(ours),
            *why_not_the_module(ours, parity),
            *keys_once(parity),
            *without_positions(ours, choices.view),
            *with_batch_axis(parity, choices.view),
        ),
    )


def code_of_view(beside: Beside, view: str) -> Code:
    """Ours beside PyTorch's functions; of what the module cannot hold, or no program, the heads alone."""
    ours, parity = beside.ours, beside.parity
    every = {"x": parity.x, "may_attend": parity.may_attend, "ours": parity.ours, "positions": parity.positions}
    if parity.theirs is None or too_wide(parity.ours) or view == "fused":
        shown = shown_features(parity.ours.W_o.shape[-1], ours.n_heads)
        vectors = dict(zip("qkv", parity.handed_over, strict=True))
        maps = {"W_o": parity.ours.W_o[:, shown], "b_o": None if parity.ours.b_o is None else parity.ours.b_o[shown]}
        inputs, function = {**vectors, "may_attend": parity.may_attend, **maps}, heads_beside_function
        shows, about = ("ours", "theirs", "output", "averaged"), heads_by_function
    elif view == "meanings":
        inputs = {"mask" if name == "may_attend" else name: value for name, value in every.items()}
        function, shows, about = one_mask_for_both, ("blocked", "kept", "without_weights"), copy_to_pytorch
    else:
        inputs, function, about = every, compare_with_pytorch, copy_to_pytorch
        shows = "trace.output", "module", "fused", "averaged"
    given = {name: value for name, value in inputs.items() if value is not None}
    return Computation(function, given).code(shows, about, attention=ours.heads.select(0), scale=ours.scale)


def why_not_the_module(trace: HeadsTrace, parity: Parity) -> tuple[Message, ...]:
    """Why PyTorch's own module cannot hold these heads, where it cannot."""
    if fits_pytorch(trace.module):
        return ()
    turns = message("does not turn queries and keys by their positions")
    shares = message("gives queries, keys and values of a head the same number of features, d_model ÷ heads")
    own_keys = message("gives each head its own keys and values")
    grouped = heads_with_keys(parity.ours) < trace.n_heads
    reasons = ((trace.module.rotary, turns), (not trace.usual_sizes, shares), (grouped, own_keys))
    return (
        message(
            "nn.MultiheadAttention cannot hold these heads, because it {reasons}; "
            "F.scaled_dot_product_attention computes them.",
            reasons=ListOf(tuple(why for holds, why in reasons if holds)),
        ),
    )


def keys_once(parity: Parity) -> tuple[Message, ...]:
    """Where heads share keys and values, how PyTorch's function is given them."""
    sets, heads = heads_with_keys(parity.ours), parity.ours.n_heads
    if sets == heads or not takes_groups():
        return ()
    q, k, _ = parity.handed_over
    return (
        message(
            "Every {each} of the {all} heads share keys and values: with enable_gqa=True the function takes "
            "queries of shape {q}, but keys and values of shape {k}.",
            each=heads // sets,
            all=heads,
            q=str(list(q.shape)),
            k=str(list(k.shape)),
        ),
    )


def without_positions(trace: HeadsTrace, view: str) -> tuple[Message, ...]:
    """The ways of writing it take one input for queries, keys and values."""
    if view != "levels" or trace.added is None:
        return ()
    return (message("The three ways are run only on X, without these vectors."),)


def with_batch_axis(parity: Parity, view: str) -> tuple[Message, ...]:
    """Where the sentences of a batch stand in what PyTorch's module takes and gives back."""
    if view not in ("module", "weights") or parity.theirs is None:
        return ()
    batch, output, weights = (str(list(shape)) for shape in shapes_of_batch(parity))
    return (
        message(
            "On a batch of this one sentence, {batch}, nn.MultiheadAttention gives an output of shape "
            "{output} and weights of shape {weights}. Without batch_first=True, sentences are the second "
            "axis of input and output.",
            batch=batch,
            output=output,
            weights=weights,
        ),
    )


def figures_of(beside: Beside, choices: Choices) -> Iterator[Figure]:
    """What one view shows."""
    parity, who = beside.parity, names(beside.ours.tokens)
    if choices.view == "cases":
        yield from case_figures(choices.cases)
        return
    if choices.view == "levels":
        yield from level_listings(three_levels(parity))
        return
    if choices.view == "weights":
        band, notice = averaged_band(beside), notice_averaged(parity, who)
    elif choices.view == "meanings":
        two = one_mask_for_both(parity.x, parity.may_attend, parity.ours, parity.positions)
        band, notice = meanings_band(beside, two), notice_meanings(two, who)
    else:
        yield parity_rows(parity)
        band, notice = outputs_band(beside, choices.view), [notice_parity(parity, choices.view)]
    band = tuple(band)
    yield Matrices(
        key="parity_figure",
        name=message("Our numbers beside PyTorch's"),
        bands=(band,),
        notice=tuple(notice),
        first="theirs" if choices.view in THEIRS else band[0].key,
        weights=whose_heads(beside.ours),
    )
    if parity.theirs is not None:
        yield parameter_table(parity)


# Outputs. The `view` is "module" or "fused".


def parity_rows(parity: Parity) -> Facts:
    """The largest differences, in large type."""
    name = message("F.scaled_dot_product_attention differs by at most")
    if takes_groups() and heads_with_keys(parity.ours) < parity.ours.n_heads:
        name = message("With enable_gqa=True it differs by at most")
    facts = [(name, Magnitude(parity.fused_difference))]
    if parity.theirs is not None:
        facts.insert(0, (message("nn.MultiheadAttention differs by at most"), Magnitude(parity.module_difference)))
    return Facts(key="differences", name=message("How far our numbers are from PyTorch's"), facts=tuple(facts))


def outputs_band(beside: Beside, view: str) -> Iterator[Matrix]:
    """Ours, theirs and the difference, feature by feature; of very wide outputs some features of each head."""
    parity, function = beside.parity, THEIRS[view]
    if view == "fused" or parity.module is None:
        tensor, theirs = "concatenated", merge_heads(parity.fused)
    else:
        tensor, theirs = "output", parity.module
    ours = whole(beside.ours, tensor, MOST_FEATURES, key="ours", title=message("ours"), colour="v", remark=None)
    shown = shown_features(theirs.shape[-1], beside.ours.n_heads)
    comparison = compare(
        theirs[:, shown],
        ours.values,
        one=message("{function}", function=function),
        gap=message("{function} − ours", function=function),
    )
    look = {"key": "theirs", "rows": ours.rows, "columns": ours.columns, "colour": "v"}
    yield ours
    yield traced_matrix(comparison, "one", message("{function}", function=function), (), **look)
    yield gap_matrix(comparison, ours)


def notice_parity(parity: Parity, view: str) -> Message:
    """How close the two are, beside the size of the numbers themselves."""
    if view == "fused":
        outputs = message("The outputs of our heads and of F.scaled_dot_product_attention")
        difference, numbers = parity.fused_difference, parity.trace.heads.output
    else:
        outputs = message("Our output and that of nn.MultiheadAttention")
        difference, numbers = parity.module_difference, parity.trace.output
    return message(
        "{outputs} differ by at most {difference}, in numbers up to {size}.",
        outputs=outputs,
        difference=Magnitude(difference),
        size=Magnitude(float(numbers.abs().max())),
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
    total = 0 if parity.theirs is None else sum(parameter.numel() for parameter in parity.theirs.parameters())
    return Table(
        key="copied",
        name=message("The same weights, under PyTorch's names"),
        folded=True,
        width=620,
        columns=(message("ours"), message("in nn.MultiheadAttention"), message("shape"), message("numbers")),
        cells=(*rows, (message("total"), "", "", total)),
    )
