"""The arithmetic behind any cell of the pipeline, with the real numbers."""

from dataclasses import dataclass

from attention_core.captions import name, number
from attention_core.examples import ExampleTrace

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
    def of(cls, trace: ExampleTrace, head: int = 0) -> "Explainer":
        """For the cells of one head of an example."""
        a = trace.heads.select(head)
        d_k, d_v = trace.example.d_k, trace.example.d_v
        tensors = {
            "x": trace.x,
            "W_q": trace.W_q[:, head * d_k : (head + 1) * d_k],
            "W_k": trace.W_k[:, head * d_k : (head + 1) * d_k],
            "W_v": trace.W_v[:, head * d_v : (head + 1) * d_v],
        }
        tensors |= {key: getattr(a, key) for key in ("q", "k", "v", "scores", "scaled", "masked", "weights", "output")}
        names = [name(trace.tokens, i) for i in range(len(trace.tokens))]
        numbers = {key: tensor.tolist() for key, tensor in tensors.items()}
        return cls(trace.tokens, names, numbers, a.visible.tolist(), 1 / trace.scale)

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
