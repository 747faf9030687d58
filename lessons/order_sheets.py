"""How the numbers of the lesson on order come about, in the sentence's own order and in the shuffled one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace
from attention_core.embeddings import rotate, rotation_angles
from attention_core.permutation import PositionKind, Projections, Shuffle, added_positions
from lessons.captions import name
from lessons.many_heads_sheets import VECTORS, OwnDerivation
from lessons.old_arithmetic import Derivation, Explainer, Line, digits, factor, sum_of_products
from lessons.sheets import Names, Sheet, Sheets, features, follow, places


@dataclass(frozen=True, eq=False)
class PlacedHead:
    """What one head makes of tokens in an order, with what it is told of their places."""

    tokens: Names
    x: Float[Tensor, "tokens d_model"]
    maps: Projections
    kind: PositionKind
    seed: int

    def derivation(self, attention: AttentionTrace, divisor: str) -> Derivation:
        """For the cells of the attention that these tokens gave."""
        explainer = Explainer.of_attention(self.tokens, attention)

        def made(vector: str, token: int, feature: int) -> Line:
            text, words = self.feature(vector, token, feature)
            says = f"{VECTORS[vector]} of {explainer.names[token]}, feature {feature + 1}: {words}"
            return Line(says, text, explainer.numbers[vector][token][feature])

        return OwnDerivation(explainer, 0, divisor, made)

    def feature(self, vector: str, place: int, feature: int) -> tuple[str, str]:
        """A number of a query, key or value: its arithmetic, and what that is in words."""
        if self.kind != "rotary" or vector == "v":
            how = "its row of X" if self.kind in ("none", "rotary") else f"its row of X + the {self.kind} position"
            return self.product(vector, place, feature), f"{how} · column {feature + 1} of W_{vector}"
        pair, second = divmod(feature, 2)
        angle = rotation_angles(len(self.tokens), self.maps.W_q.shape[-1])[place, pair]
        first, other = (self.product(vector, place, 2 * pair + half) for half in (0, 1))
        turn = (angle.sin(), angle.cos()) if second else (angle.cos(), -angle.sin())
        text = " + ".join(f"({part})·{factor(float(by))}" for part, by in zip((first, other), turn, strict=True))
        names = "sine and cosine" if second else "cosine and minus sine"
        return text, f"features {2 * pair + 1} and {2 * pair + 2}, times {names} of {digits(float(angle))} radians"

    def product(self, vector: str, place: int, feature: int) -> str:
        """What stands at a place, times a column of a map."""
        row, column = self.x[place].tolist(), getattr(self.maps, f"W_{vector}")[:, feature].tolist()
        if self.kind in ("none", "rotary"):
            return sum_of_products(row, column)
        added = added_positions(self.kind, *self.x.shape, self.seed)[place].tolist()
        terms = zip(row, added, column, strict=True)
        return " + ".join(f"({factor(x)} + {factor(p)})·{factor(w)}" for x, p, w in terms)


def shuffle_sheets(own: PlacedHead, shuffled: Shuffle, what: str, divisor: str) -> Sheets:
    """Output or weights in both orders, as the figure has them; each is followed in the run it comes from."""
    order, matrix = shuffled.permutation, "weights" if what == "weights" else "output"
    moved = PlacedHead(tuple(own.tokens[old] for old in order), own.x[list(order)], own.maps, own.kind, own.seed)
    plain = lazily(lambda: own.derivation(shuffled.plain, divisor), matrix)
    first = lazily(lambda: moved.derivation(shuffled.shuffled, divisor), matrix)

    def then(i: int, j: int) -> Iterator[Line]:
        return plain(order[i], order[j] if what == "weights" else j)

    def gap(i: int, j: int) -> Iterator[Line]:
        after, before = float(shuffled.shuffled.output[i, j]), float(shuffled.output_moved[i, j])
        says = "shuffle, then attend − attend, then shuffle"
        difference = float(shuffled.shuffled.output[i, j] - shuffled.output_moved[i, j])
        yield Line(says, f"{after:.12f} + (−1)·({before:.12f})", difference)

    rows, after = places(own.tokens), places(moved.tokens)
    wide = features(shuffled.plain.output.shape[-1])
    sheets = {
        "own": Sheet("attend", rows, rows if what == "weights" else wide, plain),
        "then": Sheet("attend, then shuffle", after, after if what == "weights" else wide, then),
        "first": Sheet("shuffle, then attend", after, after if what == "weights" else wide, first),
    }
    return sheets if what == "weights" else sheets | {"gap": Sheet("difference", after, wide, gap)}


def lazily(derivation: Callable[[], Derivation], matrix: str) -> Callable[[int, int], Iterator[Line]]:
    """The lines for the cells of a matrix; nothing is prepared before one is asked for."""
    return lambda i, j: follow(derivation(), matrix)(i, j)


def position_sheets(own: PlacedHead) -> Sheets:
    """What positions add to X, or how they turn queries and keys."""
    rows, wide = places(own.tokens), features(own.x.shape[-1])
    if own.kind == "rotary":
        return rotary_sheets(own)
    x, added = own.x.tolist(), added_positions(own.kind, *own.x.shape, own.seed).tolist()
    angles = rotation_angles(*own.x.shape).tolist()

    def entry(i: int, j: int) -> Iterator[Line]:
        yield Line("an entry of X", digits(x[i][j]), x[i][j])

    def position(i: int, j: int) -> Iterator[Line]:
        wave = f"the {'cosine' if j % 2 else 'sine'} of {digits(angles[i][j // 2])} radians"
        says = wave if own.kind == "sinusoidal" else "an entry of the table of positions, as it was drawn"
        yield Line(f"place {i + 1}, feature {j + 1}: {says}", digits(added[i][j]), added[i][j])

    def both(i: int, j: int) -> Iterator[Line]:
        yield from (*entry(i, j), *position(i, j))
        yield Line("X + position", f"{factor(x[i][j])} + {factor(added[i][j])}", x[i][j] + added[i][j])

    ways = {"x": ("X", entry), "p": (f"+ {own.kind}", position), "sum": ("= what goes in", both)}
    shown = ("x",) if own.kind == "none" else tuple(ways)
    return {key: Sheet(ways[key][0], rows, wide, ways[key][1]) for key in shown}


def rotary_sheets(own: PlacedHead) -> Sheets:
    """Queries and keys before and after they are turned, and the angles."""
    rows, d_k, still = places(own.tokens), own.maps.W_q.shape[-1], replace(own, kind="none")
    angles = rotation_angles(len(own.tokens), d_k).tolist()

    def vectors(head: PlacedHead, vector: str) -> Callable[[int, int], Iterator[Line]]:
        made = own.x @ getattr(own.maps, f"W_{vector}")
        numbers = (rotate(made) if head.kind == "rotary" else made).tolist()

        def lines(i: int, j: int) -> Iterator[Line]:
            text, words = head.feature(vector, i, j)
            yield Line(f"{VECTORS[vector]} of {name(own.tokens, i)}, feature {j + 1}: {words}", text, numbers[i][j])

        return lines

    def angle(i: int, j: int) -> Iterator[Line]:
        says = f"the place counted from 0, times 10000 to minus {2 * j} ÷ {d_k}"
        yield Line(says, f"{i}·10000^(−{2 * j} ÷ {d_k})", angles[i][j])

    wide, pairs = features(d_k), tuple(f"pair {pair + 1}" for pair in range(d_k // 2))
    return {
        "q": Sheet("Q", rows, wide, vectors(still, "q")),
        "angle": Sheet("angles (radians)", rows, pairs, angle),
        "q_turned": Sheet("Q turned", rows, wide, vectors(own, "q")),
        "k": Sheet("K", rows, wide, vectors(still, "k")),
        "k_turned": Sheet("K turned", rows, wide, vectors(own, "k")),
    }
