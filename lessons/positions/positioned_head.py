"""One head whose tokens have positions, and how its numbers come about."""

from dataclasses import dataclass, replace
from functools import partial

from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace
from attention_core.embeddings import rotation_angles
from lessons.example.edits import apply_edits
from lessons.example.example import ExampleTrace, heads_of, model_of, projection_of, whose_weights
from lessons.kit.head_derivation import HeadDerivation, divisor_of, numbers_of, shifted_feature, turned_feature
from lessons.positions.permutation import Permutation, PositionKind, Projections, added_positions
from lessons.screen.arithmetic import term
from lessons.screen.message import Fixed, Message, Token, message
from lessons.screen.screen import Step


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


def without_own_positions(trace: ExampleTrace) -> ExampleTrace:
    """The head as its model has it, but for what the model itself tells this layer of positions.

    Vectors that it adds to the rows of its embedding table are left out of X in the first layer, those of queries and
    keys and rotations in all. X of a further layer is what enters it: nothing can be taken out of that again.
    """
    x = trace.x
    if vectors_in_x(trace):
        norm = model_of(trace.example).layers[0].norm
        bare = trace.trained.embedded if norm is None else norm(trace.trained.embedded)
        edits = tuple(edit for edit in trace.example.edits if edit.matrix == "x")
        x = apply_edits({"x": bare}, edits, trace.row_ids)["x"]
    elif trace.added is None and not trace.rotary:
        return trace
    plain = replace(trace, x=x, added=None, rotary=False)
    return replace(plain, heads=heads_of(trace.example, plain))


def vectors_in_x(trace: ExampleTrace) -> bool:
    """True where X is the sum of rows of the embedding table and a vector for each position."""
    if trace.trained is None or trace.example.layer > 1:
        return False
    return model_of(trace.example).positions(len(trace.tokens))[0] is not None


def remarks_on_rows(trace: ExampleTrace) -> tuple[Message, ...]:
    """What has become of the positions that the model of an example knows by itself."""
    said = []
    if vectors_in_x(trace):
        said.append(
            message(
                "This model adds a vector for the position to each row of its embedding table. Here X is made "
                "without it, as this page gives positions of its own."
            )
        )
    if trace.trained is not None and trace.example.layer > 1:
        said.append(
            message(
                "X is what enters this layer. The layers below have mixed the tokens, so each row may tell of "
                "its place already; a shuffle moves that along with the row."
            )
        )
    if trace.added is not None:
        said.append(
            message(
                "This model adds a vector for the position to what queries and keys are made of. Here that is "
                "left out, as this page gives positions of its own."
            )
        )
    if trace.rotary:
        said.append(
            message(
                "This model turns queries and keys by their positions. Here that is left out, as this page "
                "gives positions of its own."
            )
        )
    return tuple(said)


def positioned_head(example: ExampleTrace, head: int, kind: PositionKind) -> PositionedHead:
    """One head of the running example, given positions of this kind."""
    projections = head_projections(example, head)
    return PositionedHead(example.names, example.x, projections, kind, example.example.seed, head, divisor_of(example))


def whose_head(example: ExampleTrace, own: PositionedHead) -> Message:
    """What made the weights, and the positions where they are weights."""
    if own.kind != "learned":
        return whose_weights(example)
    if example.trained is not None and not example.trained.untrained:
        return message("{whose} The positions are random (seed {seed}).", whose=whose_weights(example), seed=own.seed)
    if example.example.edits:
        return message(
            "Untrained: random weights and positions (seed {seed}), some of them changed by hand.", seed=own.seed
        )
    return message("Untrained: random weights and positions (seed {seed}).", seed=own.seed)


def angle_step(own: PositionedHead, token: int, pair: int) -> Step:
    """By how much rotary positions turn one pair of features."""
    d_k = own.projections.W_q.shape[-1]
    says = message(
        "angle of pair {pair} for {token}: its position counted from 0, times 10000 to minus {even} ÷ {d_k}",
        pair=pair + 1,
        token=own.names[token],
        even=2 * pair,
        d_k=d_k,
    )
    return Step(says, term(token) * term(10000) ** (term(-2 * pair) / d_k), float(own.angles[token, pair]))


def going_in_step(own: PositionedHead, token: int, feature: int) -> Step:
    """One number of the sum of X and what is added to it."""
    says = message(
        "what goes in for {token}, feature {feature}: X + position", token=own.names[token], feature=feature + 1
    )
    x, added = float(own.x[token, feature]), float(own.added[token, feature])
    return Step(says, term(x) + added, x + added)


def added_step(own: PositionedHead, token: int, feature: int) -> Step:
    """One number of what is added to X."""
    value = float(own.added[token, feature])
    who = {"token": own.names[token], "feature": feature + 1}
    if own.kind == "learned":
        says = message("position of {token}, feature {feature}: drawn at random, for it is not trained", **who)
        return Step(says, term(value), value)
    who["angle"] = Fixed(float(rotation_angles(*own.x.shape)[token, feature // 2]), 4)
    sine = message("position of {token}, feature {feature}: the sine of {angle} radians", **who)
    cosine = message("position of {token}, feature {feature}: the cosine of {angle} radians", **who)
    return Step(cosine if feature % 2 else sine, term(value), value)
