"""How the numbers of several heads come about, from the entries of X and the maps up to the output."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace
from attention_core.heads import MultiHeadAttention
from lessons.captions import name
from lessons.heads_example import HeadsTrace, SideBySide, home_of
from lessons.old_arithmetic import Derivation, Explainer, Line, digits, factor, sum_of_products
from lessons.sheets import Names, Sheet, Sheets, follow, places

MOST_REPEATED = 16  # features: sums longer than this stand in their own sheet only
VECTORS = {"q": "query", "k": "key", "v": "value"}


@dataclass(frozen=True)
class OwnDerivation(Derivation):
    """Follows one head whose queries, keys and values come about in a way of their own, which `made` tells.

    Where it is not `deep`, the features of queries and keys are not followed again for every score.
    """

    made: Callable[[str, int, int], Line]
    deep: bool = True

    def _features(self, vector: str, token: int) -> Iterator[Line]:
        return super()._features(vector, token) if self.deep else iter(())

    def _feature(self, vector: str, token: int, feature: int) -> Line:
        return self.made(vector, token, feature)


@dataclass(frozen=True, eq=False)
class HeadsArithmetic:
    """Follows the numbers of several attentions; without a module, their queries, keys and values were drawn."""

    tokens: Names
    heads: AttentionTrace
    divisor: str
    module: MultiHeadAttention | None = None
    x: Float[Tensor, "tokens d_model"] | None = None
    output: Float[Tensor, "tokens d_model"] | None = None

    @classmethod
    def of(cls, trace: SideBySide) -> "HeadsArithmetic":
        """For the lesson on heads."""
        divisor = f"√{trace.d_head}" if trace.scale != 1 else "1"
        if not isinstance(trace, HeadsTrace):
            return cls(trace.tokens, trace.heads, divisor)
        return cls(trace.tokens, trace.heads, divisor, trace.module, trace.x, trace.output)

    @property
    def d_head(self) -> int:
        """The features of one head."""
        return self.heads.q.shape[-1]

    @property
    def deep(self) -> bool:
        """True where sums are short enough to stand wherever they are used."""
        return len(self.heads.q) * self.d_head <= MOST_REPEATED

    def head(self, head: int) -> OwnDerivation:
        """For the cells of one head."""
        explainer = Explainer.of_attention(self.tokens, self.heads.select(head))

        def made(vector: str, token: int, feature: int) -> Line:
            if self.deep and self.module is not None:
                return self.projected(vector, token, head * self.d_head + feature)
            where = "its arithmetic stands with the projections" if self.module is not None else "a drawn number"
            value = explainer.numbers[vector][token][feature]
            says = f"{VECTORS[vector]} of {explainer.names[token]}, feature {feature + 1}: {where}"
            return Line(says, digits(value), value)

        return OwnDerivation(explainer, head, self.divisor, made, self.deep)

    def lines(self, role: str, i: int, feature: int) -> Iterator[Line]:
        """All lines that lead to a cell. Features are those of all heads side by side, as columns of a map are."""
        if role == "x":
            value = float(self.x[i, feature])
            yield Line(f"x of {name(self.tokens, i)}, feature {feature + 1}: an entry of X", digits(value), value)
        elif role == "w_o":
            value = self.module.W_o.weight[feature, i].item()
            yield Line(f"row {i + 1}, column {feature + 1}: an entry of W_o", digits(value), value)
        elif role in VECTORS:
            yield self.projected(role, i, feature)
        elif role == "output":
            yield from self.mixed(i, feature)
        else:
            head, place = home_of(feature, self.d_head)
            yield from self.head(head).lines("output", i, place)

    def projected(self, role: str, i: int, feature: int) -> Line:
        """A feature of a query, key or value: a row of X times a column of the map, plus the bias if there is one."""
        linear, (head, place) = getattr(self.module, f"W_{role}"), home_of(feature, self.d_head)
        text, words = product_with(self.x[i].tolist(), linear, feature)
        says = f"{VECTORS[role]} of {name(self.tokens, i)}, feature {place + 1} of head {head + 1}"
        says = f"{says}: its row of X · column {feature + 1} of W_{role}{words}"
        return Line(says, text, float(getattr(self.heads, role)[head, i, place]))

    def mixed(self, i: int, feature: int) -> Iterator[Line]:
        """A number of the output: what all heads found, times a column of W_o, plus the bias if there is one."""
        token, found = name(self.tokens, i), self.heads.output[:, i].flatten().tolist()
        for place, value in enumerate(found if self.deep else ()):
            head, own = home_of(place, self.d_head)
            mixture = self.heads.weights[head, i].tolist(), self.heads.v[head, :, own].tolist()
            says = (
                f"concatenated, feature {place + 1}: weights of {token} in head {head + 1} · values, feature {own + 1}"
            )
            yield Line(says, sum_of_products(*mixture), value)
        text, words = product_with(found, self.module.W_o, feature)
        says = f"output of {token}, feature {feature + 1}: concatenated · column {feature + 1} of W_o{words}"
        yield Line(says, text, float(self.output[i, feature]))

    def sheet(self, key: str, title: str, shown: Sequence[int]) -> Sheet:
        """A matrix of which the features `shown` are drawn. What follows a point in the key is a head."""
        role, columns = key.split(".")[0], tuple(f"feature {feature + 1}" for feature in shown)
        if role == "w_o":
            return Sheet(title, columns, columns, lambda i, j: self.lines(role, shown[i], shown[j]))
        return Sheet(title, places(self.tokens), columns, lambda i, j: self.lines(role, i, shown[j]))


def product_with(row: list[float], linear, column: int) -> tuple[str, str]:
    """A row times a column of a map that PyTorch stores as rows, plus its bias; and words for the bias."""
    text = sum_of_products(row, linear.weight[column].tolist())
    if linear.bias is None:
        return text, ""
    return f"{text} + {factor(linear.bias[column].item())}", ", plus the bias"


def weight_sheets(trace: SideBySide) -> Sheets:
    """The weights of every head."""
    arithmetic, tokens = HeadsArithmetic.of(trace), places(trace.tokens)
    return {
        f"map.{head}": Sheet(f"{trace.noun} {head + 1}: weights", tokens, tokens, weights_of_head(arithmetic, head))
        for head in range(trace.n_heads)
    }


def weights_of_head(arithmetic: HeadsArithmetic, head: int) -> Callable[[int, int], Iterator[Line]]:
    """The lines for the weights of one head."""
    return lambda i, j: arithmetic.head(head).lines("weights", i, j)


def dropout_sheets(trace: SideBySide, dropped: AttentionTrace, head: int) -> Sheets:
    """The weights of one head at rest and in training, and the sums of their rows."""
    tokens, at_rest = places(trace.tokens), follow(HeadsArithmetic.of(trace).head(head), "weights")
    rest, training = trace.heads.weights[head].tolist(), dropped.weights[head].tolist()
    kept_part = 1 - trace.example.dropout

    def in_training(i: int, j: int) -> Iterator[Line]:
        yield from at_rest(i, j)
        if rest[i][j] and not training[i][j]:
            yield Line("dropped in training: times 0", f"{factor(rest[i][j])}·0", 0.0)
        else:
            says = f"not dropped: divided by the part that is kept, {digits(kept_part)}"
            yield Line(says, f"{factor(rest[i][j])} ÷ {digits(kept_part)}", training[i][j])

    def row_sum(weights: list[list[float]]) -> Callable[[int, int], Iterator[Line]]:
        says = "sum of the row of {}"
        return lambda i, j: iter(
            [Line(says.format(name(trace.tokens, i)), " + ".join(map(factor, weights[i])), sum(weights[i]))]
        )

    return {
        f"rest.{head}": Sheet("outside training", tokens, tokens, at_rest),
        "sum_rest": Sheet("row sum outside training", tokens, ("sum",), row_sum(rest)),
        f"training.{head}": Sheet("in training", tokens, tokens, in_training),
        "sum_training": Sheet("row sum in training", tokens, ("sum",), row_sum(training)),
    }
