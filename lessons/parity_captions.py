"""Sentences of the lesson on PyTorch, each computed from the numbers it speaks of."""

import math
import statistics

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.pytorch_parity import Parity, RandomCase, TwoMeanings
from lessons.captions import magnitude, name, number, plural
from lessons.parity import Level


def difference_caption(parity: Parity, way: str) -> str:
    """How close the two are, beside the size of the numbers themselves. `way` is "module" or "fused"."""
    if way == "module":
        difference, size = parity.module_difference, float(parity.trace.output.abs().max())
        what = "Our output and that of nn.MultiheadAttention"
    else:
        difference, size = parity.fused_difference, float(parity.trace.heads.output.abs().max())
        what = "What our heads take away and what F.scaled_dot_product_attention gives"
    if difference == 0:
        return f"{what} are the same to the last digit; the largest number among them is {magnitude(size)}."
    return (
        f"{what} differ by at most {magnitude(difference)}, where the largest number is {magnitude(size)}: "
        f"{agreeing_digits(difference, size)}."
    )


def agreeing_digits(difference: float, size: float) -> str:
    """How many of seven digits agree: single precision holds about seven."""
    digits = max(0, math.floor(-math.log10(difference / size))) if size > 0 else 0
    return f"about {digits} {plural('digit', digits)} agree of the 7 or so that these numbers hold"


def averaged_caption(parity: Parity) -> str:
    """What the average hides: the weight on which heads differ most."""
    n_heads, tokens = len(parity.per_head), parity.tokens
    apart = parity.weights_difference
    how = f"differ from those of nn.MultiheadAttention by at most {magnitude(apart)}"
    checked = f"Our weights {how if apart else 'are those of nn.MultiheadAttention to the last digit'}."
    if n_heads == 1:
        return f"{checked} With one head the average is that head; choose more heads to see what it hides."
    gap = parity.per_head.max(dim=0).values - parity.per_head.min(dim=0).values
    i, j = divmod(int(gap.argmax()), len(tokens))
    values = ", ".join(number(float(weight)) for weight in parity.per_head[:, i, j])
    return (
        f"{name(tokens, i)} gives {name(tokens, j)} the weights {values} in its {n_heads} heads; unless told otherwise "
        f"nn.MultiheadAttention reports their average, {number(float(parity.averaged[i, j]))}. {checked}"
    )


def meanings_caption(two: TwoMeanings, head: int, tokens: tuple[str, ...]) -> str:
    """One cell where the mask is True, in both functions; and who is left with nothing to look at."""
    blocked, kept = two.blocked[head], two.kept[head]
    blind = two.mask.all(dim=-1).nonzero().flatten().tolist()
    i, j = telling_cell(two.mask, kept)
    sentence = (
        f"The mask is True for {name(tokens, i)} → {name(tokens, j)}: there nn.MultiheadAttention gives the weight "
        f"{weight_text(float(blocked[i, j]))}, scaled_dot_product_attention {weight_text(float(kept[i, j]))}. "
        f"The same row of the mask lets {name(tokens, i)} look at {int((~two.mask[i]).sum())} of {len(tokens)} "
        f"{plural('token', len(tokens))} in the first and at {int(two.mask[i].sum())} in the second."
    )
    return f"{sentence} {blind_rows_caption(two, blind, tokens)}".rstrip()


def telling_cell(mask: Bool[Tensor, "queries keys"], kept: Float[Tensor, "queries keys"]) -> tuple[int, int]:
    """Where the mask is True and both functions have a choice: two keys left to look at in either meaning.

    Where no query has that, at least the one that blocks leaves something; else any cell. Of these the one that
    gets the largest weight where it is kept.
    """
    true, false = mask.sum(dim=-1), (~mask).sum(dim=-1)
    for telling in ((true > 1) & (false > 1), (true > 0) & (false > 0), true > 0):
        if telling.any():
            break
    shown = torch.where(mask & telling[:, None], kept, -1.0)
    return divmod(int(shown.argmax()), len(mask))


def weight_text(weight: float) -> str:
    """A weight, or that there is none."""
    return "“not a number”" if math.isnan(weight) else number(weight)


def blind_rows_caption(two: TwoMeanings, blind: list[int], tokens: tuple[str, ...]) -> str:
    """What the module gives a query that is blocked everywhere, with weights and without."""
    if not blind:
        return ""
    lost = two.blocked[:, blind].isnan().all()
    silent = not two.without_weights[blind].isnan().any()
    who = f"{name(tokens, blind[0])} is" if len(blind) == 1 else f"{len(blind)} tokens are"
    first = "its weights are not numbers (0 ÷ 0)" if lost else "its weights are numbers all the same"
    then = "numbers come out as if nothing were wrong" if silent else "its output is not a number either"
    return f"{who} blocked everywhere: {first}; with need_weights=False {then}."


def cases_caption(cases: tuple[RandomCase, ...]) -> str:
    """What the random cases covered, and how far apart the two ever were."""
    differences = [case.difference for case in cases]
    exact = sum(difference == 0 for difference in differences)
    masks = sorted({case.mask for case in cases})
    sizes = "; ".join(
        f"{min(values)} to {max(values)} {what}"
        for what, values in (
            ("tokens", [case.tokens for case in cases]),
            ("heads", [case.heads for case in cases]),
            ("features in a head", [case.d_head for case in cases]),
        )
    )
    return (
        f"{len(cases)} random cases ({sizes}; masks: {', '.join(masks)}; "
        f"{sum(case.bias for case in cases)} with bias): the largest difference of any number is "
        f"{magnitude(max(differences))}, the middle one "
        f"{magnitude(statistics.median(differences))}; {exact} {plural('case', exact)} agree to the last digit."
    )


def levels_caption(levels: tuple[Level, ...]) -> str:
    """The times as measured, with their range; no order is claimed that they do not show."""
    runs = len(levels[0].milliseconds)
    return (
        f"Median of {runs} runs on this machine, at this moment: "
        + "; ".join(
            f"{level.title.lower().replace('pytorch', 'PyTorch')} {number(level.median, 3)} ms "
            f"({number(min(level.milliseconds), 3)} to {number(max(level.milliseconds), 3)})"
            for level in levels
        )
        + "."
    )


def level_note(level: Level) -> str:
    """Lines, time and error of one way."""
    return (
        f"{level.lines} lines of code in the {plural('function', len(level.functions))} shown, "
        f"{number(level.median, 3)} ms. It differs from the same computation with "
        f"twice as many digits by at most {magnitude(level.difference)}."
    )
