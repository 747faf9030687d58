"""How do scores become weights?"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from jaxtyping import Float

from attention_core.base.arrays import Array, namespace, numbers_of
from attention_core.one_head.attention import AttentionTrace
from attention_core.one_head.head import one_head
from lessons.example.example import ExampleTrace, whose_weights
from lessons.one_head.softmax.questions import QUESTIONS
from lessons.screen import (
    Fixed,
    ListOf,
    Magnitude,
    Matrices,
    Matrix,
    Message,
    OneOf,
    Percent,
    Portion,
    Screen,
    Sharing,
    Step,
    argmax_ties,
    message,
    numbers,
    percent,
    plural,
)
from lessons.shared.formulas import stage_formula
from lessons.shared.matrices import KEYS, single_axis, token_axis, traced_matrix
from lessons.shared.questions import question_picker
from lessons.shared.shared_choices import QUERY
from lessons.trace.computation import Computation
from lessons.trace.head import compute_head, head_names

OWN_EXAMPLE = "language"
TOPIC = message("Softmax")
POINT = message(
    "Softmax turns scores into weights, shares of one whole: raise e to each score, then divide by the sum."
)

NEARLY_ONE_KEY = 1.05  # fewer keys that share evenly would be written as one
ORDER = ("scores", "shifted", "powers", "weights")
SEEN = 0.005  # a change of a weight that is less is not told
SHIFT, FACTOR = 5.0, 3.0  # what is added to every score, and what every score is multiplied by
NO_CHANGE = 1e-6


TENTHS = numbers(tenths / 10 for tenths in range(1, 51))
TEMPERATURE = OneOf("temperature", message("Temperature"), TENTHS, 1.0, look="scale")


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page: the query, counted from 0, and what its scores are divided by."""

    query: QUERY.type
    temperature: TEMPERATURE.type = TEMPERATURE.begin


@dataclass(frozen=True, eq=False)
class RowSoftmax:
    """The softmax of one query's visible scores, step by step."""

    keys: tuple[int, ...]  # the positions of the visible keys
    scores: Float[Array, " visible"]
    shifted: Float[Array, " visible"]
    powers: Float[Array, " visible"]
    weights: Float[Array, " visible"]

    @property
    def entropy(self) -> float:
        """In nats: 0 when one key has all the weight, ln n when n keys share evenly."""
        return float(torch.special.entr(self.weights).sum())

    @property
    def effective_keys(self) -> float:
        """How many keys that share evenly would have the same entropy."""
        return float(torch.tensor(self.entropy).exp())


@dataclass(frozen=True, eq=False)
class ChangedRows:
    """A row of a head, and what becomes of it when all its scores change alike."""

    head: AttentionTrace
    row: RowSoftmax
    added: RowSoftmax
    multiplied: RowSoftmax


def softmax_row(
    attention: AttentionTrace, query: int, temperature: float = 1.0, *, times: float = 1.0, plus: float = 0.0
) -> RowSoftmax:
    """The steps from one query's scores to its weights; the scores are divided, then multiplied and shifted."""
    visible = numbers_of(attention.visible)[query]
    xp, masked = namespace(attention.masked), attention.masked[query][visible]
    scores = masked / temperature * times + plus
    shifted = scores - xp.amax(scores, axis=0)
    powers = xp.exp(shifted)
    keys = tuple(key for key, seen in enumerate(visible.tolist()) if seen)
    return RowSoftmax(keys, scores, shifted, powers, powers / powers.sum())


def change_all_scores(x, W_q, W_k, W_v, may_attend, scale, query, temperature, shift, factor, **others) -> ChangedRows:
    """The weights of one query; then with the same number added to all its scores, and with all multiplied by one."""
    head = one_head(x, W_q, W_k, W_v, may_attend, scale, **others)
    row = softmax_row(head, query, temperature)
    added = softmax_row(head, query, temperature, plus=shift)
    multiplied = softmax_row(head, query, temperature, times=factor)
    return ChangedRows(head, row, added, multiplied)


SENTENCES = {
    "row.scores": message("score of {key} ÷ temperature"),
    "added.scores": message("score of {key} ÷ temperature, plus the same for all"),
    "multiplied.scores": message("score of {key} ÷ temperature, times the same for all"),
    "shifted": message("{key}: minus the largest score"),
    "powers": message("{key}: e to the power of that"),
    "row.weights": message("weight of {key}: its part of the sum"),
    "added.weights": message("weight of {key}: its part of the sum"),
    "multiplied.weights": message("weight of {key}: its part of the sum"),
    "max of scores": message("the largest score"),
    "sum of powers": message("sum over all visible keys"),
}


def compute_rows(trace: ExampleTrace, head: int, query: int, temperature: float) -> Computation:
    """The row of one query at a temperature, and what changes it."""
    visible = trace.heads.visible[head][query].tolist()
    names = head_names(trace, **SENTENCES)
    keys = tuple(name for name, seen in zip(trace.names, visible, strict=True) if seen)
    names = replace(names, things={**names.things, "visible": keys})
    others = {"query": query, "temperature": temperature, "shift": SHIFT, "factor": FACTOR}
    return compute_head(change_all_scores, trace, head, names, **others)


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """One query's row from its scores to its weights, and what becomes of it when all scores change alike."""
    heat = choices.temperature
    computation = compute_rows(trace, head, choices.query, heat)
    found = computation.result
    figure = Matrices(
        key="softmax_figure",
        name=message("From scores to weights"),
        first="weights",
        bands=tuple((line,) for line in lines(trace, computation, choices)),
        notice=notice_changes(trace, found.row, found.added, found.multiplied),
        weights=whose_weights(trace),
    )
    shown = *(f"row.{name}" for name in ORDER), "added.weights", "multiplied.weights"
    return Screen(
        formula=stage_formula("weights", trace),
        figures=(sharing(trace, found.row, choices), figure),
        code=computation.code(shown, softmax_row, attention=found.head),
        ask=question_picker("softmax", QUESTIONS, trace.example.seed, trace, head, choices.query, heat),
        derive=partial(derive_softmax, trace, head, heat),
    )


def derive_softmax(trace: ExampleTrace, head: int, heat: float, tensor: str, query: int, key: int) -> list[Step]:
    """How the weight of a key that the query may look at comes about at this temperature, line by line."""
    computation = compute_rows(trace, head, query, heat)
    return computation.follow(f"row.{tensor}").derive(computation.result.row.keys.index(key))


def lines(trace: ExampleTrace, computation: Computation, choices: Choices) -> Iterator[Matrix]:
    """The row at each step, one below the other; then its weights when all scores change alike."""
    tokens, found = trace.tokens, computation.result
    axes: dict[str, Any] = {
        "rows": single_axis(tokens[choices.query], named=True),
        "columns": token_axis(tuple(tokens[key] for key in found.row.keys), KEYS),
    }
    titles = {
        "row.scores": message("score ÷ {temperature}", temperature=Fixed(choices.temperature, 1)),
        "row.shifted": message("minus largest"),
        "row.powers": message("exp"),
        "row.weights": message("weight"),
        "added.weights": message("all scores + {number}", number=Fixed(SHIFT, 0)),
        "multiplied.weights": message("all scores × {number}", number=Fixed(FACTOR, 0)),
    }
    for path, title in titles.items():
        part, _, name = path.partition(".")
        key = name if part == "row" else part
        yield traced_matrix(computation, path, title, tokens, key=key, take=as_row, **axes)


def as_row(vector: Array) -> Array:
    """A vector as a matrix with one row."""
    return vector[None]


def sharing(trace: ExampleTrace, row: RowSoftmax, choices: Choices) -> Sharing:
    """A row as a picture: scores, e to their differences from the largest, and parts of one whole."""
    heat = Fixed(choices.temperature, 1)
    steps = zip(*(getattr(row, name).tolist() for name in ("scores", "powers", "weights")), strict=True)
    portions = tuple(
        Portion(
            trace.names[key],
            score,
            power,
            weight,
            message(
                "{key}: score {score}, e to the difference {power}, weight {weight}",
                key=trace.names[key],
                score=Fixed(score),
                power=Magnitude(power),
                weight=Percent(weight),
            ),
        )
        for key, (score, power, weight) in zip(row.keys, steps, strict=True)
    )
    return Sharing(
        key="softmax_sharing",
        name=message("Scores that become parts of one whole"),
        matrix="weights",
        query=trace.names[choices.query],
        portions=portions,
        number_domain=max(3.0, 2 * choices.temperature * float(row.scores.abs().max())),  # the same at each temperature
        notice=notice_largest(trace, row, choices),
        lines=(
            (message("score"), message("÷ temperature {temperature}", temperature=heat)),
            (message("e to the difference"), message("from the largest: same weights")),
            (message("weight"), message("part of the sum")),
        ),
        asks=message("one whole: which key gets how much?"),
    )


def notice_largest(trace: ExampleTrace, row: RowSoftmax, choices: Choices) -> tuple[Message, ...]:
    """Who has the largest weight at this temperature, and how widely the query looks."""
    heat = Fixed(choices.temperature, 1)
    if len(row.keys) == 1:
        return (
            message(
                "{query} may look at only one key, so its weight is 1.",
                query=trace.names[choices.query],
            ),
        )
    most = [j for (j,) in argmax_ties(row.weights, percent)]
    share = Percent(float(row.weights.max()))
    spread = message(
        "The weight is spread as widely as if {effective} of the {count} keys had equal shares.",
        effective=Fixed(row.effective_keys, 1),
        count=len(row.keys),
    )
    spreads = (spread,) if row.effective_keys > NEARLY_ONE_KEY else ()
    keys = ListOf(tuple(trace.names[row.keys[j]] for j in most))
    largest = plural(
        "At temperature {temperature}, the largest weight, {share}, goes to {keys}.",
        "At temperature {temperature}, the largest weight, {share}, goes to each of {keys}.",
        len(most),
        temperature=heat,
        share=share,
        keys=keys,
    )
    return largest, *spreads


def notice_changes(trace: ExampleTrace, row: RowSoftmax, added: RowSoftmax, tripled: RowSoftmax) -> tuple[Message, ...]:
    """Adding a constant to all scores changes no weight; multiplying them does."""
    if len(row.keys) == 1:
        return ()
    shift, times = Fixed(SHIFT, 0), Fixed(FACTOR, 0)
    plus = message("Add {shift} to every score and no weight changes: softmax sees only differences.", shift=shift)
    stays = float((added.weights - row.weights).abs().max()) <= 100 * NO_CHANGE  # but for rounding of large scores
    moved = (tripled.weights - row.weights).abs()
    j = int((moved >= moved.max() - 10 * NO_CHANGE).nonzero()[0])  # of two keys, one gets what the other loses
    before, after = (Percent(float(one.weights[j])) for one in (row, tripled))
    multiplied = message(
        "Multiply every score by {times} and the weight of {key} goes from {before} to {after}.",
        times=times,
        key=trace.names[row.keys[j]],
        before=before,
        after=after,
    )
    changes = abs(before.value - after.value) >= SEEN and percent(before.value) != percent(after.value)
    return *((plus,) if stays else ()), *((multiplied,) if changes else ())
