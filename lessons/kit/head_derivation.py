"""How the numbers of one attention head come about, line by line, from the entries of X and W on.

Each lesson computes with numbers of its own: without weights, with another mask, at another temperature. A
derivation follows the very tensors it was made of, so the arithmetic always belongs to the number on the screen.
"""

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace
from attention_core.embeddings import rotation_angles
from lessons.example.example import ExampleTrace, projection_of
from lessons.screen.arithmetic import Arithmetic, divided, power, sum_of, sum_of_products, term
from lessons.screen.message import Fixed, Message, Token, message
from lessons.screen.screen import Cells, Step

VECTORS = {"q": message("query"), "k": message("key"), "v": message("value")}
MOST_TERMS = 16  # of a sum that stands with its number; longer ones stand in a line of their own before it
TENSORS = ("q", "k", "v", "scores", "scaled", "masked", "weights", "output")


@dataclass(frozen=True, eq=False)
class HeadDerivation:
    """Follows the cells of one head.

    `numbers` holds its tensors as nested lists; where it has no W_q, W_k and W_v, the rows of X are queries, keys
    and values as they are. `divisor` is what the scores are divided by, as it is written; None where nothing is.
    `made` tells how a feature of a query, key or value comes about where that is not a row of X times a column of
    W; and unless `deep`, those features are not repeated for every score.
    """

    names: tuple[Token, ...]
    numbers: dict[str, list[list[float]]]
    visible: list[list[bool]]
    divisor: str | None
    head: int = 0
    made: Callable[[str, int, int], Step] | None = None
    deep: bool = True

    def step(self, tensor: str, i: int, j: int) -> Step:
        """The arithmetic of one cell."""
        if tensor in VECTORS:
            return self.named_feature(tensor, i, j) if self.long else self.feature(tensor, i, j)
        if tensor == "x":
            says = message("x of {token}, feature {feature}: an entry of X", token=self.names[i], feature=j + 1)
            return self._known(says, "x", i, j)
        if tensor == "k_transposed":
            says = message(
                "feature {feature} of the key of {token}: Kᵀ has a column for each key",
                feature=i + 1,
                token=self.names[j],
            )
            return self._known(says, "k", j, i)
        if tensor == "output":
            return self._mixture(i, j)
        if tensor in ("masked", "weights") and not self.visible[i][j]:
            return self._hidden(tensor, i, j)
        return {"scores": self._score, "scaled": self._scaled, "masked": self._stays, "weights": self._share}[tensor](
            i, j
        )

    def before(self, tensor: str, i: int, j: int) -> Iterator[Step]:
        """All lines that lead to a cell, without its own."""
        if tensor == "k_transposed":
            yield self.feature("k", j, i)
        elif tensor in VECTORS and self.long:
            yield self.feature(tensor, i, j)
        elif tensor in ("scores", "scaled", "masked", "weights"):
            yield from self._before_pair(tensor, i, j)
        elif tensor == "output":
            yield from self._before_output(i, j)

    def derive(self, tensor: str, i: int, j: int) -> Iterator[Step]:
        """All lines that lead to a cell, its own last."""
        yield from self.before(tensor, i, j)
        yield self.step(tensor, i, j)

    def sources(self, tensor: str, i: int, j: int) -> tuple[Cells, ...]:
        """The cells that a cell is made of."""
        if tensor in VECTORS:
            return Cells("x", row=i), Cells(f"W_{tensor}", column=j)
        return {
            "x": (),
            "k_transposed": (Cells("k", j, i),),
            "scores": (Cells("q", row=i), Cells("k_transposed", column=j), Cells("k", row=j)),
            "scaled": (Cells("scores", i, j),),
            "masked": (Cells("scaled", i, j),),
            "weights": (Cells("masked", row=i),),
            "output": (Cells("weights", row=i), Cells("v", column=j)),
        }[tensor]

    def feature(self, vector: str, token: int, feature: int) -> Step:
        """A feature of a query, key or value."""
        if self.made is not None:
            return self.made(vector, token, feature)
        who = {"vector": VECTORS[vector], "token": self.names[token], "feature": feature + 1}
        if f"W_{vector}" not in self.numbers:
            return self._known(
                message("{vector} of {token}, feature {feature}: the entry of X", **who), "x", token, feature
            )
        weights = [row[feature] for row in self.numbers[f"W_{vector}"]]
        column = self.head * len(self.numbers[vector][token]) + feature + 1
        says = message(
            "{vector} of {token}, feature {feature}: its row of X · column {column} of {matrix}",
            **who,
            column=column,
            matrix=f"W_{vector}",
        )
        arithmetic = sum_of_products(self.numbers["x"][token], weights)
        return Step(says, arithmetic, self.numbers[vector][token][feature])

    @property
    def long(self) -> bool:
        """True where X has so many features that their sums would fill the screen."""
        return "W_q" in self.numbers and len(self.numbers["x"][0]) > MOST_TERMS

    def named_feature(self, vector: str, token: int, feature: int) -> Step:
        """A feature whose sum stands in the line before."""
        says = message(
            "{vector} of {token}, feature {feature}",
            vector=VECTORS[vector],
            token=self.names[token],
            feature=feature + 1,
        )
        return self._known(says, vector, token, feature)

    def _features(self, vector: str, token: int) -> Iterator[Step]:
        width = len(self.numbers[vector][token]) if self.deep and not self.long else 0
        return (self.feature(vector, token, c) for c in range(width))

    def _before_pair(self, tensor: str, i: int, j: int) -> Iterator[Step]:
        if tensor in ("masked", "weights") and not self.visible[i][j]:
            if tensor == "weights":
                yield self._hidden("masked", i, j)
            return
        yield from self._features("q", i)
        yield from self._features("k", j)
        if tensor != "scores":
            yield self._score(i, j)
        if tensor in ("masked", "weights") and self.divisor is not None:
            yield self._scaled(i, j)
        if tensor == "weights":
            yield from (self._in_one_go(i, m) for m in self._seen_by(i) if m != j)
            scaled = self.numbers["masked"][i][j]
            says = message("e to the {score} of {key} for {query}", score=self._score_word, **self._pair(i, j))
            yield Step(says, power(scaled), exponential(scaled))
            yield self._sum(i)

    def _before_output(self, i: int, j: int) -> Iterator[Step]:
        seen = self._seen_by(i)
        yield from self._features("q", i)
        yield from (self._in_one_go(i, m) for m in seen)
        below = self._sum(i)
        yield below
        for m in seen:
            quotient = power(self.numbers["masked"][i][m]) / below.value
            says = message("weight that {query} puts on {key}", **self._pair(i, m))
            yield Step(says, quotient, self.numbers["weights"][i][m])
        yield from (self.step("v", m, j) for m in seen)

    def _score(self, i: int, j: int) -> Step:
        says = message("score of {key} for {query}: query · key", **self._pair(i, j))
        return Step(says, self._dot(i, j), self.numbers["scores"][i][j])

    def _scaled(self, i: int, j: int) -> Step:
        score = self.numbers["scores"][i][j]
        says = message("scaled score of {key} for {query}", **self._pair(i, j))
        return Step(says, divided(score, self.divisor), self.numbers["scaled"][i][j])

    def _stays(self, i: int, j: int) -> Step:
        return self._known(
            message("masked score of {key} for {query}: visible, so it stays", **self._pair(i, j)), "masked", i, j
        )

    def _hidden(self, tensor: str, i: int, j: int) -> Step:
        if tensor == "masked":
            says = message("score of {key} for {query}: masked, as {query} may not look at {key}", **self._pair(i, j))
            return self._known(says, "masked", i, j)
        says = message("weight of {key} for {query}: masked, so it is exactly 0", **self._pair(i, j))
        return Step(says, power(-math.inf), self.numbers["weights"][i][j])

    def _share(self, i: int, j: int) -> Step:
        above = exponential(self.numbers["masked"][i][j])
        says = message("weight that {query} puts on {key}: its part of the sum", **self._pair(i, j))
        return Step(says, term(above) / self._total(i), self.numbers["weights"][i][j])

    def _mixture(self, i: int, j: int) -> Step:
        n, seen = self.numbers, self._seen_by(i)
        mixture = sum_of_products([n["weights"][i][m] for m in seen], [n["v"][m][j] for m in seen])
        says = message("output of {token}, feature {feature}: weights · values", token=self.names[i], feature=j + 1)
        return Step(says, mixture, n["output"][i][j])

    def _in_one_go(self, i: int, m: int) -> Step:
        """A scaled score, from query and key at once."""
        says = message("{score} of {key} for {query}", score=self._score_word, **self._pair(i, m))
        return Step(says, divided(self._dot(i, m), self.divisor), self.numbers["scaled"][i][m])

    @property
    def _score_word(self) -> Message:
        return message("score") if self.divisor is None else message("scaled score")

    def _sum(self, i: int) -> Step:
        """What the exponentials of a row are divided by."""
        row = [self.numbers["masked"][i][m] for m in self._seen_by(i)]
        says = message("sum over all keys that {query} may look at", query=self.names[i])
        return Step(says, sum_of(map(power, row)), self._total(i))

    def _total(self, i: int) -> float:
        return self._totals[i]

    @cached_property
    def _totals(self) -> list[float]:
        rows = zip(self.numbers["masked"], self.visible, strict=True)
        return [sum(exponential(s) for s, seen in zip(*row, strict=True) if seen) for row in rows]

    def _dot(self, i: int, m: int) -> Arithmetic:
        return sum_of_products(self.numbers["q"][i], self.numbers["k"][m])

    def _known(self, says: Message, tensor: str, i: int, j: int) -> Step:
        """A number with nothing to compute."""
        value = self.numbers[tensor][i][j]
        return Step(says, term(value), value)

    def _pair(self, i: int, j: int) -> dict[str, Token]:
        return {"query": self.names[i], "key": self.names[j]}

    def _seen_by(self, i: int) -> list[int]:
        return [m for m, visible in enumerate(self.visible[i]) if visible]


def derive_head(
    example: ExampleTrace, head: int, attention: AttentionTrace | None = None, divisor: str | None = None
) -> HeadDerivation:
    """For one head of an example; or for another attention with its queries, keys and values, and its divisor."""
    attention = example.heads.select(head) if attention is None else attention
    weights = {f"W_{role}": projection_of(example, role, head).tolist() for role in "qkv"}
    numbers = {"x": example.x.tolist()} | weights | numbers_of(attention)
    plain = HeadDerivation(example.names, numbers, attention.visible.tolist(), divisor or divisor_of(example), head)
    if example.rotary:
        return replace(plain, made=partial(turned_feature, plain, rotation_angles(*attention.q.shape)))
    if example.added is not None:
        return replace(plain, made=partial(shifted_feature, plain, example.added.tolist(), ("q", "k")))
    return plain


def shifted_feature(
    plain: HeadDerivation, added: list[list[float]], shifted: Collection[str], vector: str, token: int, feature: int
) -> Step:
    """A feature where positions are added to X: a row of X and its position, times a column of W."""
    if vector not in shifted:
        return plain.feature(vector, token, feature)
    column = [row[feature] for row in plain.numbers[f"W_{vector}"]]
    terms = zip(plain.numbers["x"][token], added[token], column, strict=True)
    says = message(
        "{vector} of {token}, feature {feature}: (its row of X + its position) · column {column} of {matrix}",
        vector=VECTORS[vector],
        token=plain.names[token],
        feature=feature + 1,
        column=plain.head * len(plain.numbers[vector][token]) + feature + 1,
        matrix=f"W_{vector}",
    )
    arithmetic = sum_of((term(x) + p) * w for x, p, w in terms)
    return Step(says, arithmetic, plain.numbers[vector][token][feature])


def turned_feature(
    plain: HeadDerivation, angles: Float[Tensor, "tokens pairs"], vector: str, token: int, feature: int
) -> Step:
    """With rotary positions: two unturned features, times cosine and sine of their angle. Values stay as they are."""
    if vector == "v":
        return plain.feature(vector, token, feature)
    pair, second = divmod(feature, 2)
    angle = angles[token, pair]
    turn = (angle.sin(), angle.cos()) if second else (angle.cos(), -angle.sin())
    columns = zip(*(row[2 * pair : 2 * pair + 2] for row in plain.numbers[f"W_{vector}"]), strict=True)
    parts = (sum_of_products(plain.numbers["x"][token], column) for column in columns)
    says = message(
        "{vector} of {token}, feature {feature}: features {first} and {second} turned by {angle} radians",
        vector=VECTORS[vector],
        token=plain.names[token],
        feature=feature + 1,
        first=2 * pair + 1,
        second=2 * pair + 2,
        angle=Fixed(float(angle), 4),
    )
    arithmetic = sum_of(part * float(by) for part, by in zip(parts, turn, strict=True))
    return Step(says, arithmetic, plain.numbers[vector][token][feature])


def derive_without_weights(example: ExampleTrace, attention: AttentionTrace) -> HeadDerivation:
    """For attention in which the rows of X are queries, keys and values, and nothing is divided."""
    numbers = {"x": example.x.tolist()} | numbers_of(attention)
    return HeadDerivation(example.names, numbers, attention.visible.tolist(), None)


def numbers_of(attention: AttentionTrace) -> dict[str, list[list[float]]]:
    """The tensors of an attention as nested lists."""
    return {name: getattr(attention, name).tolist() for name in TENSORS}


def divisor_of(example: ExampleTrace) -> str:
    """What the scores of an example are divided by, as it is written."""
    return f"√{example.example.d_k}" if example.example.scaling else "1"


def exponential(exponent: float) -> float:
    """e to this number; infinite where a computer has no number so large."""
    try:
        return math.exp(exponent)
    except OverflowError:
        return math.inf
