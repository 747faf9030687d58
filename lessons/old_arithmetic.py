"""The arithmetic behind any cell of the pipeline, with the real numbers: in one line, or down to X and W."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from attention_core.attention import AttentionTrace
from lessons.captions import name
from lessons.example import ExampleTrace, projection_of
from lessons.formatting import digits, factor, number, power, sum_of_products

MATRICES = ("x", "q", "k", "k_transposed", "v", "scores", "scaled", "masked", "weights", "output")
MOST_TERMS = 8


@dataclass(frozen=True)
class Explainer:
    """Explains cells of one head. Made once for a picture, so that each cell costs a few microseconds."""

    tokens: tuple[str, ...]
    names: list[str]
    numbers: dict[str, list[list[float]]]
    visible: list[list[bool]]
    factor: float

    @classmethod
    def of(cls, trace: ExampleTrace, head: int = 0, attention: AttentionTrace | None = None) -> "Explainer":
        """For the cells of one head of an example; of another attention with the same q, k and v where one is given."""
        a = trace.heads.select(head) if attention is None else attention
        tensors = {
            "x": trace.x,
            **{f"W_{role}": projection_of(trace, role, head) for role in "qkv"},
        }
        return cls._of_tensors(trace.tokens, a, tensors, 1 / trace.scale)

    @classmethod
    def of_attention(cls, tokens: tuple[str, ...], attention: AttentionTrace) -> "Explainer":
        """For one attention alone, from its queries, keys and values on, whatever made these."""
        return cls._of_tensors(tokens, attention, {}, 1.0)

    @classmethod
    def _of_tensors(cls, tokens, a: AttentionTrace, tensors: dict, factor: float) -> "Explainer":
        steps = ("q", "k", "v", "scores", "scaled", "masked", "weights", "output")
        tensors = tensors | {key: getattr(a, key) for key in steps}
        names = [name(tokens, i) for i in range(len(tokens))]
        numbers = {key: tensor.tolist() for key, tensor in tensors.items()}
        return cls(tokens, names, numbers, a.visible.tolist(), factor)

    def explain(self, matrix: str, row: int, column: int) -> str:
        """One line: what the cell is, and how its number comes about."""
        n, i, j = self.numbers, row, column
        if matrix == "x":
            return f"x of {self.names[i]}, feature {j + 1} = {number(n['x'][i][j])}"
        if matrix in ("q", "k", "v"):
            weight = [w[j] for w in n[f"W_{matrix}"]]
            result = number(n[matrix][i][j])
            return f"{matrix} of {self.names[i]}, feature {j + 1} = {products(n['x'][i], weight)} = {result}"
        if matrix == "k_transposed":
            return f"k of {self.names[j]}, feature {i + 1} = {number(n['k'][j][i])}"
        if matrix == "output":
            column_of_v = [v[j] for v in n["v"]]
            result = number(n["output"][i][j])
            seen = [m for m, visible in enumerate(self.visible[i]) if visible]
            mixture = products([n["weights"][i][m] for m in seen], [column_of_v[m] for m in seen])
            return f"output of {self.names[i]}, feature {j + 1} = {mixture} = {result}"
        return self._explain_pair(matrix, i, j)

    def _explain_pair(self, matrix: str, i: int, j: int) -> str:
        n, pair = self.numbers, f"{self.names[i]} → {self.names[j]}"
        if matrix == "scores":
            return f"{pair}: q · k = {products(n['q'][i], n['k'][j])} = {number(n['scores'][i][j])}"
        if matrix == "scaled":
            score, scaled = number(n["scores"][i][j]), number(n["scaled"][i][j])
            return f"{pair}: {score} ÷ {number(self.factor)} = {scaled}"
        if not self.visible[i][j]:
            return f"{pair}: masked. {self.names[i]} may not look at {self.names[j]}, so its weight is exactly nothing."
        if matrix == "masked":
            return f"{pair}: visible, so the score stays {number(n['masked'][i][j])}"
        row = [n["masked"][i][m] for m, visible in enumerate(self.visible[i]) if visible]
        shown = row if len(row) <= MOST_TERMS else row[: MOST_TERMS - 1]
        rest = "" if len(shown) == len(row) else " + …"
        below = " + ".join(f"e^{number(s)}" for s in shown) + rest
        return f"{pair}: e^{number(n['masked'][i][j])} ÷ ({below}) = {number(n['weights'][i][j], 3)}"


def products(left: list[float], right: list[float]) -> str:
    """`a·b + c·d + …` with the real numbers; long sums are cut."""
    terms = [f"{number(a)}·{number(b)}" for a, b in zip(left, right, strict=True)]
    return " + ".join(terms if len(terms) <= MOST_TERMS else [*terms[: MOST_TERMS - 1], "…"])


@dataclass(frozen=True)
class Line:
    """One step of a derivation: what it computes in words, its arithmetic, and the exact result."""

    says: str
    text: str
    value: float

    @property
    def equation(self) -> str:
        """The arithmetic and its result; where there is nothing to compute, the number alone."""
        result = digits(self.value)
        return self.text if self.text == result else f"{self.text} = {result}"


def trace_number(trace: ExampleTrace, head: int, matrix: str, row: int, column: int) -> tuple[Line, ...]:
    """How one cell comes about, from the entries of X and W up to the cell itself, which is the last line.

    Raises ValueError for a cell that does not exist.
    """
    rows, columns = matrix_shape(trace, matrix)
    if not (0 <= row < rows and 0 <= column < columns and 0 <= head < trace.example.n_heads):
        raise ValueError(
            f"{matrix} of {trace.example.n_heads} heads has {rows} rows and {columns} columns, "
            f"so there is no row {row}, column {column} of head {head}"
        )
    return tuple(Derivation(Explainer.of(trace, head), head, divisor_of(trace)).lines(matrix, row, column))


def divisor_of(trace: ExampleTrace) -> str:
    """What the scores of an example are divided by, as it is written."""
    return f"√{trace.example.d_k}" if trace.example.scaling else "1"


def matrix_shape(trace: ExampleTrace, matrix: str) -> tuple[int, int]:
    """The rows and columns of a matrix, whichever head it belongs to. Raises ValueError for an unknown one."""
    if matrix not in MATRICES:
        raise ValueError(f"the matrices are {', '.join(MATRICES)}, but got {matrix}")
    n, d_k, d_v = len(trace.tokens), trace.example.d_k, trace.example.d_v
    others = {"x": (n, trace.x.shape[1]), "q": (n, d_k), "k": (n, d_k), "k_transposed": (d_k, n)}
    return (others | {"v": (n, d_v), "output": (n, d_v)}).get(matrix, (n, n))


@dataclass(frozen=True)
class Derivation:
    """Follows cells of one head down to X and W, line by line.

    `divisor` is what the scores are divided by; None where nothing is divided, as in attention without weights.
    """

    of: Explainer
    head: int
    divisor: str | None

    def lines(self, matrix: str, i: int, j: int) -> Iterator[Line]:
        """All lines that lead to a cell, the cell itself last."""
        if matrix == "x":
            yield Line(f"x of {self.of.names[i]}, feature {j + 1}: an entry of X", *self._known("x", i, j))
        elif matrix in ("q", "k", "v"):
            yield self._feature(matrix, i, j)
        elif matrix == "k_transposed":
            yield self._feature("k", j, i)
            says = f"Kᵀ, row {i + 1}, column {j + 1}: the same number, as rows and columns change places"
            yield Line(says, *self._known("k", j, i))
        elif matrix == "output":
            yield from self._output(i, j)
        elif matrix in ("masked", "weights") and not self.of.visible[i][j]:
            yield from self._hidden(matrix, i, j)
        else:
            yield from self._pair(matrix, i, j)

    def _pair(self, matrix: str, i: int, j: int) -> Iterator[Line]:
        n, pair = self.of.numbers, self._pair_name(i, j)
        yield from self._features("q", i)
        yield from self._features("k", j)
        yield Line(f"score of {pair}: query · key", self._dot(i, j), n["scores"][i][j])
        if matrix == "scores":
            return
        if self.divisor is not None:
            quotient = f"{factor(n['scores'][i][j])} ÷ {self.divisor}"
            yield Line(f"scaled score of {pair}", quotient, n["scaled"][i][j])
        if matrix == "masked":
            yield Line(f"masked score of {pair}: visible, so it stays", *self._known("masked", i, j))
        elif matrix == "weights":
            yield from (self._scaled(i, m) for m in self._seen_by(i) if m != j)
            scaled = n["masked"][i][j]
            above = Line(f"e to the {self._score} of {pair}", power(scaled), exponential(scaled))
            below = self._sum(i)
            yield from (above, below)
            quotient = f"{factor(above.value)} ÷ {factor(below.value)}"
            yield Line(f"weight of {pair}: its part of the sum", quotient, n["weights"][i][j])

    def _output(self, i: int, j: int) -> Iterator[Line]:
        n, seen = self.of.numbers, self._seen_by(i)
        yield from self._features("q", i)
        yield from (self._scaled(i, m) for m in seen)
        below = self._sum(i)
        yield below
        for m in seen:
            quotient = f"{power(n['masked'][i][m])} ÷ {factor(below.value)}"
            yield Line(f"weight of {self._pair_name(i, m)}", quotient, n["weights"][i][m])
        yield from (self._feature("v", m, j) for m in seen)
        mixture = sum_of_products([n["weights"][i][m] for m in seen], [n["v"][m][j] for m in seen])
        says = f"output of {self.of.names[i]}, feature {j + 1}: weights · values"
        yield Line(says, mixture, n["output"][i][j])

    def _hidden(self, matrix: str, i: int, j: int) -> Iterator[Line]:
        n, names, pair = self.of.numbers, self.of.names, self._pair_name(i, j)
        says = f"masked score of {pair}: masked, as {names[i]} may not look at {names[j]}"
        yield Line(says, *self._known("masked", i, j))
        if matrix == "weights":
            yield Line(f"weight of {pair}: masked, so it is exactly 0", power(-math.inf), n["weights"][i][j])

    def _features(self, vector: str, token: int) -> Iterator[Line]:
        """Each feature of a query or key."""
        return (self._feature(vector, token, c) for c in range(len(self.of.numbers[vector][token])))

    def _feature(self, vector: str, token: int, feature: int) -> Line:
        n, word = self.of.numbers, {"q": "query", "k": "key", "v": "value"}[vector]
        if f"W_{vector}" not in n:
            says = f"{word} of {self.of.names[token]}, feature {feature + 1}: an entry of X as it is"
            return Line(says, *self._known("x", token, feature))
        column = self.head * len(n[vector][token]) + feature + 1
        says = f"{word} of {self.of.names[token]}, feature {feature + 1}: its row of X · column {column} of W_{vector}"
        weight = [w[feature] for w in n[f"W_{vector}"]]
        return Line(says, sum_of_products(n["x"][token], weight), n[vector][token][feature])

    def _scaled(self, i: int, m: int) -> Line:
        """A scaled score in one go."""
        text = self._dot(i, m) if self.divisor is None else f"({self._dot(i, m)}) ÷ {self.divisor}"
        return Line(f"{self._score} of {self._pair_name(i, m)}", text, self.of.numbers["scaled"][i][m])

    @property
    def _score(self) -> str:
        return "score" if self.divisor is None else "scaled score"

    def _sum(self, i: int) -> Line:
        """What the exponentials of a row are divided by."""
        row = [self.of.numbers["masked"][i][m] for m in self._seen_by(i)]
        says = f"sum over all that {self.of.names[i]} may look at"
        return Line(says, " + ".join(map(power, row)), sum(map(exponential, row)))

    def _dot(self, i: int, m: int) -> str:
        return sum_of_products(self.of.numbers["q"][i], self.of.numbers["k"][m])

    def _known(self, matrix: str, i: int, j: int) -> tuple[str, float]:
        """A number with nothing to compute: as it is written, and as it is."""
        value = self.of.numbers[matrix][i][j]
        return digits(value), value

    def _pair_name(self, i: int, j: int) -> str:
        return f"{self.of.names[j]} for {self.of.names[i]}"

    def _seen_by(self, i: int) -> list[int]:
        return [m for m, visible in enumerate(self.of.visible[i]) if visible]


def exponential(exponent: float) -> float:
    """e to this number; infinite where a computer has no number so large."""
    try:
        return math.exp(exponent)
    except OverflowError:
        return math.inf
