"""One head whose tokens have positions, and how its numbers come about."""

from dataclasses import dataclass, replace
from functools import partial

from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace
from attention_core.embeddings import rotation_angles
from lessons.derivation import HeadDerivation, divisor_of, numbers_of, shifted_feature, turned_feature
from lessons.example import ExampleTrace, projection_of, whose_weights
from lessons.formatting import digits
from lessons.permutation import Permutation, PositionKind, Projections, added_positions
from lessons.screen import Step
from lessons.sentence import Number, Sentence, Token, say


@dataclass(frozen=True, eq=False)
class PositionedHead:
    """Tokens in an order, one head, and the kind of positions that it is given."""

    names: tuple[Token, ...]
    x: Float[Tensor, "tokens d_model"]
    projections: Projections
    kind: PositionKind
    seed: int
    head: int
    divisor: str

    @property
    def added(self) -> Float[Tensor, "tokens d_model"]:
        """What is added to X; zeros where nothing is."""
        return added_positions(self.kind, *self.x.shape, self.seed)

    @property
    def angles(self) -> Float[Tensor, "tokens pairs"]:
        """By how many radians rotary positions turn each pair of features."""
        return rotation_angles(len(self.x), self.projections.W_q.shape[-1])

    def permuted(self, permutation: Permutation) -> "PositionedHead":
        """The same with its tokens in another order. Positions stay where they are."""
        return replace(self, names=tuple(self.names[old] for old in permutation), x=self.x[list(permutation)])

    def derivation(self, attention: AttentionTrace) -> HeadDerivation:
        """For the cells of the attention that these tokens gave."""
        weights = {f"W_{role}": getattr(self.projections, f"W_{role}").tolist() for role in "qkv"}
        numbers = {"x": self.x.tolist()} | weights | numbers_of(attention)
        plain = HeadDerivation(self.names, numbers, attention.visible.tolist(), self.divisor, self.head)
        if self.kind == "none":
            return plain
        if self.kind == "rotary":
            return replace(plain, made=partial(turned_feature, plain, self.angles))
        return replace(plain, made=partial(shifted_feature, plain, self.added.tolist(), "qkv"))


def head_projections(example: ExampleTrace, head: int) -> Projections:
    """The projections of one head of the running example."""
    return Projections(*(projection_of(example, role, head) for role in "qkv"), example.scale)


def positioned_head(example: ExampleTrace, head: int, kind: PositionKind) -> PositionedHead:
    """One head of the running example, given positions of this kind."""
    projections = head_projections(example, head)
    return PositionedHead(example.names, example.x, projections, kind, example.example.seed, head, divisor_of(example))


def whose_head(example: ExampleTrace, own: PositionedHead) -> Sentence:
    """What made the weights, and the positions where they are weights."""
    if own.kind != "learned":
        return whose_weights(example)
    if example.example.edits:
        return say("Untrained: random weights and positions (seed {seed}), some of them changed by hand.",
                   seed=own.seed)  # fmt: skip
    return say("Untrained: random weights and positions (seed {seed}).", seed=own.seed)


def angle_step(own: PositionedHead, token: int, pair: int) -> Step:
    """By how much rotary positions turn one pair of features."""
    d_k = own.projections.W_q.shape[-1]
    says = say("angle of pair {pair} for {token}: its position counted from 0, times 10000 to minus {even} ÷ {d_k}",
               pair=pair + 1, token=own.names[token], even=2 * pair, d_k=d_k)  # fmt: skip
    return Step(says, f"{token}·10000^(−{2 * pair} ÷ {d_k})", float(own.angles[token, pair]))


def added_step(own: PositionedHead, token: int, feature: int) -> Step:
    """One number of what is added to X."""
    value = float(own.added[token, feature])
    who = {"token": own.names[token], "feature": feature + 1}
    if own.kind == "learned":
        says = say("position of {token}, feature {feature}: drawn at random, for it is not trained", **who)
        return Step(says, digits(value), value)
    who["angle"] = Number(float(rotation_angles(*own.x.shape)[token, feature // 2]), 4)
    sine = say("position of {token}, feature {feature}: the sine of {angle} radians", **who)
    cosine = say("position of {token}, feature {feature}: the cosine of {angle} radians", **who)
    return Step(cosine if feature % 2 else sine, digits(value), value)
