"""The matrices of a lesson's figure, and how any of their cells comes about.

Each lesson computes with numbers of its own: with no weights, another mask, another temperature. A sheet
follows the very tensor it is named after, so the arithmetic always belongs to the number that was clicked.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from attention_core.attention import AttentionTrace
from lessons.captions import seen
from lessons.example import ExampleTrace
from lessons.old_arithmetic import (
    MATRICES,
    Derivation,
    Explainer,
    Line,
    digits,
    divisor_of,
    factor,
    matrix_shape,
    power,
)
from lessons.single_lessons import RowSoftmax

TITLES = {"x": "X", "q": "Q", "k": "K", "k_transposed": "Kᵀ", "v": "V"}
Names = tuple[str, ...]


@dataclass(frozen=True)
class Sheet:
    """One matrix: its title, what its rows and columns are called, and the lines that lead to a cell, itself last."""

    title: str
    rows: Names
    columns: Names
    lines: Callable[[int, int], Iterable[Line]]


Sheets = dict[str, Sheet]


def places(tokens: Names) -> Names:
    """What rows or columns are called that belong to tokens, each by a name of its own."""
    return tuple(f"{place + 1} · “{seen(token)}”" for place, token in enumerate(tokens))


def features(size: int) -> Names:
    """What rows or columns are called that belong to features."""
    return tuple(f"feature {place + 1}" for place in range(size))


def pipeline_sheets(trace: ExampleTrace, head: int) -> Sheets:
    """All matrices of one head of the running example."""
    derivation = Derivation(Explainer.of(trace, head), head, divisor_of(trace))
    tokens, sheets = places(trace.tokens), {}
    for key in MATRICES:
        n_rows, n_columns = matrix_shape(trace, key)
        rows = features(n_rows) if key == "k_transposed" else tokens
        columns = features(n_columns) if key in ("x", "q", "k", "v", "output") else tokens
        sheets[key] = Sheet(TITLES.get(key, key), rows, columns, follow(derivation, key))
    return sheets


def follow(derivation: Derivation, matrix: str) -> Callable[[int, int], Iterator[Line]]:
    """The lines of a derivation for the cells of one matrix."""
    return lambda i, j: derivation.lines(matrix, i, j)


def derivation_with(
    trace: ExampleTrace, head: int, attention: AttentionTrace, divisor: str | None = None
) -> Derivation:
    """For an attention with the q, k and v of the running example, but another mask or another divisor."""
    return Derivation(Explainer.of(trace, head, attention), head, divisor or divisor_of(trace))


@dataclass(frozen=True)
class RowDerivation:
    """Follows one query's row from its scores, divided by a temperature, to its weights."""

    of: Derivation
    query: int
    row: RowSoftmax
    temperature: float

    def name(self, j: int) -> str:
        """The key at place j of the row, which has no places for what is hidden."""
        return self.of.of.names[self.row.keys[j]]

    def scores(self, i: int, j: int) -> Iterator[Line]:
        """The score ÷ the temperature."""
        yield from self.of.lines("masked", self.query, self.row.keys[j])
        yield Line(f"score of {self.name(j)} ÷ the temperature", self._quotient(j), float(self.row.scores[j]))

    def shifted(self, i: int, j: int) -> Iterator[Line]:
        """The score minus the largest one."""
        yield from self.scores(i, j)
        most = int(self.row.scores.argmax())
        largest = float(self.row.scores[most])
        yield Line(f"the largest, that of {self.name(most)}", self._quotient(most), largest)
        text = f"{factor(float(self.row.scores[j]))} + (−1)·{factor(largest)}"
        yield Line(f"{self.name(j)}: minus the largest", text, float(self.row.shifted[j]))

    def powers(self, i: int, j: int) -> Iterator[Line]:
        """e to that."""
        yield from self.shifted(i, j)
        yield Line(f"{self.name(j)}: e to that", power(float(self.row.shifted[j])), float(self.row.powers[j]))

    def weights(self, i: int, j: int) -> Iterator[Line]:
        """The share of the sum."""
        yield from self.powers(i, j)
        yield from share_of_row(self.row, j, self.name(j))

    def weights_after(self, change: str, other: RowSoftmax) -> Callable[[int, int], Iterator[Line]]:
        """The weights of the row whose scores were all changed alike: `change` is what was done, as in "+ 5"."""

        def lines(i: int, j: int) -> Iterator[Line]:
            now, largest = float(other.scores[j]), float(other.scores.max())
            yield from self.scores(i, j)
            yield Line(f"{self.name(j)}: {change}", f"{factor(float(self.row.scores[j]))} {change}", now)
            text = f"{factor(now)} + (−1)·{factor(largest)}"
            yield Line(f"{self.name(j)}: minus the largest", text, float(other.shifted[j]))
            yield from share_of_row(other, j, self.name(j))

        return lines

    def _quotient(self, j: int) -> str:
        masked = self.of.of.numbers["masked"][self.query][self.row.keys[j]]
        return f"{factor(masked)} ÷ {digits(self.temperature)}"


def share_of_row(row: RowSoftmax, j: int, token: str) -> Iterator[Line]:
    """The last two lines of every softmax: the sum, and the part of it."""
    total = float(row.powers.sum())
    yield Line("sum over all keys that may be seen", " + ".join(map(power, row.shifted.tolist())), total)
    yield Line(f"weight of {token}", f"{factor(float(row.powers[j]))} ÷ {factor(total)}", float(row.weights[j]))


def softmax_sheets(
    derivation: Derivation, query: int, row: RowSoftmax, temperature: float, changed: dict[str, tuple[str, RowSoftmax]]
) -> Sheets:
    """One row on its way from scores to weights, the scores divided by a temperature first.

    `changed` are rows whose scores were changed after that: what was done to each, as in "+ 5", and the row.
    """
    way = RowDerivation(derivation, query, row, temperature)
    columns, only = tuple(way.name(j) for j in range(len(row.keys))), (places(derivation.of.tokens)[query],)
    steps = {
        "scores": ("score ÷ temperature", way.scores),
        "shifted": ("minus the largest", way.shifted),
        "powers": ("exp", way.powers),
        "weights": ("weight", way.weights),
    }
    for key, (change, other) in changed.items():
        steps[key] = (f"weights, {change}", way.weights_after(change, other))
    return {key: Sheet(title, only, columns, lines) for key, (title, lines) in steps.items()}
