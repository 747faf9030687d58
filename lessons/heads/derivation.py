"""How the numbers of several heads come about, from the entries of X and the projections up to the output."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace
from attention_core.embeddings import rotation_angles
from attention_core.heads import MultiHeadAttention, linear, merge_heads
from lessons.heads.example import HeadsTrace, SideBySide, home_of
from lessons.kit.head_derivation import VECTORS, HeadDerivation, numbers_of, turned_feature
from lessons.kit.matrices import FEATURE, FEATURES, ROLES, token_axis
from lessons.screen.arithmetic import sum_of, sum_of_products, term
from lessons.screen.format import names
from lessons.screen.message import Message, Token, message
from lessons.screen.screen import Axis, Matrix, Step

SHORT = 8  # features: longer sums stand in a line of their own, before the number that they make
MOST_REPEATED = 16  # features: longer sums stand with the cell that they make, and nowhere else
COLOURS = ROLES | {"heads": "v", "concatenated": "v", "output": "ink"}


@dataclass(frozen=True, eq=False)
class ManyHeadsDerivation:
    """Follows the cells of several heads; without a module, their queries, keys and values were drawn.

    A tensor is "x", "q", "k", "v", "concatenated", "w_o" or "output", and its features are those of all heads side
    by side, counted from 0. `head(h)` follows what one head computes. `added` are positions of queries and keys.
    """

    names: tuple[Token, ...]
    heads: AttentionTrace
    divisor: str
    module: MultiHeadAttention | None = None
    x: Float[Tensor, "tokens d_model"] | None = None
    output: Float[Tensor, "tokens d_model"] | None = None
    added: Float[Tensor, "tokens d_model"] | None = None

    @property
    def n_heads(self) -> int:
        """How many attentions there are."""
        return len(self.heads.q)

    def width(self, tensor: str) -> int:
        """The features of one head in a tensor that heads share out."""
        return (self.heads.q if tensor in ("q", "k") else self.heads.v).shape[-1]

    def features(self, tensor: str) -> int:
        """The columns of a tensor."""
        return self.tensors[tensor].shape[-1]

    @cached_property
    def deep(self) -> bool:
        """True where sums are short enough to stand wherever they are used."""
        return max(map(self.features, self.tensors)) <= MOST_REPEATED

    def head(self, head: int) -> HeadDerivation:
        """For the cells of one head, counted from 0."""
        return self._by_head[head]

    def step(self, tensor: str, i: int, j: int) -> Step:
        """The arithmetic of one cell; of a long sum its result, as the sum stands in the line before."""
        if tensor == "x":
            return self._known(message("x of {token}, feature {feature}: an entry of X", **self._cell(i, j)), "x", i, j)
        if tensor == "w_o":
            return self._entry_of_w_o(i, j)
        if tensor == "concatenated":
            return self._found(i, j)
        if self._terms(tensor) <= SHORT:
            return self._sum(tensor, i, j)
        return self._known(self._called(tensor, i, j), tensor, i, j)

    def before(self, tensor: str, i: int, j: int) -> Iterator[Step]:
        """All lines that lead to a cell, without its own."""
        if tensor == "concatenated":
            head, own = home_of(j, self.width(tensor))
            yield from self.head(head).before("output", i, own)
        elif tensor == "output" and self.deep:
            yield from (self._found(i, feature) for feature in range(self.features("concatenated")))
        if tensor in (*VECTORS, "output") and self._terms(tensor) > SHORT:
            yield self._sum(tensor, i, j)

    def matrix(
        self,
        tensor: str,
        title: Message,
        values: Float[Tensor, "rows columns"],
        features: Sequence[int],
        entering: Sequence[int] | None = None,
        **changes: object,
    ) -> Matrix:
        """A tensor of which these features are drawn: its columns. Rows of W_o are those `entering`, or the same."""
        rows = (features if entering is None else entering) if tensor == "w_o" else range(len(self.names))
        look = {
            "key": tensor,
            "title": title,
            "values": values,
            "columns": features_drawn(features),
            "rows": features_drawn(rows) if tensor == "w_o" else token_axis(tuple(name.text for name in self.names)),
            "colour": COLOURS.get(tensor, "ink"),
            "step": lambda i, j: self.step(tensor, rows[i], features[j]),
            "before": lambda i, j: self.before(tensor, rows[i], features[j]),
        }
        return Matrix(**(look | changes))

    @cached_property
    def tensors(self) -> dict[str, Tensor]:
        """The tensors, the features of all heads side by side; without a module there is no X and no output."""
        heads = {key: getattr(self.heads, key) for key in VECTORS} | {"concatenated": self.heads.output}
        merged = {key: merge_heads(tensor) for key, tensor in heads.items()}
        if self.module is None:
            return merged
        asking = self.x if self.added is None else self.x + self.added
        unturned = {role: linear(asking, getattr(self.module, f"W_{role}")) for role in "qk"}
        return merged | (unturned if self.module.rotary else {}) | {"x": self.x, "output": self.output}

    @cached_property
    def _numbers(self) -> dict[str, list[list[float]]]:
        return {key: tensor.tolist() for key, tensor in self.tensors.items()}

    @cached_property
    def _by_head(self) -> tuple[HeadDerivation, ...]:
        return tuple(
            HeadDerivation(
                self.names,
                numbers_of(attention),
                attention.visible.tolist(),
                self.divisor,
                head,
                partial(self._made, head),
                self.deep,
            )
            for head, attention in enumerate(map(self.heads.select, range(self.n_heads)))
        )

    def _made(self, head: int, vector: str, token: int, own: int) -> Step:
        """How a feature of a query, key or value of a head comes about, in one line."""
        feature = head * self.width(vector) + own
        turned = self.module is not None and self.module.rotary and vector != "v"
        if turned and self.deep:
            return self._turned(head, vector, token, own)
        if self.module is not None and self.deep:
            return self._sum(vector, token, feature)
        says = message("{called}: made by the projection", called=self._called(vector, token, feature))
        if turned:
            says = message("{called}: made by the projection, then turned", called=self._called(vector, token, feature))
            value = float(getattr(self.heads, vector)[head, token, own])
            return Step(says, term(value), value)
        if self.module is None:
            says = message("{called}: a drawn number", called=self._called(vector, token, feature))
        return self._known(says, vector, token, feature)

    def _turned(self, head: int, vector: str, token: int, own: int) -> Step:
        """A feature of a query or key that is turned by its position: made of two unturned ones."""
        width = self.width(vector)
        W = getattr(self.module, f"W_{vector}")[:, head * width : (head + 1) * width]
        vectors = getattr(self.heads, vector)[head]
        numbers = {"x": self._numbers["x"], f"W_{vector}": W.tolist(), vector: vectors.tolist()}
        plain = HeadDerivation(self.names, numbers, [], None, head)
        step = turned_feature(plain, rotation_angles(len(self.names), width), vector, token, own)
        return step._replace(meaning=message("head {head}: {says}", head=head + 1, says=step.meaning))

    def _terms(self, tensor: str) -> int:
        """How many products add up to a number of this tensor."""
        return self.features("concatenated" if tensor == "output" else "x")

    def _called(self, tensor: str, i: int, j: int) -> Message:
        """What a feature of a query, key, value or output is called."""
        if tensor == "output":
            return message("output of {token}, feature {feature}", **self._cell(i, j))
        head, own = home_of(j, self.width(tensor))
        return message(
            "{vector} of {token}, feature {feature} of head {head}",
            vector=VECTORS[tensor],
            token=self.names[i],
            feature=own + 1,
            head=head + 1,
        )

    def _sum(self, tensor: str, i: int, j: int) -> Step:
        """A row of X, or of what the heads found, times a column of a projection, plus its bias if there is one."""
        source, row, name = "x", message("its row of X"), tensor
        if tensor == "output":
            source, row, name = "concatenated", message("its concatenated row"), "o"
        W, b = getattr(self.module, f"W_{name}"), getattr(self.module, f"b_{name}")
        arithmetic = sum_of_products(self._numbers[source][i], W[:, j].tolist())
        if self.added is not None and tensor in ("q", "k"):
            row = message("(its row of X + its position)")
            terms = zip(self._numbers["x"][i], self.added[i].tolist(), W[:, j].tolist(), strict=True)
            arithmetic = sum_of((term(x) + p) * w for x, p, w in terms)
        about = {"called": self._called(tensor, i, j), "row": row, "column": j + 1, "matrix": f"W_{name}"}
        says = message("{called}: {row} · column {column} of {matrix}", **about)
        if b is not None:
            arithmetic = arithmetic + b[j].item()
            says = message("{called}: {row} · column {column} of {matrix}, plus the bias", **about)
        return Step(says, arithmetic, self._numbers[tensor][i][j])

    def _found(self, i: int, j: int) -> Step:
        """A feature of what the heads found, which stands side by side in `concatenated`."""
        head, own = home_of(j, self.width("concatenated"))
        says = message(
            "concatenated row of {token}, feature {feature}: feature {own} of head {head}, weights · values",
            **self._cell(i, j),
            own=own + 1,
            head=head + 1,
        )
        return self.head(head).step("output", i, own)._replace(meaning=says)

    def _entry_of_w_o(self, i: int, j: int) -> Step:
        head, own = home_of(i, self.width("v"))
        value = self.module.W_o[i, j].item()
        says = message(
            "an entry of W_o: feature {own} of head {head} goes into feature {feature} of the output",
            own=own + 1,
            head=head + 1,
            feature=j + 1,
        )
        return Step(says, term(value), value)

    def _known(self, says: Message, tensor: str, i: int, j: int) -> Step:
        value = self._numbers[tensor][i][j]
        return Step(says, term(value), value)

    def _cell(self, i: int, j: int) -> dict[str, Token | int]:
        return {"token": self.names[i], "feature": j + 1}


def features_drawn(features: Sequence[int]) -> Axis:
    """An axis of these features, counted from 0."""
    return Axis(FEATURES, tuple(str(feature + 1) for feature in features), one=FEATURE)


def derive_heads(trace: SideBySide) -> ManyHeadsDerivation:
    """For heads that project, and for attentions whose queries, keys and values were drawn."""
    own = {name: getattr(trace, name) for name in ("module", "x", "output", "added") if isinstance(trace, HeadsTrace)}
    divisor = f"√{trace.d_head}" if trace.scale != 1 else "1"
    return ManyHeadsDerivation(names(trace.tokens), trace.heads, divisor, **own)
