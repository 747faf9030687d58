"""How do scores become weights?"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace
from lessons.example.example import ExampleTrace, whose_weights
from lessons.kit.formulas import stage_formula
from lessons.kit.head_derivation import HeadDerivation, derive_head
from lessons.kit.matrices import KEYS, single_axis, token_axis
from lessons.kit.questions import question_picker
from lessons.screen.arithmetic import Arithmetic, power, sum_of, term
from lessons.screen.format import argmax_ties, percent
from lessons.screen.message import Fixed, ListOf, Magnitude, Message, Percent, Token, message, plural
from lessons.screen.program import Ran, ran_attention
from lessons.screen.screen import Cells, Code, Matrices, Matrix, Screen, Step
from lessons.screen.softmax_parts import Portion, Sharing
from lessons.softmax.questions import QUESTIONS

HEADING = message("How do scores become weights?")
OPENING = message(
    "Subtract the largest score, take the exponential, divide by the sum. Only differences between scores matter."
)

ORDER = ("scores", "shifted", "powers", "weights")
SHIFT, FACTOR = 5.0, 3.0  # what is added to every score, and what every score is multiplied by
NO_CHANGE = 1e-6


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page: the query, counted from 0, and what its scores are divided by."""

    query: int
    temperature: float = 1.0


@dataclass(frozen=True, eq=False)
class RowSoftmax:
    """The softmax of one query's visible scores, step by step."""

    keys: tuple[int, ...]  # the positions of the visible keys
    scores: Float[Tensor, " visible"]
    shifted: Float[Tensor, " visible"]
    powers: Float[Tensor, " visible"]
    weights: Float[Tensor, " visible"]

    @property
    def entropy(self) -> float:
        """In nats: 0 when one key has all the weight, ln n when n keys share evenly."""
        return float(torch.special.entr(self.weights).sum())

    @property
    def effective_keys(self) -> float:
        """How many keys that share evenly would have the same entropy."""
        return float(torch.tensor(self.entropy).exp())


def softmax_row(
    attention: AttentionTrace, query: int, temperature: float = 1.0, *, times: float = 1.0, plus: float = 0.0
) -> RowSoftmax:
    """The steps from one query's scores to its weights; the scores are divided, then multiplied and shifted."""
    visible = attention.visible[query]
    scores = attention.masked[query][visible] / temperature * times + plus
    shifted = scores - scores.max()
    powers = shifted.exp()
    keys = tuple(visible.nonzero().flatten().tolist())
    return RowSoftmax(keys, scores, shifted, powers, powers / powers.sum())


def ran_row(attention: AttentionTrace, scale: float, choices: Choices, row: RowSoftmax) -> Ran:
    """The row of one query, from queries and keys to its weights."""
    attended = ran_attention(attention, scale)
    return Ran(
        {**attended.values, "query": choices.query, "temperature": choices.temperature},
        (*attended.lines, "row = softmax_row(trace, query, temperature)"),
        {f"row.{name}": getattr(row, name) for name in ORDER},
        attended.uses,
    )


def screen(example: ExampleTrace, head: int, choices: Choices) -> Screen:
    """One query's row from its scores to its weights, and what becomes of it when all scores change alike."""
    attention, heat = example.heads.select(head), choices.temperature
    row = softmax_row(attention, choices.query, heat)
    added = softmax_row(attention, choices.query, heat, plus=SHIFT)
    tripled = softmax_row(attention, choices.query, heat, times=FACTOR)
    way = RowDerivation(derive_head(example, head), choices.query, row, heat)
    figure = Matrices(
        key="softmax_figure",
        name=message("From scores to weights"),
        first="weights",
        bands=lines(way, added, tripled),
        notice=notice_changes(example, row, added, tripled),
        weights=whose_weights(example),
        numbered=True,
        height=450,
    )
    return Screen(
        formula=stage_formula("weights", example),
        figures=(sharing(example, row, choices), figure),
        code=Code((softmax_row,), attention, example.scale, partial(ran_row, attention, example.scale, choices, row)),
        ask=question_picker("softmax", QUESTIONS, example.example.seed, example, head, choices.query, heat),
        derive=partial(derive_softmax, example, head, heat),
    )


def derive_softmax(example: ExampleTrace, head: int, heat: float, tensor: str, query: int, key: int) -> Iterator[Step]:
    """How the weight of a key that the query may look at comes about at this temperature, line by line."""
    row = softmax_row(example.heads.select(head), query, heat)
    way, place = RowDerivation(derive_head(example, head), query, row, heat), row.keys.index(key)
    yield from way.before(tensor, place)
    yield way.step(tensor, place)


@dataclass(frozen=True, eq=False)
class RowDerivation:
    """Follows one query's row from its scores, divided by a temperature, to its weights."""

    head: HeadDerivation
    query: int
    row: RowSoftmax
    temperature: float

    def step(self, key: str, j: int) -> Step:
        """The arithmetic of one number of the row at one of the steps of `ORDER`."""
        row, name = self.row, self._name(j)
        if key == "scores":
            return Step(message("score of {key} ÷ temperature", key=name), self._quotient(j), float(row.scores[j]))
        if key == "powers":
            return Step(message("{key}: e to that", key=name), power(float(row.shifted[j])), float(row.powers[j]))
        return self._minus_largest(row, j) if key == "shifted" else self.share(row, j)

    def before(self, key: str, j: int) -> Iterator[Step]:
        """All that leads to such a number, from X and the weights on."""
        if key == "scores":
            at = self.query, self.row.keys[j]
            yield from self.head.before("masked", *at)
            yield self.head.step("masked", *at)
            return
        earlier = ORDER[ORDER.index(key) - 1]
        yield from self.before(earlier, j)
        yield self.step(earlier, j)
        if key == "shifted":
            most = int(self.row.scores.argmax())
            says = message("no score is larger than that of {key}", key=self._name(most))
            yield Step(says, self._quotient(most), float(self.row.scores[most]))
        if key == "weights":
            yield self._sum(self.row)

    def before_changed(
        self, meaning: Message, change: Callable[[Arithmetic], Arithmetic], other: RowSoftmax, j: int
    ) -> Iterator[Step]:
        """What leads to a weight when all scores are changed alike: by `change`."""
        yield from self.before("scores", j)
        yield self.step("scores", j)
        arithmetic = change(term(float(self.row.scores[j])))
        yield Step(message("{key}: {change}", key=self._name(j), change=meaning), arithmetic, float(other.scores[j]))
        yield self._minus_largest(other, j)
        yield self._sum(other)

    def _name(self, j: int) -> Token:
        """The key of column j: hidden keys have no column."""
        return self.head.names[self.row.keys[j]]

    def _quotient(self, j: int) -> Arithmetic:
        masked = self.head.numbers["masked"][self.query][self.row.keys[j]]
        return term(masked) / self.temperature

    def _minus_largest(self, row: RowSoftmax, j: int) -> Step:
        arithmetic = term(float(row.scores[j])) - float(row.scores.max())
        return Step(message("{key}: minus the largest score", key=self._name(j)), arithmetic, float(row.shifted[j]))

    def _sum(self, row: RowSoftmax) -> Step:
        says = message("sum over all visible keys")
        return Step(says, sum_of(map(power, row.shifted.tolist())), float(row.powers.sum()))

    def share(self, row: RowSoftmax, j: int) -> Step:
        """The last step of every softmax: a part of the sum."""
        arithmetic = term(float(row.powers[j])) / float(row.powers.sum())
        return Step(message("weight of {key}", key=self._name(j)), arithmetic, float(row.weights[j]))


def lines(way: RowDerivation, added: RowSoftmax, tripled: RowSoftmax) -> tuple[tuple[Matrix], ...]:
    """The row at each step, one below the other; then its weights when all scores change alike."""
    tokens = [name.text for name in way.head.names]
    rows = single_axis(tokens[way.query], named=True)
    columns = token_axis(tuple(tokens[key] for key in way.row.keys), KEYS)
    weights = {"scale": "weight", "colour": "weight"}

    def line(key: str, title: Message, values: Tensor, *also: Cells, **look: object) -> tuple[Matrix]:
        above = ORDER[: ORDER.index(key)] if key in ORDER else ()
        follow = {"step": lambda i, j: way.step(key, j), "before": lambda i, j: way.before(key, j)}
        return (
            Matrix(
                key=key,
                title=title,
                values=values[None],
                rows=rows,
                columns=columns,
                **(follow | look),
                sources=lambda i, j: (*(Cells(before, i, j) for before in above), *also),
            ),
        )

    row, scores, shift, triple = way.row, Cells("scores", row=0), Fixed(SHIFT, 0), Fixed(FACTOR, 0)
    plus, times = message("plus {number}", number=shift), message("times {number}", number=triple)
    return (
        line("scores", message("score ÷ {temperature}", temperature=Fixed(way.temperature, 1)), row.scores),
        line("shifted", message("minus largest"), row.shifted, scores),
        line("powers", message("exp"), row.powers),
        line("weights", message("weight"), row.weights, Cells("powers", row=0), **weights),
        line(
            "added",
            message("if all + {number}", number=shift),
            added.weights,
            scores,
            **weights,
            step=lambda i, j: way.share(added, j),
            before=lambda i, j: way.before_changed(plus, lambda score: score + SHIFT, added, j),
        ),
        line(
            "multiplied",
            message("if all × {number}", number=triple),
            tripled.weights,
            scores,
            **weights,
            step=lambda i, j: way.share(tripled, j),
            before=lambda i, j: way.before_changed(times, lambda score: score * FACTOR, tripled, j),
        ),
    )


def sharing(example: ExampleTrace, row: RowSoftmax, choices: Choices) -> Sharing:
    """The same row as a picture: scores, e to their differences from the largest, and parts of one whole."""
    heat = Fixed(choices.temperature, 1)
    steps = zip(*(getattr(row, name).tolist() for name in ("scores", "powers", "weights")), strict=True)
    portions = tuple(
        Portion(
            example.names[key],
            score,
            power,
            weight,
            message(
                "{key}: score {score}, e to the difference {power}, weight {weight}",
                key=example.names[key],
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
        query=example.names[choices.query],
        portions=portions,
        number_domain=max(3.0, float(row.scores.abs().max())),
        notice=notice_largest(example, row, choices),
        lines=(
            (message("score"), message("÷ temperature {temperature}", temperature=heat)),
            (message("e to the difference"), message("from the largest score")),
            (message("weight"), message("part of the sum")),
        ),
        asks=message("one whole: which key gets how much?"),
    )


def notice_largest(example: ExampleTrace, row: RowSoftmax, choices: Choices) -> tuple[Message, ...]:
    """Who has the largest weight at this temperature, and how widely the query looks."""
    heat = Fixed(choices.temperature, 1)
    if len(row.keys) == 1:
        return (
            message(
                "{query} may look at one key only, so its weight is 1 at every temperature, whatever the score.",
                query=example.names[choices.query],
            ),
        )
    most = [j for (j,) in argmax_ties(row.weights, percent)]
    share = Percent(float(row.weights.max()))
    entropy = message(
        "The entropy is {entropy} nats, as if {effective} of {count} keys shared the weight evenly.",
        entropy=Fixed(row.entropy),
        effective=Fixed(row.effective_keys, 1),
        count=len(row.keys),
    )
    if len(most) == len(row.keys):
        return message("At temperature {temperature}, every weight is {share}.", temperature=heat, share=share), entropy
    keys = ListOf(tuple(example.names[row.keys[j]] for j in most))
    largest = plural(
        "At temperature {temperature}, the largest weight, {share}, goes to {keys}.",
        "At temperature {temperature}, the largest weight, {share}, goes to each of {keys}.",
        len(most),
        temperature=heat,
        share=share,
        keys=keys,
    )
    return largest, entropy


def notice_changes(
    example: ExampleTrace, row: RowSoftmax, added: RowSoftmax, tripled: RowSoftmax
) -> tuple[Message, ...]:
    """Adding a constant to all scores changes no weight; multiplying them does."""
    if len(row.keys) == 1:
        return ()
    shift, times = Fixed(SHIFT, 0), Fixed(FACTOR, 0)
    rounding = float((added.weights - row.weights).abs().max())
    plus = message("Add {shift} to every score and each weight stays: softmax sees only differences.", shift=shift)
    if rounding > 100 * NO_CHANGE:
        plus = message(
            "Add {shift} to every score and weights change by up to {change}, by rounding alone: these scores "
            "have too many digits.",
            shift=shift,
            change=Magnitude(rounding),
        )
    changes = (tripled.weights - row.weights).abs()
    j = int(changes.argmax())
    before, after = (Percent(float(one.weights[j])) for one in (row, tripled))
    if float(changes[j]) < NO_CHANGE:
        return plus, message("Multiply every score by {times} and here the weights stay, too.", times=times)
    if percent(before.value) == percent(after.value):
        return plus, message(
            "Multiply every score by {times} and no weight changes by more than {change}.",
            times=times,
            change=Magnitude(float(changes[j])),
        )
    return plus, message(
        "Multiply every score by {times} and the weight of {key} goes from {before} to {after}.",
        times=times,
        key=example.names[row.keys[j]],
        before=before,
        after=after,
    )
